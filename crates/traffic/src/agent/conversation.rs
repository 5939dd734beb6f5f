//! The conversation with one controller: orders come in, answers go out, and a silent controller ends it.

use super::Arguments;
use super::journal::{Journal, WORK};
use super::message::{self, Message, now_ns, print_line};
use super::order::{self, Order, Step};
use super::programs::Programs;
use super::steps::{self, Undone};
use crate::system::process;
use serde_json::{Value, json};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Interval at which programs, signals and the time are checked.
const LOOK: Duration = Duration::from_millis(10);
/// Octets of a file that are sent at once.
const MOST_AT_ONCE: u64 = 1 << 22;

/// The state while a controller is served.
pub struct Conversation {
    state: PathBuf,
    patience: Duration,
    messages: Receiver<io::Result<Message>>,
    heard: Arc<Mutex<Instant>>,
    journal: Arc<Mutex<Journal>>,
    programs: Programs,
    working: Option<JoinHandle<()>>,
    ending: Arc<AtomicBool>,
    /// The number of the order to restore, which is answered when the restoring is done.
    restore_order: Option<u64>,
    /// The agent's own steps at the begin of the journal, which are undone last.
    own_steps: usize,
}

impl Conversation {
    /// Reports that the host is ready. `left`: steps of a killed agent, which have just been undone.
    ///
    /// # Errors
    /// When the work folder or the journal cannot be made.
    pub(super) fn begin(arguments: &Arguments, left: usize, undone: Undone) -> io::Result<Self> {
        let work = arguments.state.join(WORK);
        fs::DirBuilder::new().mode(0o700).create(&work)?;
        let mut journal = Journal::begin(&arguments.state)?;
        if let Some(own) = &arguments.own {
            // If this agent is killed, the next one removes its program.
            journal.add(
                ["rm", "-rf", "--"]
                    .into_iter()
                    .map(Into::into)
                    .chain([own.to_string_lossy().into_owned()])
                    .collect(),
            );
        }
        let own_steps = journal.steps().len();
        let heard = Arc::new(Mutex::new(Instant::now()));
        let messages = listen(heard.clone());
        let own = std::env::current_exe().unwrap_or_default();
        let line = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let ready = json!({
            "event": "ready",
            "version": env!("CARGO_PKG_VERSION"),
            "work": work,
            "program": own,
            "now_ns": now_ns(),
            "tai_minus_utc_s": crate::system::clock::tai_ahead_ns().unwrap_or(0) / 1_000_000_000,
            "kernel": line("/proc/sys/kernel/osrelease"),
            "machine": std::env::consts::ARCH,
            "hostname": line("/proc/sys/kernel/hostname"),
            "boot": line("/proc/sys/kernel/random/boot_id"),
            "ssh": std::env::var("SSH_CONNECTION").unwrap_or_default(),
            "left": left,
            "not_undone": undone.failed,
        });
        print_line(ready, &[]);
        Ok(Self {
            state: arguments.state.clone(),
            patience: arguments.patience,
            messages,
            heard,
            journal: Arc::new(Mutex::new(journal)),
            programs: Programs::new(&arguments.state),
            working: None,
            ending: Arc::default(),
            restore_order: None,
            own_steps,
        })
    }

    /// Follows orders until the controller ends the conversation, is gone, or has been silent for too long.
    pub fn serve(&mut self) {
        while !process::end_requested() && self.restore_order.is_none() {
            match self.messages.recv_timeout(LOOK) {
                Ok(Ok(message)) => self.handle(message),
                Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.programs.report_ended();
            if self.heard.lock().unwrap_or_else(PoisonError::into_inner).elapsed() > self.patience {
                break;
            }
        }
    }

    /// Ends all programs and undoes all steps.
    pub fn restore(&mut self) {
        self.ending.store(true, Ordering::SeqCst);
        self.wait_for_steps();
        self.programs.end();
        let steps = self.journal.lock().unwrap_or_else(PoisonError::into_inner).steps().to_vec();
        let mut undone = steps::undo(&steps, &self.state.join(WORK));
        if let Err(error) = super::journal::clear(&self.state) {
            undone.failed.push(format!("{}: {error}", self.state.display()));
        }
        let mut answer = json!({"event": "restored", "steps": steps.len(), "failed": undone.failed});
        if let Some(id) = self.restore_order {
            answer["id"] = id.into();
        }
        print_line(answer, &[]);
    }

    /// Ends all programs and undoes all steps; afterwards the journal contains only the removal of this program's
    /// folder.
    fn undo(&mut self) -> Undone {
        self.ending.store(true, Ordering::SeqCst);
        self.wait_for_steps();
        self.programs.end();
        self.ending.store(false, Ordering::SeqCst);
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let undone = steps::undo(&journal.steps()[self.own_steps..], &self.state.join(WORK));
        journal.forget(&self.state, self.own_steps);
        undone
    }

    fn handle(&mut self, message: Message) {
        let (id, order) = match order::read(message.header) {
            Ok(found) => found,
            Err((id, error)) => return print_line(json!({"id": id, "error": error}), &[]),
        };
        let answer = match order {
            Order::Beat => Ok(json!({"now_ns": now_ns()})),
            Order::Restore => {
                self.restore_order = Some(id);
                return;
            }
            Order::Undo => {
                let undone = self.undo();
                // The controller waits for the answer to its last beat, which came while this agent was busy.
                *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
                Ok(json!({"failed": undone.failed}))
            }
            Order::Steps { steps } => return self.begin_steps(id, steps),
            Order::Start { name, argv } => self.programs.start(&name, &argv).map(|()| json!({})),
            Order::Tell { name, line } => self.programs.write_line(&name, &line).map(|()| json!({})),
            Order::Signal { name, signal } => self.programs.signal(&name, signal).map(|()| json!({})),
            Order::Put { path, program } => self.put(&path, &message.body, program).map(|()| json!({})),
            Order::List => self.list(),
            Order::Get { path, offset, most } => match self.get(&path, offset, most) {
                Ok((octets, size)) => return print_line(json!({"id": id, "size": size}), &octets),
                Err(error) => Err(error),
            },
        };
        let mut answer = answer.unwrap_or_else(|error| json!({"error": error.to_string()}));
        answer["id"] = id.into();
        print_line(answer, &[]);
    }

    /// Begins steps in a thread of their own; beats are answered meanwhile.
    fn begin_steps(&mut self, id: u64, steps: Vec<Step>) {
        self.wait_for_steps();
        let (journal, ending, work) = (self.journal.clone(), self.ending.clone(), self.state.join(WORK));
        self.working = Some(std::thread::spawn(move || {
            let mut done = Vec::new();
            let mut body = Vec::new();
            for step in steps {
                let go_on = || !ending.load(Ordering::SeqCst);
                if !go_on() {
                    break;
                }
                let limit = Duration::from_millis(step.limit_ms);
                let one = steps::run(&step.argv, step.stdin.as_bytes(), limit, &work, &go_on);
                if one.code == 0 {
                    let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
                    step.undo.into_iter().for_each(|undo| journal.add(undo));
                }
                done.push(json!({
                    "code": one.code, "begun_ns": one.begun_ns, "ended_ns": one.ended_ns,
                    "out": one.out.len(), "err": one.err.len(),
                }));
                body.extend_from_slice(&one.out);
                body.extend_from_slice(&one.err);
                if one.code != 0 && !step.may_fail {
                    break;
                }
            }
            print_line(json!({"id": id, "done": done}), &body);
        }));
    }

    fn wait_for_steps(&mut self) {
        if let Some(working) = self.working.take() {
            let _ = working.join();
        }
    }

    fn put(&self, path: &str, octets: &[u8], program: bool) -> io::Result<()> {
        let path = self.within(path)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mode = if program { 0o700 } else { 0o600 };
        let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(mode).open(path)?;
        file.write_all(octets)
    }

    fn get(&self, path: &str, offset: u64, most: u64) -> io::Result<(Vec<u8>, u64)> {
        let mut file = File::open(self.within(path)?)?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(offset))?;
        let mut octets = Vec::new();
        file.take(most.min(MOST_AT_ONCE)).read_to_end(&mut octets)?;
        Ok((octets, size))
    }

    fn list(&self) -> io::Result<Value> {
        let mut files = serde_json::Map::new();
        for entry in fs::read_dir(self.state.join(WORK))? {
            let entry = entry?;
            let facts = entry.metadata()?;
            if facts.is_file() {
                files.insert(entry.file_name().to_string_lossy().into_owned(), facts.len().into());
            }
        }
        Ok(json!({"files": files}))
    }

    /// A place within the work folder.
    fn within(&self, path: &str) -> io::Result<PathBuf> {
        let path = Path::new(path);
        if path.components().all(|part| matches!(part, Component::Normal(_))) && path.file_name().is_some() {
            Ok(self.state.join(WORK).join(path))
        } else {
            Err(io::Error::other("expected a path within the work folder"))
        }
    }
}

/// Reads messages in a thread of its own. Each octet proves that the controller is there, also within a long body.
fn listen(heard: Arc<Mutex<Instant>>) -> Receiver<io::Result<Message>> {
    struct Heard(io::Stdin, Arc<Mutex<Instant>>);
    impl Read for Heard {
        fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
            let count = self.0.lock().read(octets)?;
            if count > 0 {
                *self.1.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            }
            Ok(count)
        }
    }
    let (give, take) = channel();
    std::thread::spawn(move || {
        let mut input = BufReader::new(Heard(io::stdin(), heard));
        loop {
            let message = message::read(&mut input);
            let last = !matches!(message, Ok(Some(_)));
            if let Some(message) = message.transpose()
                && give.send(message).is_err()
            {
                return;
            }
            if last {
                return;
            }
        }
    });
    take
}
