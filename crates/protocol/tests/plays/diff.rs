//! What differs between two texts, line by line.
//!
//! Assumes: texts of at most a few hundred lines. Promises: the fewest lines marked that explain
//! the difference.

/// The second text, with `-` before lines that only the first has and `+` before lines that only
/// the second has.
pub(crate) fn diff(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let common = common_below(&old, &new);
    let (mut i, mut j) = (0, 0);
    let mut out = String::new();
    let mut push = |sign: char, line: &str| {
        out.extend([sign, ' ']);
        out.push_str(line);
        out.push('\n');
    };
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            push(' ', old[i]);
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && common[i + 1][j] >= common[i][j + 1]) {
            push('-', old[i]);
            i += 1;
        } else {
            push('+', new[j]);
            j += 1;
        }
    }
    out
}

/// At `[i][j]`: how many lines the rests from there have in common, in order.
fn common_below(old: &[&str], new: &[&str]) -> Vec<Vec<usize>> {
    let mut common = vec![vec![0; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = if old[i] == new[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    common
}
