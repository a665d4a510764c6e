//! What operators are told of a short story, in lines and in numbers.
//!
//! Assumes: everything of a story happens on the thread that tells it, because whoever listens does
//! so there.
//! Promises: every change of standing is one line and one count, and nothing else is a line.

mod lines;
mod numbers;
mod story;
