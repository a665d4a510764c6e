//! Long lines, broken between words.
//!
//! Assumes: text of one paragraph.
//! Promises: no line is wider than it may be, unless one word is; no word is lost.

/// Breaks a text into lines of at most so many characters.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_full_as_they_may_be_and_no_word_is_lost() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("incomprehensible it is", 5), ["incomprehensible", "it is"]);
        assert_eq!(wrap("", 5), Vec::<String>::new());
    }
}
