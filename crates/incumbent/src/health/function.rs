//! Health by a function of the program itself.
//!
//! Assumes: the function returns soon, or at least awaits now and then.
//! Promises: its future is dropped with the probe.

use std::pin::Pin;

type Answer = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// A function that is called for every probe.
pub(super) struct FunctionProbe(Box<dyn FnMut() -> Answer + Send>);

impl FunctionProbe {
    pub(super) fn new<F, A>(mut function: F) -> Self
    where
        F: FnMut() -> A + Send + 'static,
        A: Future<Output = Result<(), String>> + Send + 'static,
    {
        FunctionProbe(Box::new(move || Box::pin(function())))
    }

    pub(super) async fn run(&mut self) -> Result<(), String> {
        (self.0)().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_function_is_asked_anew_for_every_probe() {
        let mut times = 0;
        let mut probe = FunctionProbe::new(move || {
            times += 1;
            async move { if times == 1 { Ok(()) } else { Err(format!("asked {times} times")) } }
        });
        assert_eq!(probe.run().await, Ok(()));
        assert_eq!(probe.run().await, Err("asked 2 times".to_owned()));
    }

    #[tokio::test]
    async fn an_async_closure_will_do_as_well() {
        let mut probe = FunctionProbe::new(async || Err("ill".to_owned()));
        assert_eq!(probe.run().await, Err("ill".to_owned()));
    }
}
