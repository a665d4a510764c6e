//! What goes wrong with a process.
//!
//! Assumes: nothing. Promises: trouble for a process that does not run is no trouble at all.

use core::time::Duration;

use incumbent_protocol::candidacy::Input;

use super::log::What;
use super::queue::Event;
use super::world::World;

impl World {
    /// Kills a process.
    pub(crate) fn crash(&mut self, who: usize) {
        if self.processes[who].die().is_some() {
            self.note(who, What::Crashed);
        }
    }

    /// Stops a process for a while, as SIGSTOP does; its clock runs on.
    pub(crate) fn stop(&mut self, who: usize, span: Duration) {
        let until = self.now + span;
        let process = &mut self.processes[who];
        if process.life.is_some() {
            process.stopped_until = process.stopped_until.max(Some(until));
            self.note(who, What::Stopped { until });
            self.schedule(until, who, Event::Resume);
        }
    }

    /// Freezes the whole machine of a process for a while: its clock stands still too.
    pub(crate) fn freeze(&mut self, who: usize, span: Duration) {
        let process = &mut self.processes[who];
        if process.life.is_some() {
            process.clock.stall(self.now, span);
            process.clock_doubted = true;
            self.note(who, What::ClockDoubted);
            self.stop(who, span);
        }
    }

    /// Lets the clock of a process leap ahead, which it notices before anything else.
    pub(crate) fn leap(&mut self, who: usize, span: Duration) {
        let process = &mut self.processes[who];
        process.clock.skip(self.now, span);
        process.clock_doubted = process.stopped_until.is_some();
        self.note(who, What::ClockDoubted);
        self.tell(who, Input::ClockJumped);
    }
}
