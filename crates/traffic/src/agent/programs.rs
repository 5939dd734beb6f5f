//! Programs that run beside the conversation: talkers, captures, ptp4l. Each line that a program writes is passed on.

use super::journal::{WORK, Words};
use super::message::{now_ns, print_line};
use crate::system::process;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between the request that a program ends and its killing.
const GRACE: Duration = Duration::from_secs(1);
/// Octets of a program's standard error that are passed on.
const LAST_WORDS: usize = 4000;

/// All programs that were started and have not ended.
#[derive(Debug)]
pub struct Programs {
    state: PathBuf,
    running: BTreeMap<String, Running>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    input: Option<ChildStdin>,
    lines: Option<JoinHandle<()>>,
}

impl Programs {
    /// No program yet.
    pub fn new(state: &Path) -> Self {
        Self { state: state.to_owned(), running: BTreeMap::new() }
    }

    /// Starts a program under a name. The kernel ends the program when this thread ends.
    ///
    /// # Errors
    /// When the name is taken, or there is no such program.
    pub fn start(&mut self, name: &str, words: &Words) -> io::Result<()> {
        if self.running.contains_key(name) {
            return Err(io::Error::other("there is a program of that name"));
        }
        let (program, rest) = words.split_first().ok_or_else(|| io::Error::other("no command"))?;
        let errors = File::create(self.errors(name)?)?;
        let mut command = Command::new(program);
        command
            .args(rest)
            .current_dir(self.state.join(WORK))
            .env("LC_ALL", "C")
            .env("PATH", super::steps::path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .process_group(0);
        process::ends_with_us(&mut command);
        let mut child = command.spawn()?;
        let lines = child.stdout.take().map(|out| {
            let name = name.to_owned();
            std::thread::spawn(move || {
                for line in BufReader::new(out).lines().map_while(Result::ok) {
                    print_line(json!({"event": "said", "name": name, "line": line, "at_ns": now_ns()}), &[]);
                }
            })
        });
        let input = child.stdin.take();
        self.running.insert(name.to_owned(), Running { child, input, lines });
        Ok(())
    }

    /// Writes a line to a program's standard input.
    ///
    /// # Errors
    /// When there is no such program, or its input is closed.
    pub fn write_line(&mut self, name: &str, line: &str) -> io::Result<()> {
        let input = self.running.get_mut(name).and_then(|one| one.input.as_mut());
        let input = input.ok_or_else(|| io::Error::other("no such program runs"))?;
        writeln!(input, "{line}").and_then(|()| input.flush())
    }

    /// Sends a signal to a program and its children.
    ///
    /// # Errors
    /// When there is no such program.
    pub fn signal(&self, name: &str, signal: i32) -> io::Result<()> {
        let one = self.running.get(name).ok_or_else(|| io::Error::other("no such program runs"))?;
        process::signal_group(one.child.id(), signal);
        Ok(())
    }

    /// Reports the programs that have ended since the last call.
    pub fn report_ended(&mut self) {
        let ended: Vec<_> = self
            .running
            .iter_mut()
            .filter_map(|(name, one)| {
                one.child.try_wait().ok().flatten().map(|status| (name.clone(), status))
            })
            .collect();
        for (name, status) in ended {
            let Some(one) = self.running.remove(&name) else { continue };
            // A child of the program may keep the pipe open; its lines are ignored.
            if let Some(lines) = one.lines
                && lines.is_finished()
            {
                let _ = lines.join();
            }
            let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
            let errors = self.errors(&name).and_then(std::fs::read).unwrap_or_default();
            let last =
                String::from_utf8_lossy(&errors[errors.len().saturating_sub(LAST_WORDS)..]).into_owned();
            print_line(
                json!({"event": "ended", "name": name, "code": code, "err": last, "at_ns": now_ns()}),
                &[],
            );
        }
    }

    /// Ends all programs, at first with a request.
    pub fn end(&mut self) {
        for one in self.running.values_mut() {
            // A program that waits for an instant ends when its input is closed.
            one.input = None;
            process::signal_group(one.child.id(), libc::SIGTERM);
            // A suspended program (SIGSTOP) does not receive the request.
            process::signal_group(one.child.id(), libc::SIGCONT);
        }
        let until = Instant::now() + GRACE;
        while !self.running.is_empty() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
            self.report_ended();
        }
        for one in self.running.values_mut() {
            process::signal_group(one.child.id(), libc::SIGKILL);
            let _ = one.child.wait();
        }
        self.report_ended();
    }

    fn errors(&self, name: &str) -> io::Result<PathBuf> {
        if name.is_empty()
            || !name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_')
        {
            return Err(io::Error::other("a program's name has letters, digits, - and _"));
        }
        Ok(self.state.join(WORK).join(format!("{name}.err")))
    }
}
