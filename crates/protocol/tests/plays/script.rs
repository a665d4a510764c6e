//! The file format of a play: blocks of commands, each followed by what they are expected to print.
//!
//! ```text
//! # A comment, anywhere outside an expected transcript.
//! a command
//! another
//! ----
//! what they print, up to the next empty line
//! ```
//!
//! Assumes: transcripts have no empty lines. Promises: a script that is parsed and written again is
//! unchanged, but for the transcripts that were replaced.

/// The line between commands and transcript.
const RULE: &str = "----";

/// A play as it stands in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    blocks: Vec<Block>,
}

/// Some commands and what they print.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Block {
    /// Commands, comments and empty lines, as written.
    lines: Vec<String>,
    transcript: Option<Vec<String>>,
}

impl Script {
    pub(crate) fn parse(text: &str) -> Script {
        let mut blocks = Vec::new();
        let mut block = Block::default();
        for line in text.lines() {
            match &mut block.transcript {
                None if line == RULE => block.transcript = Some(Vec::new()),
                None => block.lines.push(line.to_owned()),
                Some(_) if line.is_empty() => blocks.push(core::mem::take(&mut block)),
                Some(transcript) => transcript.push(line.to_owned()),
            }
        }
        if block != Block::default() {
            blocks.push(block);
        }
        Script { blocks }
    }

    /// The same script with the transcripts that `run` gives for the commands of each block.
    pub(crate) fn replayed(&self, mut run: impl FnMut(&[&str]) -> Vec<String>) -> Script {
        let blocks = self.blocks.iter().map(|block| {
            let commands: Vec<&str> = block.commands().collect();
            let transcript = (!commands.is_empty()).then(|| run(&commands));
            Block { lines: block.lines.clone(), transcript }
        });
        Script { blocks: blocks.collect() }
    }

    pub(crate) fn text(&self) -> String {
        let blocks = self.blocks.iter().map(|block| {
            let rule = block.transcript.as_ref().map(|_| RULE);
            let printed = block.transcript.iter().flatten().map(String::as_str);
            let lines = block.lines.iter().map(String::as_str);
            let lines: Vec<&str> = lines.chain(rule).chain(printed).collect();
            lines.join("\n") + "\n"
        });
        blocks.collect::<Vec<_>>().join("\n")
    }
}

impl Block {
    fn commands(&self) -> impl Iterator<Item = &str> {
        let lines = self.lines.iter().map(|line| line.trim());
        lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
    }
}
