//! An end device of TRDP on this host's own UDP: publishes, requests and subscribes process data, calls and answers with
//! message data.
//!
//! `tsnbench-traffic trdp DEVICE.json --log FILE`; [`device`] describes the file. It prints `ready` once its ports are
//! open. Telegrams use the kernel's IP, so any other device can be the peer.

mod answers;
mod calls;
mod counters;
mod cycle;
mod device;
mod message;
mod publisher;
mod subscriptions;

use crate::Error;
use crate::output::print_line;
use crate::system::{clock, process};
use device::Device;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Interval at which a thread that waits for a datagram checks for the end.
const LOOK: Duration = Duration::from_millis(20);

/// The usage text.
const USAGE: &str = "expected trdp DEVICE.json --log FILE";

/// The counters of all parts.
#[derive(Serialize)]
struct Report {
    publish: Vec<counters::Published>,
    request: Vec<counters::Published>,
    #[serde(flatten)]
    heard: subscriptions::Heard,
    call: Vec<calls::Called>,
    answer: answers::Answered,
}

/// Runs an end device until its time is over, its telegrams are sent and received, or a signal requests the end.
pub(crate) fn run(words: impl Iterator<Item = String>) -> Result<(), Error> {
    let words: Vec<String> = words.collect();
    let [file, option, log] = words.as_slice() else { return Err(Error::Usage(USAGE.into())) };
    if option != "--log" {
        return Err(Error::Usage(USAGE.into()));
    }
    let file = PathBuf::from(file);
    let text = std::fs::read_to_string(&file).map_err(|error| Error::File(file.clone(), error))?;
    let device: Device =
        serde_json::from_str(&text).map_err(|error| Error::File(file.clone(), error.into()))?;
    process::end_gently().map_err(|error| Error::System("signals", error))?;
    let report = run_device(&device)?;
    let log = PathBuf::from(log);
    let text =
        serde_json::to_string_pretty(&report).map_err(|error| Error::File(log.clone(), error.into()))?;
    std::fs::write(&log, text + "\n").map_err(|error| Error::File(log, error))
}

/// Runs all parts, each in its thread.
fn run_device(device: &Device) -> Result<Report, Error> {
    let over = AtomicBool::new(false);
    let heard = subscriptions::Listener::open(device)?;
    let answering = answers::Answering::open(device)?;
    print_line("ready")?;
    let end_ns = device.for_ns.map(|ns| now_ns().map(|now| now.saturating_add(ns))).transpose()?;
    let echoes = heard.echoes();
    std::thread::scope(|threads| {
        let listener = threads.spawn(|| heard.listen(device, &over));
        let answerer = threads.spawn(|| answering.answer(device, &over));
        let caller = threads.spawn(|| calls::call(device, &over));
        let cycle = cycle::run(device, end_ns, &echoes, || {
            listener.is_finished() && caller.is_finished() && answerer.is_finished()
        });
        over.store(true, Ordering::Relaxed);
        let failed = || Error::Usage("a thread of the end device broke down".into());
        let heard = listener.join().map_err(|_| failed())??;
        let answer = answerer.join().map_err(|_| failed())??;
        let call = caller.join().map_err(|_| failed())??;
        let (publish, request) = cycle?;
        let publish = publish.into_iter().chain(heard.1).collect();
        Ok(Report { publish, request, heard: heard.0, call, answer })
    })
}

/// The time on TAI, which all parts use.
fn now_ns() -> Result<i64, Error> {
    clock::now_ns().map_err(|error| Error::System("CLOCK_TAI", error))
}
