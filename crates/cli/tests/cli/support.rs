//! A desk to work at: a folder, a home without settings, and the program.
//!
//! Assumes: nothing.
//! Promises: the environment is clean of this program's variables; whatever was started is killed
//! when it is dropped.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

/// Far longer than anything here takes on a slow machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A folder that stands for a user's home.
pub(crate) struct Desk {
    folder: TempDir,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Desk {
    pub(crate) fn new() -> Desk {
        Desk { folder: tempfile::tempdir().expect("folder") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        std::fs::write(&path, text).expect("file");
        path
    }

    /// The database that most tests use.
    pub(crate) fn url(&self) -> String {
        format!("sqlite:{}", self.path("elections.db").display())
    }

    /// The program in a clean environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_incumbent"));
        for (key, _) in std::env::vars_os() {
            let key = key.to_string_lossy().into_owned();
            let ours = ["INCUMBENT_", "XDG_", "OTEL_"];
            if ours.iter().any(|start| key.starts_with(start)) {
                command.env_remove(key);
            }
        }
        command.env("HOME", self.folder.path()).env("COLUMNS", "100");
        command.current_dir(self.folder.path()).stdin(Stdio::null()).args(args);
        command
    }

    /// Calls the program and waits for its end.
    pub(crate) fn call(&self, args: &[&str]) -> Ended {
        end(self.command(args))
    }

    /// Calls the program on the usual database.
    pub(crate) fn ask(&self, args: &[&str]) -> Ended {
        let mut command = self.command(args);
        command.env("INCUMBENT_URL", self.url());
        end(command)
    }

    /// Starts the program on the usual database and lets it run.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        let mut command = self.command(args);
        command.env("INCUMBENT_URL", self.url());
        Running::start(command)
    }

    /// Starts a candidate whose command says that it began.
    pub(crate) fn candidate(&self, name: &str, flags: &[&str]) -> Running {
        let work = ["--", "sh", "-c", "echo begun; exec sleep 600"];
        self.start(&[&["run", "--name", name], flags, &work].concat())
    }

    /// Starts a candidate, and waits until its command runs.
    pub(crate) fn leader(&self, name: &str) -> Running {
        self.leader_with(name, &[])
    }

    /// Starts a candidate with flags of its own, and waits until its command runs.
    pub(crate) fn leader_with(&self, name: &str, flags: &[&str]) -> Running {
        let running = self.candidate(name, flags);
        assert_eq!(running.line(), "begun");
        running
    }

    /// Starts a candidate while another one leads, and waits until the store knows of it.
    pub(crate) fn waiting(&self, name: &str, flags: &[&str]) -> Running {
        let running = self.candidate(name, flags);
        until("a line of the roll", || {
            let seen = self.ask(&["members", "--json"]).json();
            let members = seen["members"].as_array()?;
            let is_ready = |member: &Value| member["name"] == name && member["presence"] == "ready";
            members.iter().any(is_ready).then_some(())
        });
        running
    }

    /// How the election stands and what was ordered in it, without what time alone changes.
    pub(crate) fn standing(&self) -> (Value, Value) {
        let mut status = self.ask(&["status", "--json"]).json();
        let mut history = self.ask(&["history", "--json"]).json();
        for field in ["now", "remaining"] {
            status.as_object_mut().expect("an object").remove(field);
        }
        for term in history.as_array_mut().expect("a list") {
            term.as_object_mut().expect("an object").remove("duration");
        }
        (status, history)
    }
}

/// Waits for the end of a call.
pub(crate) fn end(mut command: Command) -> Ended {
    Ended::of(&command.output().expect("the program starts"))
}

impl Ended {
    fn of(output: &Output) -> Ended {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
        let code = output.status.code().expect("a code, not a signal");
        Ended { code, out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// What a program would read from standard output.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// An order was refused in the election `default`, for this reason.
    #[track_caller]
    pub(crate) fn refused(&self, words: &str) {
        self.refused_in("default", words);
    }

    /// An order was refused in this election, for this reason.
    #[track_caller]
    pub(crate) fn refused_in(&self, election: &str, words: &str) {
        self.failed(1, &format!("election {election}: {words}"));
    }

    /// It failed with this code, printed nothing, and said exactly this.
    #[track_caller]
    pub(crate) fn failed(&self, code: i32, words: &str) {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{self:?}");
        assert_eq!(self.err, format!("incumbent: {words}\n"));
    }
}

/// A call that goes on; killed when dropped.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Running {
        command.stderr(Stdio::null());
        Running::with_output(command)
    }

    /// The same, and what it says on standard error goes to this file.
    pub(crate) fn start_into(mut command: Command, said: &Path) -> Running {
        command.stderr(std::fs::File::create(said).expect("a file"));
        Running::with_output(command)
    }

    fn with_output(mut command: Command) -> Running {
        command.stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let out = child.stdout.take().expect("output");
        let (told, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let _ = told.send(line);
            }
        });
        Running { child, lines }
    }

    /// The next line of its output.
    #[track_caller]
    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("another line of output")
    }

    /// Whether its output came to an end without another line.
    pub(crate) fn is_silent(&self) -> bool {
        self.lines.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Disconnected)
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to stop.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        let pid = pid.expect("a process number");
        rustix::process::kill_process(pid, signal).expect("signal");
    }

    /// Waits for its end.
    pub(crate) fn code(&mut self) -> i32 {
        let status = until("the program to end", || self.child.try_wait().expect("wait"));
        status.code().expect("a code, not a signal")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The guard of a killed candidate ends its command.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Looks again and again until there is something to see.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The path as the command line takes it.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}
