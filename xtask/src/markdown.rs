//! A Markdown page: the links it makes and the anchors it offers.
//!
//! Assumes CommonMark with GitHub's tables and heading anchors. Promises to see no link inside
//! code, and to report a `[text][label]` whose label is nowhere defined.

use std::collections::{BTreeMap, BTreeSet};

use pulldown_cmark::{BrokenLink, Event, LinkType, Options, Parser, Tag, TagEnd};

/// What a link checker needs to know of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    /// Line and destination of each link and image, in order.
    pub(crate) links: Vec<(usize, String)>,
    /// Line and label of each reference to a label that is not defined.
    pub(crate) undefined: Vec<(usize, String)>,
    /// What may stand behind `#` in a link to this page.
    pub(crate) anchors: BTreeSet<String>,
}

impl Page {
    pub(crate) fn parse(text: &str) -> Self {
        let mut page = Self::default();
        let mut undefined = Vec::new();
        let mut on_broken = |link: BrokenLink<'_>| {
            // A lone `[word]` is more often plain text than a link that went wrong.
            if matches!(link.link_type, LinkType::Reference | LinkType::Collapsed) {
                undefined.push((line_at(text, link.span.start), link.reference.to_string()));
            }
            None
        };
        let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
        let parser = Parser::new_with_broken_link_callback(text, options, Some(&mut on_broken));
        let mut headings = Headings::default();
        for (event, span) in parser.into_offset_iter() {
            let line = line_at(text, span.start);
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push((line, dest_url.into_string()));
                }
                Event::Start(Tag::Heading { .. }) => headings.open = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => page.anchors.extend(headings.close()),
                Event::Text(words) | Event::Code(words) => headings.extend(&words),
                Event::Html(html) | Event::InlineHtml(html) => page.read_html(line, &html),
                _ => {}
            }
        }
        page.undefined = undefined;
        page
    }

    /// Links and anchors written as HTML, which GitHub keeps.
    fn read_html(&mut self, line: usize, html: &str) {
        self.anchors.extend(attributes(html, "id").chain(attributes(html, "name")));
        let links = attributes(html, "href").chain(attributes(html, "src"));
        self.links.extend(links.map(|link| (line, link)));
    }
}

/// Turns headings into anchors, and numbers those that repeat.
#[derive(Default)]
struct Headings {
    open: Option<String>,
    seen: BTreeMap<String, usize>,
}

impl Headings {
    fn extend(&mut self, words: &str) {
        if let Some(heading) = &mut self.open {
            heading.push_str(words);
        }
    }

    fn close(&mut self) -> Option<String> {
        let slug = slug(&self.open.take()?);
        let times = self.seen.entry(slug.clone()).and_modify(|times| *times += 1).or_insert(0);
        Some(if *times == 0 { slug } else { format!("{slug}-{times}") })
    }
}

/// GitHub's anchor of a heading: lower case, punctuation dropped, spaces as hyphens.
fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|character| match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        _ => character.is_alphanumeric().then_some(character),
    });
    kept.collect::<String>().to_lowercase()
}

/// The values of an attribute in a piece of HTML, as in `id="here"`.
fn attributes<'a>(html: &'a str, name: &str) -> impl Iterator<Item = String> + use<'a> {
    let start = format!(" {name}=\"");
    let values: Vec<_> = html.split(&start).skip(1).collect();
    values.into_iter().filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()))
}

/// The number of the line that holds the byte at `offset`.
fn line_at(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or_default();
    before.matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_images_references_and_html_are_found_with_their_lines() {
        let text =
            "[a](one.md)\n![b](two.png)\n[c][d]\n<a href=\"four.md\">e</a>\n\n[d]: three.md\n";
        let found: Vec<_> = Page::parse(text).links;
        let expected = [(1, "one.md"), (2, "two.png"), (3, "three.md"), (4, "four.md")];
        assert_eq!(found, expected.map(|(line, link)| (line, link.to_owned())));
    }

    #[test]
    fn code_holds_no_links() {
        let page = Page::parse("`[a](b)`\n\n```\n[c](d)\n```\n\n    [e](f)\n");
        assert_eq!(page.links, []);
    }

    #[test]
    fn a_reference_without_definition_is_reported_but_a_lone_bracket_is_not() {
        let page = Page::parse("See\n[the page][nowhere] and [Unreleased].\n");
        assert_eq!(page.undefined, [(2, "nowhere".to_owned())]);
    }

    #[test]
    fn anchors_follow_github() {
        let page = Page::parse("# Rules of `time`, 2.0\n## Why?\n## Why?\n<a id=\"here\"></a>\n");
        let anchors: Vec<_> = page.anchors.iter().map(String::as_str).collect();
        assert_eq!(anchors, ["here", "rules-of-time-20", "why", "why-1"]);
    }
}
