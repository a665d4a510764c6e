//! Frames of strangers: whatever they send is a message or an error, within the limits.
//!
//! The bytes are taken for opened chunks, as if strangers could seal: what reads them must not rely
//! on the seal.

#![no_main]

use libfuzzer_sys::fuzz_target;

use peers::feed::feed;
use peers::frame;
use peers::hello::{HELLO_MAX, Hello, VERSION};

#[allow(dead_code, reason = "a target uses a part of what it includes")]
#[path = "../peers.rs"]
mod peers;

fuzz_target!(|bytes: &[u8]| {
    let _: Vec<Hello> = feed(bytes, 256, HELLO_MAX);
    let _: Vec<Vec<(u64, Option<String>)>> = feed(bytes, frame::FRAME_MAX, 1 << 20);
    // Most bytes make no frame; taken for a message, they go further.
    let _ = frame::decode::<Hello>(VERSION, bytes);
    let _ = frame::decode::<Vec<(u128, Option<String>)>>(VERSION, bytes);
});
