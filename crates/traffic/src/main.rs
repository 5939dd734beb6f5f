//! The live talker: sends what a Plan's node sends, on real interfaces, when the Plan says.
//!
//! `tsnbench-traffic talk PLAN --node N --epoch NS --dilate D --port 0=eth0 … --log FILE`
//!
//! The Plan's moment t is `epoch + t × dilate` on TAI. What is drawn at random is drawn as the simulator draws it.

mod arguments;
mod log;
mod steps;
mod system;

use arguments::Arguments;
use log::Log;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use system::PacketSocket;
use tsn_plan::Plan;
use tsn_sim::live::Releases;

/// Of all processes that must be on time, talkers come in the middle.
const PRIORITY: i32 = 50;
/// How long before a frame's time it is built and the processor kept busy, in ns: a sleep ends a little late.
const EARLY_NS: i64 = 60_000;

/// Why a talker cannot talk.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("{0}")]
    Usage(String),
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    #[error(transparent)]
    Plan(#[from] tsn_plan::PlanError),
    #[error("interface {0}: {1}")]
    Interface(String, io::Error),
    #[error("{0}: {1}")]
    System(&'static str, io::Error),
    #[error(transparent)]
    Frame(#[from] tsn_wire::Error),
}

fn main() -> ExitCode {
    let done = if std::env::args().nth(1).as_deref() == Some("steps") {
        steps::run(std::env::args().skip(2))
    } else {
        Arguments::read(std::env::args().skip(1)).and_then(|arguments| talk(&arguments))
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tsnbench-traffic: {error}");
            ExitCode::FAILURE
        }
    }
}

fn talk(arguments: &Arguments) -> Result<(), Error> {
    let text = std::fs::read_to_string(&arguments.plan)
        .map_err(|error| Error::File(arguments.plan.clone(), error))?;
    let plan = Plan::read(&text)?;
    let mut sockets = BTreeMap::new();
    for (port, interface) in &arguments.ports {
        let socket =
            PacketSocket::open(interface).map_err(|error| Error::Interface(interface.clone(), error))?;
        sockets.insert(*port, socket);
    }
    let releases =
        Releases::new(&plan, arguments.node).map_err(|error| Error::System("the Plan's addresses", error))?;
    let mut log = Log::new(plan.streams.len());
    let mut octets = Vec::with_capacity(1 << 16);
    system::become_punctual(PRIORITY).map_err(|error| Error::System("real-time scheduling", error))?;
    for release in releases {
        let Some(socket) = sockets.get_mut(&release.port) else {
            return Err(Error::Usage(format!("--port: no interface for port {}", release.port)));
        };
        let due = arguments.epoch_ns.saturating_add(release.at_ns.saturating_mul(arguments.dilate));
        tsn_wire::build::frame(&release.frame, &mut octets)?;
        let clock = |error| Error::System("CLOCK_TAI", error);
        let mut now = system::now_ns().map_err(clock)?;
        if now < due - EARLY_NS {
            system::sleep_until(due - EARLY_NS).map_err(clock)?;
        }
        while now < due {
            now = system::now_ns().map_err(clock)?;
        }
        let sent = socket.send(release.pcp, &octets);
        log.sent(release.frame.stream, now - due, sent.is_ok());
    }
    // To end a process takes a while, in which the others would be late.
    let end_ns = i64::try_from(plan.duration_ns.saturating_add(plan.drain_ns)).unwrap_or(i64::MAX);
    let end_ns = arguments.epoch_ns.saturating_add(end_ns.saturating_mul(arguments.dilate));
    system::sleep_until(end_ns).map_err(|error| Error::System("CLOCK_TAI", error))?;
    log.write(&arguments.log).map_err(|error| Error::File(arguments.log.clone(), error))
}
