//! Real processes that are killed and stopped.
//!
//! Assumes: the test program can start itself again with the name of one test, which then plays the
//! holder.
//! Promises: holders are killed with whoever started them.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use command_fds::{CommandFdExt as _, FdMapping};
use incumbent::Backend;
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{
    BILLING, LONG, Place, boot_nanos, config, contend, for_a_while, lead, until, won,
};

const ROLE: &str = "INCUMBENT_TEST_HOLDER";

/// Another process that leads, and answers one question a line.
pub(crate) struct Holder {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Holder {
    pub(crate) fn start(place: &Place, name: &str, lease: Duration) -> Holder {
        let role = format!("{} {name} {}", place.url(), lease.as_millis());
        let mut process = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "--nocapture", "--test-threads=1"])
            .arg("death::a_holder_in_another_process_leads_and_answers")
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let questions = process.stdin.take().expect("piped");
        let answers = BufReader::new(process.stdout.take().expect("piped"));
        Holder { process, questions, answers }
    }

    fn send(&mut self, question: &str) {
        writeln!(self.questions, "{question}").expect("asks");
    }

    fn answer(&mut self) -> u64 {
        loop {
            let mut line = String::new();
            let read = self.answers.read_line(&mut line).expect("reads");
            assert_ne!(read, 0, "the holder is gone");
            if let Some((_, answer)) = line.split_once("holder: ") {
                return answer.trim().parse().expect("a number");
            }
        }
    }

    fn ask(&mut self, question: &str) -> u64 {
        self.send(question);
        self.answer()
    }

    /// Waits until it leads.
    pub(crate) fn token(&mut self) -> u64 {
        self.ask("token")
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process"), signal).expect("is signalled");
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("is killed");
        self.process.wait().expect("is dead");
    }

    /// Stops it, but not in the middle of a write: SQLite's lock would stay with it, and nobody
    /// could write at all.
    pub(crate) async fn pause(&self, place: &Place) {
        let mut other = place.connect_for(Duration::from_millis(500)).await;
        loop {
            self.signal(Signal::STOP);
            until("every thread stands still", async || self.stands_still()).await;
            let write = sqlx::raw_sql("BEGIN IMMEDIATE; ROLLBACK");
            if write.execute(&mut other).await.is_ok() {
                return;
            }
            self.resume();
        }
    }

    /// A signal takes effect when each thread next returns from the kernel.
    fn stands_still(&self) -> bool {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.process.id()));
        threads.expect("it lives").all(|thread| {
            let stat = std::fs::read_to_string(thread.expect("an entry").path().join("stat"));
            stat.is_ok_and(|stat| stat.contains(") T "))
        })
    }

    fn resume(&self) {
        self.signal(Signal::CONT);
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What the other process does: leads, and answers from a thread that no runtime can hold up.
fn hold(role: &str) {
    let words: Vec<&str> = role.split(' ').collect();
    let lease = Duration::from_millis(words[2].parse().expect("a number"));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let leadership = runtime.block_on(async {
        let backend = Backend::open_with(words[0], &config(words[1], lease)).await;
        let election = backend.expect("opens").election(BILLING).await;
        lead(&election.expect("opens")).await
    });
    let (mut heir, mut bystander) = (None, None);
    for question in std::io::stdin().lines() {
        let answer = match question.expect("a line").as_str() {
            "token" => leadership.token().get(),
            "until" => leadership.valid_until_nanos(),
            "valid" => u64::from(leadership.is_valid()),
            "heir" => {
                let lock = leadership.share_lock().expect("a file").expect("shared");
                let mut child = Command::new("sleep");
                let handed = vec![FdMapping { parent_fd: lock, child_fd: 3 }];
                child.arg("600").fd_mappings(handed).expect("one number, once");
                u64::from(heir.insert(child.spawn().expect("starts")).id())
            }
            "bystander" => {
                // Another thread may start a process at any moment.
                let lock = leadership.share_lock().expect("a file").expect("shared");
                let child = Command::new("sleep").arg("600").spawn().expect("starts");
                drop(lock);
                u64::from(bystander.insert(child).id())
            }
            other => panic!("{other}?"),
        };
        writeln!(std::io::stdout(), "holder: {answer}").expect("answers");
    }
}

#[test]
fn a_holder_in_another_process_leads_and_answers() {
    if let Ok(role) = std::env::var(ROLE) {
        return hold(&role);
    }
    let place = Place::new();
    let mut holder = Holder::start(&place, "other", LONG);
    assert!(holder.token() > 0);
    assert_eq!(holder.ask("valid"), 1);
    assert!(holder.ask("until") > boot_nanos());
}

#[tokio::test]
async fn a_killed_leader_is_succeeded_without_waiting_for_its_lease() {
    let place = Place::new();
    let mut holder = Holder::start(&place, "killed", LONG);
    let token = holder.token();
    let two = place.candidate("two", LONG).await;
    let waiting = contend(&two);
    for_a_while().await;
    assert!(!waiting.is_finished(), "two led beside a live leader");
    holder.kill();
    let leadership = won(waiting).await;
    assert!(leadership.token().get() > token);
    let terms = two.backend().terms(BILLING, 2).await.expect("terms");
    assert_eq!(terms[0].opening, "died");
    assert_eq!(terms[1].ending.as_deref(), Some("died"));
}

#[tokio::test]
async fn a_killed_leader_is_succeeded_by_a_newcomer_at_once() {
    let place = Place::new();
    let mut holder = Holder::start(&place, "killed", LONG);
    let token = holder.token();
    holder.kill();
    let two = place.candidate("two", LONG).await;
    let status = two.status().await.expect("a look");
    assert_eq!(status.sight.word(), "died");
    assert_eq!(two.leader().await.expect("a look"), None);
    assert!(lead(&two).await.token().get() > token);
}

#[tokio::test]
async fn a_stopped_leader_is_not_dead_and_its_lease_is_waited_out() {
    let place = Place::new();
    let lease = Duration::from_secs(1);
    let mut holder = Holder::start(&place, "stopped", lease);
    holder.token();
    let two = place.candidate("two", lease).await;
    let waiting = contend(&two);
    for_a_while().await;
    let valid_until = holder.ask("until");
    holder.pause(&place).await;
    let leadership = won(waiting).await;
    assert!(boot_nanos() >= valid_until, "led before the lease ended");
    let terms = two.backend().terms(BILLING, 2).await.expect("terms");
    assert_eq!(terms[0].opening, "expired");
    assert_eq!(terms[1].ending.as_deref(), Some("expired"));

    // The question waits for it while it is stopped, so that answering is the first thing it does.
    holder.send("valid");
    holder.resume();
    assert_eq!(holder.answer(), 0, "the old leader still believes");
    assert!(holder.token() < leadership.token().get());
}

#[tokio::test]
async fn a_process_counts_as_alive_while_a_child_that_does_its_work_lives() {
    let place = Place::new();
    let mut holder = Holder::start(&place, "parent", LONG);
    holder.token();
    let heir = i32::try_from(holder.ask("heir")).ok().and_then(Pid::from_raw);
    let two = place.candidate("two", LONG).await;
    let waiting = contend(&two);
    holder.kill();
    for_a_while().await;
    assert!(!waiting.is_finished(), "the child still works");
    kill_process(heir.expect("a process"), Signal::KILL).expect("is killed");
    assert!(won(waiting).await.is_valid());
    let terms = two.backend().terms(BILLING, 1).await.expect("terms");
    assert_eq!(terms[0].opening, "died");
}

#[tokio::test]
async fn a_child_that_was_not_handed_the_proof_of_life_does_not_keep_it() {
    let place = Place::new();
    let mut holder = Holder::start(&place, "parent", LONG);
    holder.token();
    let bystander = i32::try_from(holder.ask("bystander")).ok().and_then(Pid::from_raw);
    let two = place.candidate("two", LONG).await;
    let waiting = contend(&two);
    holder.kill();
    assert!(won(waiting).await.is_valid());
    let terms = two.backend().terms(BILLING, 1).await.expect("terms");
    assert_eq!(terms[0].opening, "died");
    kill_process(bystander.expect("a process"), Signal::KILL).expect("outlived its parent");
}

#[tokio::test]
async fn all_elections_of_a_dead_process_are_succeeded() {
    let place = Place::new();
    let mut holder = Holder::start(&place, "killed", LONG);
    holder.token();
    let two = place.candidate("two", LONG).await;
    let other = two.backend().election("reports").await.expect("opens");
    let reports = lead(&other).await;
    let three = place.candidate("three", LONG).await;
    let reports_too = three.backend().election("reports").await.expect("opens");
    let (billing, waiting) = (contend(&three), contend(&reports_too));
    holder.kill();
    assert!(won(billing).await.is_valid());
    assert!(!waiting.is_finished(), "two is alive");
    reports.resign().await.expect("resigns");
    assert!(won(waiting).await.is_valid());
}
