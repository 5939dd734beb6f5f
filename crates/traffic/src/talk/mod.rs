//! Sends the frames of a Plan's node.

mod frames;
mod log;
pub mod replay;
mod saturate;

use crate::Error;
use crate::arguments::Arguments;
use crate::epoch;
use crate::sequence::Sequence;
use crate::system::error_queue::SendReport;
use crate::system::socket::{Socket, TxTime};
use crate::system::{clock, process};
use crate::timestamps::{Frame, Sightings};
use frames::{build, open};
use log::Log;
use std::collections::BTreeMap;
use tsn_plan::{Plan, Stage};
use tsn_sim::live::{Release, Releases, Saturating};
use tsn_wire::build::FrameSpec;
use tsn_wire::dissect::dissect;
use tsn_wire::link::Link;
use tsn_wire::telegram;

/// How long before a frame's time the thread builds it and stops to sleep, in ns: a sleep ends a little late.
const EARLY_NS: i64 = 60_000;
/// After this number of frames a talker that had no time reads the kernel's reports. Without privilege, the socket
/// has room for three reports of each of 36 full frames.
const MOST_UNREAD: u32 = 24;
/// How long the last timestamps may take.
const STAMPS_NS: i64 = 20_000_000;
/// Octets of a frame that come back with its timestamp: the whole frame, as only its octets show how long it was.
const HEAD: usize = 1 << 11;

/// Runs the Plan's talkers of one node.
pub fn talk(arguments: &Arguments) -> Result<(), Error> {
    let plan = crate::plan(arguments)?.ok_or(Error::Usage("talk: expected a Plan".into()))?;
    let node = arguments.node.unwrap_or(0);
    if let Some(cpu) = arguments.cpu {
        process::pin(cpu).map_err(|error| Error::System("the processor", error))?;
    }
    let mut talking = Talking::new(&plan, arguments)?;
    let addresses = |error| Error::System("the Plan's addresses", error);
    let releases = Releases::new(&plan, node).map_err(addresses)?;
    let saturating = Saturating::all(&plan, node).map_err(addresses)?;
    if let Some(sights) = &mut talking.sights {
        sights.make_ready(Releases::new(&plan, node).map_err(addresses)?.count());
    }
    let epoch_ns = epoch::epoch(arguments)?;
    talking.epoch_ns = epoch_ns;
    // This call comes before the thread gets a higher priority than the threads that fill queues.
    let filling = saturate::begin(saturating, arguments, epoch_ns)?;
    if arguments.priority > 0 {
        process::become_punctual(arguments.priority)
            .map_err(|error| Error::System("real-time scheduling", error))?;
    }
    for release in releases {
        if process::end_requested() {
            break;
        }
        talking.send(&release)?;
    }
    // Ending a process takes some time, which would make other talkers late: it waits for the end of the run.
    let end_ns = i64::try_from(plan.duration_ns.saturating_add(plan.drain_ns)).unwrap_or(i64::MAX);
    let end_ns = epoch_ns.saturating_add(end_ns.saturating_mul(arguments.dilate));
    if !process::end_requested() {
        clock::sleep_until(end_ns).map_err(|error| Error::System("CLOCK_TAI", error))?;
    }
    for (stream, frames) in saturate::end(filling)? {
        talking.log.filled(stream, frames);
    }
    talking.finish(arguments)
}

struct Talking<'a> {
    plan: &'a Plan,
    arguments: &'a Arguments,
    sockets: BTreeMap<u32, Socket>,
    epoch_ns: i64,
    clock: clock::Clock,
    log: Log,
    sights: Option<Sightings>,
    /// The timestamps received so far: between namespaces a frame passes more queueing disciplines and drivers, whose
    /// timestamps come back, too. Those of the frame's own port are the first.
    stamped: BTreeMap<(u32, Stage), Sequence>,
    /// TAI minus the kernel's clock for timestamps.
    ahead_ns: i64,
    octets: Vec<u8>,
    /// Frames sent since the kernel's reports were last read.
    unread: u32,
}

impl<'a> Talking<'a> {
    fn new(plan: &'a Plan, arguments: &'a Arguments) -> Result<Self, Error> {
        let mut sights = arguments.sights.as_ref().map(|_| Sightings::new(plan));
        let mut sockets = BTreeMap::new();
        for (port, interface) in &arguments.ports {
            let on_interface = |error| Error::Interface(interface.clone(), error);
            let socket = open(plan, *port, arguments, interface).map_err(on_interface)?;
            if let Some(mode) = mode(plan, *port, arguments) {
                socket.want_launch_times(mode.0, mode.1).map_err(on_interface)?;
            }
            if let Some(sights) = &mut sights {
                stamps(&socket, *port, interface, arguments, sights).map_err(on_interface)?;
            }
            sockets.insert(*port, socket);
        }
        let ahead_ns = clock::tai_ahead_ns().map_err(|error| Error::System("CLOCK_TAI", error))?;
        let log = Log::new(plan.streams.len());
        let clock = match &arguments.phc {
            None => clock::Clock::default(),
            Some(device) => {
                clock::Clock::hardware(device).map_err(|error| Error::File(device.clone(), error))?
            }
        };
        Ok(Self {
            plan,
            arguments,
            sockets,
            epoch_ns: 0,
            clock,
            log,
            sights,
            stamped: BTreeMap::new(),
            ahead_ns,
            octets: Vec::with_capacity(1 << 16),
            unread: 0,
        })
    }

    fn send(&mut self, release: &Release) -> Result<(), Error> {
        let at = |ns: i64| self.epoch_ns.saturating_add(ns.saturating_mul(self.arguments.dilate));
        let (due, intended) = (at(release.at_ns), at(release.frame.intended_ns));
        let number = release.frame.stream;
        let stream = self.plan.streams.get(number as usize);
        let launch = self.arguments.txtime.is_some()
            || stream.and_then(|stream| stream.socket.as_ref()).is_some_and(|socket| socket.txtime);
        let software = self
            .arguments
            .node
            .and_then(|node| self.plan.nodes.get(node as usize))
            .is_some_and(|node| node.host.is_some());
        let failed = |error| Error::System("the talker's clock", error);
        // A talker of a host with software sleeps until its time; other talkers stand for hardware, and stay awake.
        let early_ns = if software { 0 } else { EARLY_NS };
        let frame = FrameSpec {
            intended_ns: if self.arguments.absolute { intended } else { release.frame.intended_ns },
            ..release.frame
        };
        let skip = build(&frame, self.arguments, &mut self.octets)?;
        let mut now = self.clock.now_ns().map_err(failed)?;
        if self.unread >= MOST_UNREAD {
            // A talker that is always late must read them, too.
            self.take_notices();
        }
        if now < due - early_ns {
            self.take_notices();
            self.clock.sleep_until(due - early_ns).map_err(failed)?;
            now = self.clock.now_ns().map_err(failed)?;
        }
        let woken = now;
        while now < due && !process::end_requested() {
            now = self.clock.now_ns().map_err(failed)?;
        }
        if process::end_requested() {
            return Ok(());
        }
        let Some(socket) = self.sockets.get_mut(&release.port) else {
            return Err(Error::Usage(format!("--port: no interface for port {}", release.port)));
        };
        let launch_ns = if launch { u64::try_from(intended).ok() } else { None };
        let called = if self.sights.is_some() { self.clock.now_ns().map_err(failed)? } else { now };
        let sent = socket.send(release.pcp, self.octets.get(skip..).unwrap_or_default(), launch_ns);
        self.log.sent(number, now - due, sent.is_ok());
        self.unread += 1;
        if let Some(sights) = &mut self.sights {
            let one = Frame {
                stream: number,
                seq: release.frame.seq,
                octets: release.frame.octets,
                pcp: release.frame.tag.map_or(0, |tag| tag.pcp),
                vid: release.frame.tag.map_or(0, |tag| tag.vid),
            };
            sights.sight(release.port, Stage::IntervalStart, &one, Some(due));
            sights.sight(release.port, Stage::Wakeup, &one, Some(woken.max(due)));
            sights.sight(release.port, Stage::Send, &one, Some(called));
        }
        Ok(())
    }

    /// Reads the kernel's reports about frames since the last call; the kernel keeps only a limited number.
    fn take_notices(&mut self) {
        self.unread = 0;
        let mut head = [0; HEAD];
        for (port, socket) in &self.sockets {
            while let Some((report, length)) = socket.next_report(&mut head) {
                let Some(frame) = head.get(..length.min(HEAD)).and_then(|octets| identify(octets, length))
                else {
                    continue;
                };
                let ahead_ns = self.ahead_ns;
                let mut sight = |stage, t_ns| {
                    let first = self.stamped.entry((frame.stream, stage)).or_default().received(frame.seq);
                    if let Some(sights) = self.sights.as_mut().filter(|_| first) {
                        sights.sight(*port, stage, &frame, Some(t_ns));
                    }
                };
                match report {
                    SendReport::Qdisc(at) => sight(Stage::Qdisc, at + ahead_ns),
                    SendReport::Driver(at) => sight(Stage::Driver, at + ahead_ns),
                    SendReport::Hardware(at) => sight(Stage::Tx, at),
                    SendReport::Missed => self.log.dropped(frame.stream, true),
                    SendReport::Invalid => self.log.dropped(frame.stream, false),
                }
            }
        }
    }

    fn finish(mut self, arguments: &Arguments) -> Result<(), Error> {
        if self.sights.is_some() {
            let now = clock::now_ns().map_err(|error| Error::System("CLOCK_TAI", error))?;
            clock::sleep_until(now + STAMPS_NS).map_err(|error| Error::System("CLOCK_TAI", error))?;
        }
        self.take_notices();
        self.log.write(&arguments.log).map_err(|error| Error::File(arguments.log.clone(), error))?;
        if let (Some(sights), Some(path)) = (&self.sights, &arguments.sights) {
            sights.write(path).map_err(|error| Error::File(path.clone(), error))?;
        }
        Ok(())
    }
}

/// The mode of launch times at a port, if its frames have any, and whether they are on TAI.
fn mode(plan: &Plan, port: u32, arguments: &Arguments) -> Option<(TxTime, bool)> {
    let here = plan.streams.iter().filter(|one| one.route.first().is_some_and(|hop| hop.port == port));
    let planned = here.filter_map(|stream| stream.socket.as_ref()).find(|socket| socket.txtime);
    let planned = planned
        .map(|socket| (if socket.deadline { TxTime::Deadline } else { TxTime::Strict }, !socket.other_clock));
    arguments.txtime.map(|mode| (mode, true)).or(planned)
}

/// Requests the timestamps that taps need, and records which of them are missing.
fn stamps(
    socket: &Socket,
    port: u32,
    interface: &str,
    arguments: &Arguments,
    sights: &mut Sightings,
) -> std::io::Result<()> {
    let known = socket.stamps_of(interface).ok();
    if known.is_some_and(|stamps| !stamps.driver) {
        let why = format!("the driver of {interface} does not stamp (ethtool -T: no software-transmit)");
        sights.missing(port, Stage::Driver, &why);
    }
    if sights.has_tap(port, Stage::Tx) && arguments.hardware {
        match known {
            Some(stamps) if stamps.hardware_tx => socket.stamp_in_hardware(interface)?,
            _ => {
                let why = format!("{interface} has no hardware stamps (ethtool -T: no hardware-transmit)");
                sights.missing(port, Stage::Tx, &why);
            }
        }
    }
    let hardware = arguments.hardware && known.is_some_and(|stamps| stamps.hardware_tx);
    if sights.has_tap(port, Stage::Qdisc) || sights.has_tap(port, Stage::Driver) || hardware {
        socket.want_stamps(hardware)?;
    }
    Ok(())
}

/// The identity of a frame of a talker.
pub fn identify(octets: &[u8], original: usize) -> Option<Frame> {
    let found = dissect(Link::Ethernet, octets, u32::try_from(original).ok()?).ok()?;
    let payload = telegram::test_payload(&found).ok()?;
    let (pcp, vid) = found.tag.map_or((0, 0), |tag| (tag.pcp, tag.vid));
    Some(Frame { stream: payload.stream, seq: payload.seq, octets: found.octets, pcp, vid })
}
