//! Spans of time, as people write and read them: `3s`, `500ms`, `1m30s`.
//!
//! Assumes: nothing.
//! Promises: a number without a unit is refused with a hint, because nobody agrees on what it
//! means.

use std::fmt::Write;
use std::time::Duration;

/// Whatever is shorter is nothing.
const SMALLEST: Duration = Duration::from_micros(50);

/// The units that are known, longest word first where one begins like another.
const UNITS: [(&str, Duration); 5] = [
    ("ms", Duration::from_millis(1)),
    ("us", Duration::from_micros(1)),
    ("s", Duration::from_secs(1)),
    ("m", Duration::from_mins(1)),
    ("h", Duration::from_hours(1)),
];

/// Reads a span.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err("a duration must not be empty: write it like 3s, 500ms or 1m30s".to_owned());
    }
    if let Ok(number) = rest.parse::<f64>() {
        return Err(format!("{number} of what? Write {number}s or {number}ms"));
    }
    let wrong = || format!("{text:?} is no duration: write it like 3s, 500ms or 1m30s");
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let number: u32 = rest[..digits].parse().map_err(|_| wrong())?;
        let word = &rest[digits..];
        let (unit, size) =
            UNITS.iter().find(|(unit, _)| word.starts_with(unit)).ok_or_else(wrong)?;
        let part = size.checked_mul(number).ok_or_else(wrong)?;
        total = total.checked_add(part).ok_or_else(wrong)?;
        rest = &word[unit.len()..];
    }
    Ok(total)
}

/// A span that was chosen, as it is written.
pub(crate) fn exact(span: Duration) -> String {
    let mut rest = span;
    let mut words = String::new();
    for (unit, size) in [&UNITS[4], &UNITS[3], &UNITS[2], &UNITS[0], &UNITS[1]] {
        let count = rest.as_nanos() / size.as_nanos();
        if count > 0 {
            let _ = write!(words, "{count}{unit}");
        }
        rest = Duration::from_nanos_u128(rest.as_nanos() % size.as_nanos());
    }
    if words.is_empty() { "0s".to_owned() } else { words }
}

/// A span for people, rounded to what they care about.
pub(crate) fn show(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0 if span < SMALLEST => "0 s".to_owned(),
        0 if span < Duration::from_millis(10) => format!("{:.1} ms", span.as_secs_f64() * 1e3),
        0 => format!("{} ms", span.as_millis()),
        1..60 => format!("{:.1} s", span.as_secs_f64()),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86400 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86400, seconds / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_spellings_are_read() {
        for (text, millis) in
            [("3s", 3_000), ("500ms", 500), ("1m30s", 90_000), ("2h", 7_200_000), ("0s", 0)]
        {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn a_number_without_a_unit_is_refused_with_a_hint() {
        assert_eq!(parse("3"), Err("3 of what? Write 3s or 3ms".to_owned()));
        assert_eq!(parse("0.5"), Err("0.5 of what? Write 0.5s or 0.5ms".to_owned()));
    }

    #[test]
    fn whatever_else_is_no_duration_is_refused() {
        for text in ["", "s", "3x", "-3s", "3s5", "1 s", "99999999999s", "4294967295h4294967295h"] {
            let span = parse(text);
            assert_eq!(span.is_err(), text != "4294967295h4294967295h", "{text}: {span:?}");
        }
    }

    #[test]
    fn chosen_spans_are_shown_as_they_are_written() {
        for text in ["0s", "10s", "500ms", "1m30s", "2h", "1s500ms", "250us"] {
            assert_eq!(parse(text).map(exact), Ok(text.to_owned()));
        }
    }

    #[test]
    fn spans_are_shown_as_people_say_them() {
        for (millis, text) in
            [(0, "0 s"), (3, "3.0 ms"), (812, "812 ms"), (2_340, "2.3 s"), (90_000, "1 min 30 s")]
        {
            assert_eq!(show(Duration::from_millis(millis)), text);
        }
    }
}
