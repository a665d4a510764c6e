//! Figures as a drawing: failover time and round time against the number of candidates.
//!
//! Assumes: at least one size was measured.
//! Promises: a file that every browser shows; axes begin at zero, error bars are one standard
//! deviation each way, the line goes through the means.

use std::fmt::Write as _;

use super::figures::{Figures, Size};

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 300.0;
/// Room for the words on the axes: left, top, right, bottom.
const LEFT: f64 = 60.0;
const TOP: f64 = 40.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 50.0;
/// About so many lines of a grid.
const TICKS: f64 = 5.0;

/// One point: how many candidates, seconds, and how far they spread.
type Point = (f64, f64, f64);

/// Draws both panels.
pub(super) fn draw(figures: &Figures) -> String {
    let failovers = points(figures, |size| Some((size.failover.mean, size.failover.deviation)));
    let rounds = points(figures, |size| size.round_time.stable.map(|round| (round, 0.0)));
    let panels = if rounds.is_empty() { 1.0 } else { 2.0 };
    let (wide, high) = (WIDTH * panels, HEIGHT);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" \
         viewBox=\"0 0 {wide} {high}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{wide}\" height=\"{high}\" fill=\"white\"/>\n"
    );
    panel(&mut svg, 0.0, "a: until another leads", &failovers);
    if !rounds.is_empty() {
        panel(&mut svg, WIDTH, "b: round time at rest", &rounds);
    }
    svg + "</svg>\n"
}

#[expect(clippy::cast_precision_loss, reason = "nobody starts so many candidates")]
fn points(figures: &Figures, of: impl Fn(&Size) -> Option<(f64, f64)>) -> Vec<Point> {
    let mut points: Vec<Point> = figures
        .sizes
        .iter()
        .filter_map(|size| of(size).map(|(mean, spread)| (size.candidates as f64, mean, spread)))
        .collect();
    points.sort_unstable_by(|one, two| one.0.total_cmp(&two.0));
    points
}

fn panel(svg: &mut String, left: f64, title: &str, points: &[Point]) {
    let most = |of: fn(&Point) -> f64| points.iter().map(of).fold(0.0, f64::max);
    let across = Axis::to(most(|point| point.0), left + LEFT, left + WIDTH - RIGHT);
    let up = Axis::to(most(|point| point.1 + point.2), HEIGHT - BOTTOM, TOP);
    let (middle, foot) = (f64::midpoint(across.from, across.to), HEIGHT - 12.0);
    let side = left + 14.0;
    text(svg, (middle, 22.0), "middle", title);
    text(svg, (middle, foot), "middle", "candidates");
    let (y, turned) = (f64::midpoint(up.from, up.to), "text-anchor=\"middle\"");
    let _ = writeln!(
        svg,
        "<text x=\"{side}\" y=\"{y}\" {turned} transform=\"rotate(-90 {side} {y})\">seconds</text>"
    );
    for tick in up.ticks() {
        let y = up.at(tick);
        line(svg, (across.from, y), (across.to, y), "#ddd");
        text(svg, (across.from - 6.0, y + 4.0), "end", &label(tick));
    }
    for tick in across.ticks() {
        text(svg, (across.at(tick), up.from + 16.0), "middle", &label(tick));
    }
    line(svg, (across.from, up.from), (across.to, up.from), "black");
    line(svg, (across.from, up.from), (across.from, up.to), "black");
    curve(svg, &across, &up, points);
}

fn curve(svg: &mut String, across: &Axis, up: &Axis, points: &[Point]) {
    let place = |(n, mean, _): &Point| format!("{:.1},{:.1}", across.at(*n), up.at(*mean));
    let path = points.iter().map(place).collect::<Vec<_>>().join(" ");
    let _ = writeln!(svg, "<polyline points=\"{path}\" fill=\"none\" stroke=\"#1f5fa8\"/>");
    for (n, mean, spread) in points {
        let x = across.at(*n);
        if *spread > 0.0 {
            let (low, high) = (up.at((mean - spread).max(0.0)), up.at(mean + spread));
            line(svg, (x, low), (x, high), "#1f5fa8");
            line(svg, (x - 4.0, low), (x + 4.0, low), "#1f5fa8");
            line(svg, (x - 4.0, high), (x + 4.0, high), "#1f5fa8");
        }
        let y = up.at(*mean);
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"#1f5fa8\"><title>{n} candidates: {mean:.3} s \
             (deviation {spread:.3} s)</title></circle>"
        );
    }
}

/// Numbers from zero to an end, laid out from one place to another.
struct Axis {
    end: f64,
    step: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// Steps are 1, 2 or 5 of some power of ten.
    fn to(most: f64, from: f64, to: f64) -> Axis {
        let most = if most > 0.0 { most } else { 1.0 };
        let power = 10_f64.powf((most / TICKS).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
        let step = steps.into_iter().find(|step| most / step <= TICKS).unwrap_or(most);
        Axis { end: (most / step).ceil() * step, step, from, to }
    }

    fn at(&self, value: f64) -> f64 {
        self.from + (self.to - self.from) * value / self.end
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let (step, end) = (self.step, self.end);
        (0..=10_u8).map(move |tick| f64::from(tick) * step).take_while(move |at| *at <= end * 1.001)
    }
}

/// A number without digits that say nothing.
fn label(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), colour: &str) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let _ = writeln!(
        svg,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>"
    );
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, words: &str) {
    let _ =
        writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_a_round_number_above_everything() {
        for (most, step, end) in [(4.7, 1.0, 5.0), (500.0, 100.0, 500.0), (0.013, 0.005, 0.015)] {
            let axis = Axis::to(most, 0.0, 1.0);
            assert!((axis.step - step).abs() < 1e-9 && (axis.end - end).abs() < 1e-9, "{most}");
            assert!((axis.at(end) - 1.0).abs() < 1e-9);
        }
        assert!((Axis::to(0.0, 0.0, 1.0).end - 1.0).abs() < 1e-9, "nothing was measured");
    }

    #[test]
    fn a_label_has_no_digits_that_say_nothing() {
        assert_eq!([label(0.0), label(100.0), label(0.25)], ["0", "100", "0.25"]);
    }
}
