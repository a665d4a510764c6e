//! First bytes of strangers: none of them begins a conversation, and none of them gets an answer
//! longer than the one that nodes get.

#![no_main]

use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use libfuzzer_sys::fuzz_target;

use peers::channel::{self, Side};
use peers::secret::Secret;

#[allow(dead_code, reason = "a target uses a part of what it includes")]
#[path = "../peers.rs"]
mod peers;

static SECRET: LazyLock<Secret> = LazyLock::new(|| {
    Secret::generate().and_then(|text| Secret::from_text(&text)).expect("a secret")
});

fuzz_target!(|bytes: &[u8]| {
    for side in [Side::Caller, Side::Callee] {
        let mut answer = Vec::new();
        assert!(!is_begun(bytes, &mut answer, side), "a stranger knows the secret");
        assert!(answer.len() <= 50, "a stranger is told too much");
    }
});

fn is_begun(bytes: &[u8], answer: &mut Vec<u8>, side: Side) -> bool {
    let begin = pin!(channel::begin(bytes, answer, side, &SECRET));
    match begin.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(begun) => begun.is_ok(),
        Poll::Pending => panic!("a slice does not wait"),
    }
}
