//! The modules under test, as they stand in the library: nothing of them is public there.

#[path = "../crates/incumbent/src/peers/channel.rs"]
pub(crate) mod channel;
#[path = "../crates/incumbent/src/peers/frame/tests/feed.rs"]
pub(crate) mod feed;
#[path = "../crates/incumbent/src/peers/frame.rs"]
pub(crate) mod frame;
#[path = "../crates/incumbent/src/peers/hello.rs"]
pub(crate) mod hello;
#[path = "../crates/incumbent/src/peers/secret.rs"]
pub(crate) mod secret;
#[path = "../crates/incumbent/src/peers/way.rs"]
pub(crate) mod way;
