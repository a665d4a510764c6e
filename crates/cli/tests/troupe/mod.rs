//! A troupe of real `incumbent run` processes on one store, for tests and benchmarks.
//!
//! Assumes: `sh`, `sleep` and `date` are there.
//! Promises: every process of the troupe is dead when it is dropped; nothing is asserted about how
//! fast.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Long enough for anything on a slow day.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Says in one file who began to work under which token, and as which process.
const WORK: &str =
    r#"echo "$INCUMBENT_NAME $INCUMBENT_TOKEN $$ $(date +%s%N)" >> "$STARTS"; exec sleep 600"#;

/// A folder for one database, and everyone who contends in it.
pub(crate) struct Troupe {
    folder: tempfile::TempDir,
    program: PathBuf,
    lease: &'static str,
    url: String,
    protocol: Option<&'static str>,
    members: Vec<Member>,
}

/// One `incumbent run`.
pub(crate) struct Member {
    pub(crate) name: String,
    child: Child,
}

/// One line of the file that says who began to work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) name: String,
    pub(crate) token: u64,
    pub(crate) pid: i32,
    /// Nanoseconds since 1970.
    pub(crate) at: u128,
}

impl Troupe {
    pub(crate) fn new(program: &str, lease: &'static str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let url = format!("sqlite://{}", folder.path().join("e.db").display());
        let (program, protocol, members) = (program.into(), None, Vec::new());
        Troupe { folder, program, lease, url, protocol, members }
    }

    /// The same troupe in an election that is held by rounds.
    pub(crate) fn in_rounds(mut self) -> Self {
        self.protocol = Some("rounds");
        self
    }

    /// The same troupe on another store.
    pub(crate) fn at(mut self, url: &str) -> Self {
        url.clone_into(&mut self.url);
        self
    }

    /// A call of the program in a clean environment, on the database of this troupe.
    pub(crate) fn call(&self, subcommand: &str) -> Command {
        let mut command = Command::new(&self.program);
        for (key, _) in std::env::vars_os() {
            if key.to_string_lossy().starts_with("INCUMBENT_") {
                command.env_remove(key);
            }
        }
        command.arg(subcommand).args(["--lease", self.lease]);
        command.env("INCUMBENT_URL", &self.url);
        command.envs(self.protocol.map(|protocol| ("INCUMBENT_PROTOCOL", protocol)));
        command.env("STARTS", self.path("starts")).stdin(Stdio::null());
        command
    }

    /// A candidate whose work says that it began and then sleeps.
    pub(crate) fn join(&mut self, name: &str) {
        self.join_with(name, &[], &["sh", "-c", WORK]);
    }

    /// A candidate with flags and work of its own; its output goes to files named after it.
    pub(crate) fn join_with(&mut self, name: &str, flags: &[&str], work: &[&str]) {
        let history = self.path(&format!("{name}.history"));
        let mut command = self.call("run");
        command.args(["--name", name, "--history"]).arg(history).args(flags).arg("--").args(work);
        let file = |kind: &str| {
            let path = self.path(&format!("{name}.{kind}"));
            fs::File::options().append(true).create(true).open(path).expect("a file")
        };
        let (out, err) = (file("out"), file("err"));
        let child = command.stdout(out).stderr(err).spawn().expect("the program starts");
        self.members.push(Member { name: name.to_owned(), child });
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Who began to work so far, in order.
    pub(crate) fn starts(&self) -> Vec<Start> {
        let text = self.read("starts");
        text.lines().filter_map(parse_start).collect()
    }

    /// Waits until so many began to work, and shows the last of them.
    pub(crate) fn nth_start(&self, count: usize) -> Start {
        self.until("somebody to begin to work", || self.starts().get(count - 1).cloned())
    }

    /// Waits for something.
    pub(crate) fn until<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}\n{}", self.transcript());
            std::thread::sleep(Duration::from_micros(500));
        }
    }

    pub(crate) fn signal(&self, name: &str, signal: Signal) {
        let member = self.members.iter().find(|member| member.name == name).expect("a member");
        send(i32::try_from(member.child.id()).expect("a number"), signal);
    }

    /// The process of this candidate, unless it has ended; then the candidate is forgotten, and can
    /// join again.
    pub(crate) fn pid_of(&mut self, name: &str) -> Option<i32> {
        let at = self.members.iter().position(|member| member.name == name)?;
        if self.members[at].child.try_wait().expect("a child").is_some() {
            self.members.remove(at);
            return None;
        }
        i32::try_from(self.members[at].child.id()).ok()
    }

    /// Waits until the program of this candidate ends.
    pub(crate) fn end_of(&mut self, name: &str) -> ExitStatus {
        let at = self.members.iter().position(|member| member.name == name).expect("a member");
        let mut member = self.members.remove(at);
        self.until("a program to end", || member.child.try_wait().expect("a child"))
    }

    /// The code, or 128 plus the signal, that the program of this candidate ended with.
    pub(crate) fn code_of(&mut self, name: &str) -> i32 {
        let status = self.end_of(name);
        status.code().or(status.signal().map(|signal| signal + 128)).expect("an end")
    }

    pub(crate) fn histories(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.path()).expect("the folder");
        let paths = entries.flatten().map(|entry| entry.path());
        paths.filter(|path| path.extension().is_some_and(|e| e == "history")).collect()
    }

    fn transcript(&self) -> String {
        let said = |member: &Member| {
            format!("--- {}\n{}", member.name, self.read(&format!("{}.err", member.name)))
        };
        format!(
            "starts:\n{}\n{}",
            self.read("starts"),
            self.members.iter().map(said).collect::<String>()
        )
    }
}

impl Drop for Troupe {
    fn drop(&mut self) {
        for start in self.starts() {
            if is_alive(start.pid) {
                send(start.pid, Signal::KILL);
            }
        }
        for member in &mut self.members {
            let _ = member.child.kill();
            let _ = member.child.wait();
        }
    }
}

/// Whether that process runs or could run again: neither gone nor dead and unburied.
pub(crate) fn is_alive(pid: i32) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    stat.is_ok_and(|stat| {
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
        !matches!(state, Some('Z' | 'X') | None)
    })
}

/// The process that started that process.
pub(crate) fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

pub(crate) fn send(pid: i32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(pid).expect("a process"), signal);
}

fn parse_start(line: &str) -> Option<Start> {
    let mut words = line.split(' ');
    Some(Start {
        name: words.next()?.to_owned(),
        token: words.next()?.parse().ok()?,
        pid: words.next()?.parse().ok()?,
        at: words.next()?.parse().ok()?,
    })
}
