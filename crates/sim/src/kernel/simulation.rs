//! The run: takes events in order, calls the ports' machines, and executes their actions.

use crate::clocks::state::{Command, Timing};
use crate::error::SimError;
use crate::faults::impairment::{Impairment, impairments};
use crate::faults::outages::Outages;
use crate::forwarding::learning::Learning;
use crate::forwarding::processing::{Spread, spreads};
use crate::hosts::state::Hosts;
use crate::ids::{NodeId, PortId, StreamId};
use crate::kernel::calendar::Calendar;
use crate::kernel::event::{Event, EventKind, Frame};
use crate::network::hop_extras::HopExtras;
use crate::network::tables::{Hop, IndexRange, Network};
use crate::output::counters::RunCounters;
use crate::output::journal::Journal;
use crate::output::stream_totals::StreamTotals;
use crate::policing::state::PolicingState;
use crate::talkers::answers::Answers;
use crate::talkers::saturating::Sources;
use crate::talkers::talker::Talker;
use std::hint::black_box;
use std::io;
use std::ops::ControlFlow;
use tsn_bridge as bridge;
use tsn_bridge::EgressPort;
use tsn_observation::{Sighting, Sink};
use tsn_plan::{Plan, Point};
use tsn_units::{BitRate, Duration, Instant, Octets, wire_time};

/// The smallest Ethernet frame, from destination address to FCS (IEEE 802.3, 4A.4.2).
const SMALLEST_FRAME: Octets = Octets(64);

/// Number of events and of frames cut from data units between two reports of progress.
const PROGRESS_EVERY: u64 = 1 << 14;

/// The progress of a run.
#[derive(Copy, Clone, Debug)]
pub struct Progress {
    /// Simulated time so far.
    pub now: Instant,
    /// Frame-hops so far.
    pub frame_hops: u64,
}

/// A `watch` for [`Simulation::run`] that never interrupts.
pub fn unwatched(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A run of one Plan.
#[derive(Debug)]
pub struct Simulation<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) network: Network,
    pub(crate) ports: Vec<EgressPort<Frame>>,
    pub(crate) talkers: Vec<Talker>,
    pub(crate) sources: Sources,
    /// The talkers that answer other streams, if the Plan has any.
    pub(crate) answers: Option<Box<Answers>>,
    pub(crate) calendar: Calendar,
    /// Events scheduled so far for every node, and for all nodes together.
    pub(crate) scheduled: Vec<u64>,
    pub(crate) now: Instant,
    pub(crate) end: Instant,
    pub(crate) events: u64,
    /// Frames cut from data units, all of one unit in one event.
    pub(crate) cut: u64,
    pub(crate) frame_hops: u64,
    pub(crate) stream_totals: Vec<StreamTotals>,
    /// Frames that reached each of [`Network::listeners`].
    pub(crate) delivered: Vec<u64>,
    /// Frames on the last wire that arrive after the end of the run.
    pub(crate) late: u64,
    pub(crate) hop_extras: HopExtras,
    /// Policing: the filters, gates and meters of nodes, if the Plan has any.
    pub(crate) policing: Option<Box<PolicingState>>,
    /// Impairments by port; empty if the Plan has no faults.
    pub(crate) impairments: Vec<Option<Box<Impairment>>>,
    /// Additional processing times by ingress port; empty if all nodes have constant times.
    pub(crate) spreads: Vec<Option<Box<Spread>>>,
    /// The shared memory of a node's ports, by node; empty if no node has any.
    pub(crate) buffers: Vec<Option<bridge::SharedBuffer>>,
    /// The learning bridges; none if no bridge learns.
    pub(crate) learning: Option<Box<Learning>>,
    /// By port: frames lost to faults.
    pub(crate) faulted: Vec<u64>,
    /// By fault: frames that it affected.
    pub(crate) affected: Vec<u64>,
    /// Faults with a begin and an end, if the Plan has any.
    pub(crate) outages: Option<Box<Outages>>,
    /// The software of hosts, if the Plan has any.
    pub(crate) hosts: Option<Box<Hosts>>,
    /// The clocks of nodes, if the Plan has any.
    pub(crate) timing: Option<Box<Timing>>,
    /// Reused for its memory.
    pub(crate) commands: Vec<Command>,
    /// The frames in the network, if the run is replayed.
    pub(crate) journal: Option<Box<Journal>>,
}

/// The width of the calendar's buckets: the time of the smallest frame on the fastest link. An event schedules the next
/// event of its frame at least that much later, so that few events enter the current bucket.
fn bucket_width(plan: &Plan) -> Duration {
    let fastest = plan.ports.iter().map(|port| port.rate_bps).max().unwrap_or(1);
    wire_time(SMALLEST_FRAME, BitRate(fastest))
}

/// Reads the data that the events of the next bucket will need. In a large network these reads are cache misses; here
/// they do not depend on each other, and the processor makes many of them at the same time.
fn touch(network: &Network, ports: &[EgressPort<Frame>], events: &[Event]) {
    let hop = |event: &Event| match event.kind() {
        EventKind::Arrive(frame) => Some(network.hops[frame.hop()]),
        _ => None,
    };
    let numbers = events.iter().filter_map(hop).fold(0, |sum: u32, hop| sum.wrapping_add(hop.port.0));
    let room = events.iter().filter(|event| match event.kind() {
        EventKind::Arrive(frame) => {
            let Hop { port, class, .. } = network.hops[frame.hop()];
            ports[port.index()].has_room(class, Octets(frame.octets()))
        }
        EventKind::Wake { port } => ports[port.index()].line().rate().0 > 0,
        _ => false,
    });
    black_box((numbers, room.count()));
}

impl<'a> Simulation<'a> {
    /// Builds the nodes of a Plan, after checking the Plan.
    ///
    /// # Errors
    /// [`SimError::Plan`] and [`SimError::TooMany`].
    pub fn new(plan: &'a Plan) -> Result<Self, SimError> {
        plan.check()?;
        let mut network = Network::new(plan)?;
        let impairments = impairments(plan);
        let impaired: Vec<bool> = impairments.iter().map(Option::is_some).collect();
        let (hop_extras, policing) = HopExtras::new(plan, &mut network, &impaired);
        let learning = Learning::new(plan, &mut network);
        let hosts = Hosts::new(plan, &mut network);
        let talkers: Vec<Talker> = plan.streams.iter().map(|stream| Talker::new(plan, stream)).collect();
        let end_ns = i64::try_from(plan.duration_ns.saturating_add(plan.drain_ns)).unwrap_or(i64::MAX);
        let mut simulation = Self {
            plan,
            ports: plan.ports.iter().map(EgressPort::new).collect(),
            sources: Sources::new(&network, &talkers),
            answers: Answers::new(plan),
            calendar: Calendar::new(bucket_width(plan)),
            scheduled: vec![0; network.nodes + 1],
            now: Instant::EPOCH,
            end: Instant::from_ns(end_ns),
            events: 0,
            cut: 0,
            frame_hops: 0,
            // The last entry is for PTP messages.
            stream_totals: vec![StreamTotals::default(); plan.streams.len() + 1],
            delivered: vec![0; network.listeners.len()],
            late: 0,
            hop_extras,
            spreads: spreads(plan),
            learning,
            buffers: Vec::new(),
            policing,
            faulted: vec![0; plan.ports.len()],
            affected: vec![0; plan.faults.len()],
            outages: Outages::new(plan),
            impairments,
            hosts,
            timing: None,
            commands: Vec::new(),
            journal: None,
            talkers,
            network,
        };
        simulation.share_buffers();
        if let Some(clocks) = &plan.clocks {
            simulation.set_clocks(clocks);
        }
        for stream in 0..plan.streams.len() {
            simulation.schedule_release(StreamId::at(stream));
        }
        simulation.schedule_faults();
        Ok(simulation)
    }

    /// Runs to the end of the Plan's duration and drain, or until `watch` breaks; then all observations so far are
    /// handed over, and the counters are those of the part that ran.
    ///
    /// # Errors
    /// [`SimError::Output`] when the sink refuses a sighting.
    pub fn run<S: Sink>(
        mut self,
        sink: &mut S,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<RunCounters, SimError> {
        if S::PASSAGES {
            self.begin_journal(sink)?;
        }
        let interrupted = self.advance(self.end, sink, watch)?;
        if S::PASSAGES {
            self.end_journal(sink)?;
        }
        Ok(self.count(interrupted))
    }

    /// Handles all events up to an instant; returns whether `watch` broke before it.
    ///
    /// # Errors
    /// [`SimError::Output`] when the sink refuses a sighting.
    #[inline(always)]
    pub(crate) fn advance<S: Sink>(
        &mut self,
        until: Instant,
        sink: &mut S,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<bool, SimError> {
        let mut report_at = self.events + self.cut + PROGRESS_EVERY;
        while let Some(event) = self.calendar.next(|events| touch(&self.network, &self.ports, events)) {
            if event.at() > until {
                self.calendar.put_back();
                break;
            }
            self.now = event.at();
            self.events += 1;
            self.handle(event, sink)?;
            if self.events + self.cut >= report_at {
                report_at = self.events + self.cut + PROGRESS_EVERY;
                if watch(Progress { now: self.now, frame_hops: self.frame_hops }).is_break() {
                    return Ok(true);
                }
            }
        }
        self.now = until;
        Ok(false)
    }

    #[inline(always)]
    fn handle<S: Sink>(&mut self, event: Event, sink: &mut S) -> io::Result<()> {
        let (port, at_port) = match event.kind() {
            EventKind::Arrive(frame) => {
                let Hop { port, class, .. } = self.network.hops[frame.hop()];
                // Whether the next event also brings a frame to a queue of this node at this instant.
                let more = self.calendar.has_same_turn_next(&event);
                (port, bridge::Event::Arrive { class, frame, more })
            }
            EventKind::Wake { port } => (port, bridge::Event::Wake),
            other => return self.handle_other(other, &event, sink),
        };
        // One call for both, because it is inlined.
        self.handle_port_event(port, at_port, sink)
    }

    fn handle_other<S: Sink>(&mut self, kind: EventKind, event: &Event, sink: &mut S) -> io::Result<()> {
        match kind {
            EventKind::Release { stream } => self.release(stream, event, sink),
            EventKind::Ingress(frame) => self.ingress(frame, sink),
            EventKind::Babble { fault } => self.babble(fault, event, sink),
            EventKind::Fault { fault, begins } => self.turn(fault, begins, sink),
            EventKind::Hold { number } => self.queue_held(number, event, sink),
            EventKind::Eligible { number } => self.become_eligible(number, event, sink),
            EventKind::Host { number } => self.tell_host(number, sink),
            EventKind::Timing { number } => self.tell_timing(number, sink),
            EventKind::Arrive(frame) => self.arrive(frame, false, sink),
            EventKind::Wake { .. } => Ok(()),
        }
    }

    fn release<S: Sink>(&mut self, stream: StreamId, event: &Event, sink: &mut S) -> io::Result<()> {
        let request = self.answers.as_mut().and_then(|answers| answers.take_request(stream));
        if let Some(timing) = &mut self.timing
            && self.plan.streams[stream].answers.is_none()
            && !timing.is_due(stream, self.now)
        {
            return Ok(());
        }
        if self.outages.is_some() && self.is_silent(NodeId(self.plan.streams[stream].talker)) {
            // The talker's node is down: this data unit is skipped, and is not sent later.
            self.schedule_release(stream);
            return Ok(());
        }
        if self.talkers[stream].backlog() > 0 {
            let port = self.sources.start(stream);
            return self.refill(port, sink);
        }
        self.schedule_release(stream);
        if let Some(request) = request {
            sink.answer(stream.0, self.talkers[stream].number(), request)?;
        }
        self.send_unit(stream, event, sink)
    }

    /// A talker hands over one data unit.
    #[inline]
    pub(crate) fn send_unit<S: Sink>(
        &mut self,
        stream: StreamId,
        event: &Event,
        sink: &mut S,
    ) -> io::Result<()> {
        let mut more = self.calendar.has_same_turn_next(event);
        loop {
            let talker = &mut self.talkers[stream];
            let octets = talker.next_size();
            let seq = talker.take();
            let in_unit = talker.in_unit();
            more |= in_unit;
            self.emit(stream, seq, octets, more, sink)?;
            if !in_unit {
                return Ok(());
            }
            self.cut += 1;
        }
    }

    /// Hands one frame to the talker's ports.
    #[inline]
    fn emit<S: Sink>(
        &mut self,
        stream: StreamId,
        seq: u64,
        octets: u32,
        more: bool,
        sink: &mut S,
    ) -> io::Result<()> {
        if self.hosts.as_ref().is_some_and(|hosts| hosts.talks(stream)) {
            return self.expire_thread_timer(stream, seq, octets, sink);
        }
        let roots = self.network.roots[stream].indices();
        if let Some(first) = self.network.branches.get(roots.start as usize)
            && self.network.hops[*first].special
        {
            return self.emit_with_extras(stream, seq, octets, more, sink);
        }
        let totals = &mut self.stream_totals[stream];
        totals.released += 1;
        totals.replicated += (roots.len() as u64).saturating_sub(1);
        for root in roots {
            let hop_number = self.network.branches[root as usize];
            let frame = Frame::new(seq, hop_number, octets);
            let hop = self.network.hops[hop_number];
            let send = self.network.links[hop.port].send;
            self.sight(send, &hop, frame, 0, (self.now, self.now), sink)?;
            self.arrive(frame, more, sink)?;
        }
        Ok(())
    }

    #[inline(never)]
    pub(crate) fn arrive<S: Sink>(&mut self, frame: Frame, more: bool, sink: &mut S) -> io::Result<()> {
        let Hop { port, class, .. } = self.network.hops[frame.hop()];
        self.handle_port_event(port, bridge::Event::Arrive { class, frame, more }, sink)
    }

    /// Passes an event to a port's machine, and executes its actions.
    #[inline(always)]
    pub(crate) fn handle_port_event<S: Sink>(
        &mut self,
        port: PortId,
        event: bridge::Event<Frame>,
        sink: &mut S,
    ) -> io::Result<()> {
        if S::PASSAGES
            && let bridge::Event::Arrive { frame, .. } = event
        {
            self.note_queued(frame);
        }
        let mut actions = bridge::Actions::default();
        self.ports[port].handle(self.now, event, &mut actions);
        let expired = |drop: &bridge::Drop<Frame>| drop.cause == bridge::DropCause::DelayExceeded;
        if let Some(drop) = actions.dropped.filter(|drop| !expired(drop)) {
            self.count_drop(drop.frame);
        }
        if let Some(at) = actions.wake {
            let node = self.network.links[port].node;
            self.schedule(at, node, EventKind::Wake { port });
        }
        if let Some(transmission) = actions.start {
            self.transmit(port, transmission, sink)?;
            if self.sources.left(port, transmission.frame) {
                self.refill(port, sink)?;
            }
        } else if let Some(drop) = actions.dropped.filter(expired) {
            self.expire(port, drop.frame, sink)?;
        }
        Ok(())
    }

    /// Counts a frame that had waited for too long; a saturating talker releases another one.
    #[cold]
    #[inline(never)]
    fn expire<S: Sink>(&mut self, port: PortId, frame: Frame, sink: &mut S) -> io::Result<()> {
        self.note_expired(port, frame, sink)?;
        self.count_dropped(frame);
        if self.sources.left(port, frame) { self.refill(port, sink) } else { Ok(()) }
    }

    /// Transmits a frame over a link: sightings at both ends, listeners, and the queues of its next hops.
    #[inline(always)]
    fn transmit<S: Sink>(
        &mut self,
        port: PortId,
        transmission: bridge::Transmission<Frame>,
        sink: &mut S,
    ) -> io::Result<()> {
        let bridge::Transmission { frame, first_bit, last_bit, .. } = transmission;
        self.frame_hops += 1;
        let hop = self.network.hops[frame.hop()];
        if hop.special {
            return self.transmit_with_extras(port, frame, (first_bit, last_bit), sink);
        }
        let link = self.network.links[port];
        if hop.timing {
            return self.transmit_timing(port, frame, (first_bit, last_bit), sink);
        }
        let timestamp_point = first_bit + link.until_timestamp_point;
        let arrival = last_bit + link.propagation;
        self.sight(link.tx, &hop, frame, 0, (timestamp_point, last_bit), sink)?;
        self.sight(link.rx, &hop, frame, 0, (timestamp_point + link.propagation, arrival), sink)?;
        if S::PASSAGES {
            self.whole_passage(port, frame, (first_bit, last_bit), Some(arrival), sink)?;
        }
        for listener in hop.listeners.indices() {
            if arrival <= self.end {
                self.delivered[listener as usize] += 1;
            } else {
                self.late += 1;
            }
        }
        let branches = hop.branches.indices();
        let copies = branches.len() + hop.listeners.indices().len();
        if copies > 1 {
            self.stream_totals[hop.stream].replicated += copies as u64 - 1;
        }
        for branch in branches {
            let hop = self.network.branches[branch as usize];
            if S::PASSAGES {
                self.note_forwarded((port, frame), frame.at_hop(hop), (arrival, false), None);
            }
            let mut queued = arrival + link.processing;
            if frame.octets() > link.cut_through {
                queued = self.queue_arrival(port, frame, hop, queued);
            }
            self.schedule(queued, link.peer, EventKind::Arrive(frame.at_hop(hop)));
        }
        Ok(())
    }

    /// Refills the backlog of saturating talkers at `port`.
    #[inline(never)]
    pub(crate) fn refill<S: Sink>(&mut self, port: PortId, sink: &mut S) -> io::Result<()> {
        let node = self.network.links[port].node;
        if self.is_silent(node) {
            return Ok(());
        }
        let now = self.clock_of(node, self.now);
        while let Some(stream) = self.sources.next(port, now, &mut self.talkers, &self.ports[port]) {
            let talker = &mut self.talkers[stream];
            let octets = talker.next_size();
            let seq = talker.take();
            self.emit(stream, seq, octets, true, sink)?;
        }
        Ok(())
    }

    #[inline]
    fn schedule_release(&mut self, stream: StreamId) {
        let node = NodeId(self.plan.streams[stream].talker);
        // A talker's timetable is in its node's time.
        let now = self.clock_of(node, self.now);
        if let Some(at) = self.talkers[stream].next_release(now) {
            let at = match &mut self.timing {
                None => at.of_perfect_clock(),
                Some(timing) => timing.plan_release(stream, node, at, self.now),
            };
            self.schedule(at, node, EventKind::Release { stream });
        }
    }

    #[inline(always)]
    pub(crate) fn schedule(&mut self, at: Instant, node: NodeId, kind: EventKind) {
        let counter = &mut self.scheduled[node];
        self.calendar.push(Event::new(at, node, *counter, kind));
        *counter += 1;
    }

    /// Records sightings of the frame's start and end, unless they are after the end of the run.
    #[inline(always)]
    pub(crate) fn sight<S: Sink>(
        &self,
        taps: IndexRange,
        hop: &Hop,
        frame: Frame,
        copy: u8,
        (start, end): (Instant, Instant),
        sink: &mut S,
    ) -> io::Result<()> {
        for tap in taps.of(&self.network.taps) {
            let at = match tap.point {
                Point::Start => start,
                Point::End => end,
            };
            if at <= self.end {
                sink.sight(Sighting {
                    tap: tap.number,
                    stream: hop.stream.0,
                    seq: frame.seq,
                    copy,
                    t_ns: Some(match &self.timing {
                        None => at.ticked_ns(tap.granularity_ns),
                        Some(timing) => timing.clock(tap.node).forward(at).ticked_ns(tap.granularity_ns),
                    }),
                    octets: frame.octets(),
                    pcp: hop.pcp,
                    vid: hop.vid,
                })?;
            }
        }
        Ok(())
    }
}
