//! How frames pass the software of hosts: threads, queueing disciplines and drivers when they are sent, the kernel
//! and programs when they are received.
//!
//! OCORA Fig. 9.

use crate::hosts::state::{Pending, Sent, Work};
use crate::ids::{NodeId, PortId, StreamId};
use crate::kernel::event::{EventKind, Frame};
use crate::kernel::simulation::Simulation;
use crate::network::hop_extras::MergePoint;
use crate::network::tables::{Hop, IndexRange};
use crate::output::journal::Place;
use std::io;
use tsn_host::{Actions, HostTime, Packet, Passage};
use tsn_observation::Sink;
use tsn_plan::{Stage, duration};
use tsn_units::{Duration, Instant};

impl Simulation<'_> {
    /// The taps of a port at a stage.
    fn taps(&self, port: PortId, stage: Stage) -> IndexRange {
        self.network.stages.get(port.index()).map_or(IndexRange::default(), |stages| stages[stage as usize])
    }

    fn host_time(&self, node: NodeId) -> HostTime {
        self.clock_of(node, self.now)
    }

    /// The true instant of a point on a node's clock, not before now.
    fn true_time(&self, node: NodeId, at: HostTime) -> Instant {
        let at = match &self.timing {
            None => at.of_perfect_clock(),
            Some(timing) => timing.clock(node).inverse(at),
        };
        at.max(self.now)
    }

    /// The timer of a talker's thread expires now.
    #[cold]
    #[inline(never)]
    pub(crate) fn expire_thread_timer<S: Sink>(
        &mut self,
        stream: StreamId,
        seq: u64,
        octets: u32,
        sink: &mut S,
    ) -> io::Result<()> {
        let node = NodeId(self.plan.streams[stream].talker);
        let now = self.host_time(node);
        self.stream_totals[stream].released += 1;
        let Some(hosts) = &mut self.hosts else { return Ok(()) };
        let Some(talking) = hosts.talking.get_mut(stream.index()).and_then(Option::as_deref_mut) else {
            return Ok(());
        };
        let meant = now + duration(talking.socket.advance_ns);
        let txtime = talking.socket.txtime.then_some(meant);
        let passage = Passage { wakeup: self.now, send: self.now, qdisc: self.now };
        let mut sent = Sent { stream, seq, octets, txtime, expired: self.now, passage };
        if hosts.sharing[node.index()].is_some() {
            self.is_due(node, sent);
            return Ok(());
        }
        let takes = talking.takes();
        sent.passage = talking.thread.pass(self.now, takes);
        if self.calls(&sent, sink)? {
            self.schedule_host(sent.passage.qdisc, node, Pending::Enter(sent));
        }
        Ok(())
    }

    /// Schedules an event in software.
    pub(crate) fn schedule_host(&mut self, at: Instant, node: NodeId, pending: Pending) {
        if let Some(hosts) = &mut self.hosts {
            let number = hosts.pending.put(pending);
            self.schedule(at, node, EventKind::Host { number });
        }
    }

    /// A talker's thread calls `send` for a frame: whether the frame reaches the queueing disciplines.
    pub(crate) fn calls<S: Sink>(&mut self, sent: &Sent, sink: &mut S) -> io::Result<bool> {
        let Sent { stream, seq, octets, expired, passage, .. } = *sent;
        let node = NodeId(self.plan.streams[stream].talker);
        for root in self.network.roots[stream].indices() {
            let number = self.network.branches[root as usize];
            let hop = self.network.hops[number];
            let frame = Frame::new(seq, number, octets);
            if let Some(journal) = &mut self.journal {
                journal.expect(frame, passage.send, None, true);
            }
            let sized = Frame::new(seq, number, self.hop_extras.octets(octets, None, number));
            let frame = (sized, self.hop_extras.copy(number));
            let stages = [
                (self.taps(hop.port, Stage::IntervalStart), expired),
                (self.taps(hop.port, Stage::Wakeup), passage.wakeup),
                (self.network.links[hop.port].send, passage.send),
            ];
            for (taps, at) in stages {
                self.sight_up(node, taps, &hop, (frame.0, frame.1, expired), at, sink)?;
            }
        }
        let reaches = !self.is_down(node, expired, passage.qdisc);
        if !reaches {
            for root in self.network.roots[stream].indices() {
                self.note_lost(Frame::new(seq, self.network.branches[root as usize], octets));
            }
            self.lose(stream, self.first_port(stream));
        }
        Ok(reaches)
    }

    /// The port over which a stream's frames leave their talker, or the first of several.
    fn first_port(&self, stream: StreamId) -> PortId {
        let root = self.network.roots[stream].indices().next();
        root.and_then(|root| self.network.branches.get(root as usize))
            .map_or(PortId(0), |hop| self.network.hops[*hop].port)
    }

    /// Records a sighting in software at `at`, unless the node is down at `from`, or goes down before `at`.
    fn sight_up<S: Sink>(
        &self,
        node: NodeId,
        taps: IndexRange,
        hop: &Hop,
        (frame, copy, from): (Frame, u8, Instant),
        at: Instant,
        sink: &mut S,
    ) -> io::Result<()> {
        if self.is_down(node, from, at) { Ok(()) } else { self.sight(taps, hop, frame, copy, (at, at), sink) }
    }

    /// Handles an event in a host's software.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell_host<S: Sink>(&mut self, number: u32, sink: &mut S) -> io::Result<()> {
        let Some(hosts) = &mut self.hosts else { return Ok(()) };
        match hosts.pending.take(number) {
            None => Ok(()),
            Some(Pending::Enter(sent)) => self.enter(&sent, sink),
            Some(Pending::Received { frame, ingress }) => {
                let port = self.network.hops[frame.hop()].port;
                let node = self.network.links[port].node;
                if let Some(own) = self.hosts.as_mut().and_then(|hosts| hosts.shared(node)) {
                    own.processor.forwards(Work::Forward { frame, ingress });
                    self.expect_interrupt(port);
                }
                Ok(())
            }
            Some(Pending::Forwarded { frame }) => self.enqueue(frame, false, None, sink),
            Some(Pending::Timer { port }) => {
                let node = self.network.links[port].node;
                let Some(hosts) = &mut self.hosts else { return Ok(()) };
                let Some(own) = hosts.ports.get_mut(port.index()).and_then(Option::as_deref_mut) else {
                    return Ok(());
                };
                // If the timer was set again after this event was scheduled, the event is ignored.
                if own.armed.take_if(|(_, armed)| *armed == number).is_none() {
                    return Ok(());
                }
                match hosts.shared(node) {
                    None => self.run_disciplines(port, sink),
                    Some(own) => {
                        own.processor.expired(Work::Timer { port });
                        self.expect_interrupt(port);
                        Ok(())
                    }
                }
            }
            Some(Pending::Expired { port }) => self.run_disciplines(port, sink),
            Some(Pending::Programs { processor }) => {
                self.run_programs(processor);
                Ok(())
            }
            Some(Pending::Program { processor }) => self.run_program(processor, sink),
            Some(Pending::Interrupt { processor }) => self.interrupt(processor, sink),
        }
    }

    /// The queueing disciplines of a port hand on what may leave now.
    fn run_disciplines<S: Sink>(&mut self, port: PortId, sink: &mut S) -> io::Result<()> {
        let now = self.host_time(self.network.links[port].node);
        let Some(hosts) = &mut self.hosts else { return Ok(()) };
        let Some(own) = hosts.ports.get_mut(port.index()).and_then(Option::as_deref_mut) else {
            return Ok(());
        };
        let mut actions = std::mem::take(&mut hosts.actions);
        if let Some(qdisc) = &mut own.qdisc {
            qdisc.run(now, &mut actions);
        }
        let in_vain = actions.handed.is_empty() && actions.dropped.is_empty();
        own.in_vain = if in_vain { own.in_vain.saturating_add(1) } else { 0 };
        self.follow(port, actions, sink)
    }

    /// Puts a talker's frame, with its member streams, into the queueing disciplines.
    pub(crate) fn enter<S: Sink>(&mut self, sent: &Sent, sink: &mut S) -> io::Result<()> {
        let Sent { stream, seq, octets, txtime, .. } = *sent;
        let mut copies = 0_u64;
        let mut blocked = None;
        for root in self.network.roots[stream].indices() {
            let hop = self.network.branches[root as usize];
            if !self.hop_extras.is_active(hop, self.now) {
                self.note_lost(Frame::new(seq, hop, octets));
                blocked = Some(self.network.hops[hop].port);
                continue;
            }
            copies += 1;
            let octets = self.hop_extras.octets(octets, None, hop);
            self.enqueue(Frame::new(seq, hop, octets), true, txtime, sink)?;
        }
        match (copies, blocked) {
            (0, Some(port)) => self.lose(stream, port),
            _ => self.stream_totals[stream].replicated += copies.saturating_sub(1),
        }
        Ok(())
    }

    fn enqueue<S: Sink>(
        &mut self,
        frame: Frame,
        own: bool,
        txtime: Option<HostTime>,
        sink: &mut S,
    ) -> io::Result<()> {
        let hop = self.network.hops[frame.hop()];
        let copy = self.hop_extras.copy(frame.hop());
        self.sight(self.taps(hop.port, Stage::Qdisc), &hop, frame, copy, (self.now, self.now), sink)?;
        self.note_in_software(frame, Place::Qdisc, self.now);
        let now = self.host_time(self.network.links[hop.port].node);
        let Some(hosts) = &mut self.hosts else { return Ok(()) };
        let talking = hosts.talking.get(hop.stream.index()).and_then(Option::as_deref);
        let socket = talking.filter(|_| own).map(|talking| talking.options());
        let packet = Packet { item: frame, octets: frame.octets(), class: hop.class, socket, txtime };
        let actions = hosts.enqueue(hop.port, now, packet);
        self.follow(hop.port, actions, sink)
    }

    /// Executes the actions of a port's queueing disciplines, and sets their timer.
    fn follow<S: Sink>(&mut self, port: PortId, mut actions: Actions<Frame>, sink: &mut S) -> io::Result<()> {
        let node = self.network.links[port].node;
        for (frame, _) in actions.dropped.drain(..) {
            self.count_drop(frame);
        }
        for handed in actions.handed.drain(..) {
            let launch = handed.launch.map(|launch| self.true_time(node, launch));
            let Some(own) = self.host_port(port) else { continue };
            let at_driver = (own.now_plus_driver).max(own.port.at_driver);
            own.port.at_driver = at_driver;
            let finish = own.port.finish.draw();
            let loaded = at_driver + own.port.tx.draw();
            let mut at_hardware = loaded;
            at_hardware = at_hardware.max(launch.unwrap_or(at_hardware));
            let last = &mut own.port.at_hardware[usize::from(handed.class & 7)];
            at_hardware = at_hardware.max(*last);
            *last = at_hardware;
            if let Some(shared) = self.hosts.as_mut().and_then(|hosts| hosts.shared(node)) {
                let until = shared.processor.busy().max(at_driver) + finish;
                shared.processor.work(self.now, until);
            }
            let frame = handed.item;
            self.note_in_software(frame, Place::Handed, self.now);
            self.note_in_software(frame, Place::Loaded, loaded);
            let hop = self.network.hops[frame.hop()];
            let copy = self.hop_extras.copy(frame.hop());
            let taps = self.taps(port, Stage::Driver);
            self.sight_up(node, taps, &hop, (frame, copy, self.now), at_driver, sink)?;
            if self.is_down(node, self.now, at_hardware) {
                self.note_lost(frame);
                self.lose(hop.stream, port);
            } else {
                self.schedule(at_hardware, node, EventKind::Arrive(frame));
            }
        }
        if let Some(hosts) = &mut self.hosts {
            hosts.actions = actions;
        }
        self.set_timer(port);
        Ok(())
    }

    fn host_port(&mut self, port: PortId) -> Option<Driving<'_>> {
        let now = self.now;
        let port = self.hosts.as_mut()?.ports.get_mut(port.index())?.as_deref_mut()?;
        let now_plus_driver = now + port.driver.draw();
        Some(Driving { port, now_plus_driver })
    }

    /// Sets the timer of a port's queueing disciplines to the next instant at which a frame may leave.
    fn set_timer(&mut self, port: PortId) {
        let node = self.network.links[port].node;
        let now = self.host_time(node);
        let Some(hosts) = &mut self.hosts else { return };
        let Some(own) = hosts.ports.get_mut(port.index()).and_then(Option::as_deref_mut) else { return };
        let wake = own.qdisc.as_ref().and_then(|qdisc| qdisc.wake(now));
        if wake == own.armed.map(|(at, _)| at) {
            return;
        }
        // The event of an earlier timer is ignored: only the number in `armed` is valid.
        own.armed = None;
        let Some(wake) = wake else { return };
        // A shared processor counts the lateness when it has time for the timer.
        let late = if hosts.sharing[node.index()].is_some() { Duration::ZERO } else { own.timer.draw() };
        let number = hosts.pending.put(Pending::Timer { port });
        let mut at = self.true_time(node, wake) + late;
        let Some(own) =
            self.hosts.as_mut().and_then(|hosts| hosts.ports.get_mut(port.index())?.as_deref_mut())
        else {
            return;
        };
        own.armed = Some((wake, number));
        if at > self.now {
            own.in_vain = 0;
        } else if own.in_vain > 0 {
            // The timer expired, but no frame left. The wait doubles with each such event in a row, so that neither
            // a clock nor a discipline can stop the simulated time.
            at = self.now + Duration::from_ns(1 << (own.in_vain - 1).min(20));
        }
        self.schedule(at, node, EventKind::Host { number });
    }

    /// Sets the timers of a node anew after a change of its clock.
    #[cold]
    #[inline(never)]
    pub(crate) fn set_timers(&mut self, ports: &[PortId]) {
        for port in ports {
            let Some(hosts) = &mut self.hosts else { return };
            if let Some(own) = hosts.ports.get_mut(port.index()).and_then(Option::as_deref_mut)
                && own.armed.take().is_some()
            {
                self.set_timer(*port);
            }
        }
    }

    /// Whether software receives the frames that arrive over a port.
    #[inline]
    pub(crate) fn is_received(&self, port: PortId) -> bool {
        self.hosts.as_ref().is_some_and(|hosts| hosts.has(PortId(self.plan.ports[port].peer)))
    }

    /// Handles a frame that has just arrived over a hop; returns when it can be forwarded, and when a
    /// program that listens has received it.
    pub(crate) fn receive<S: Sink>(
        &mut self,
        hop: &Hop,
        merge_point: Option<MergePoint>,
        frame: (Frame, u8),
        sink: &mut S,
    ) -> io::Result<(Instant, Instant)> {
        let here = merge_point.map_or(*hop, |meeting| self.network.hops[meeting.leading_hop]);
        if here.listeners.indices().is_empty() && here.branches.indices().is_empty() {
            // The frame was flooded to a station with another address, whose port does not accept it.
            return Ok((self.now, self.now));
        }
        let peer = PortId(self.plan.ports[hop.port].peer);
        let Some(hosts) = &mut self.hosts else { return Ok((self.now, self.now)) };
        let node = NodeId(self.plan.ports[peer].node);
        let entered = hosts.shared(node).map_or(Duration::ZERO, |own| std::mem::take(&mut own.entered));
        let Some(own) = hosts.ports.get_mut(peer.index()).and_then(Option::as_deref_mut) else {
            return Ok((self.now, self.now));
        };
        let took = own.kernel_rx.draw() - entered;
        let kernel = (self.now + took.max(Duration::ZERO)).max(own.received);
        own.received = kernel;
        let node = NodeId(self.plan.ports[peer].node);
        let program = hosts.listening.get_mut(&(hop.stream, node)).map(|listening| {
            listening.received = (kernel + listening.app_rx.draw()).max(listening.received);
            listening.received
        });
        if let Some(shared) = hosts.shared(node) {
            shared.processor.work(self.now, kernel);
        }
        let (frame, copy) = frame;
        let frame = (frame, copy, self.now);
        self.sight_up(node, self.taps(peer, Stage::KernelRx), hop, frame, kernel, sink)?;
        if let Some(program) = program {
            self.sight_up(node, self.taps(peer, Stage::AppRx), hop, frame, program, sink)?;
        }
        Ok((kernel, program.unwrap_or(kernel)))
    }

    /// Forwards a frame that came over `ingress` to the next queue at `at`: in a host, through its software.
    pub(crate) fn forward(&mut self, (ingress, at): (PortId, Instant), node: NodeId, frame: Frame) {
        let Hop { port, stream, .. } = self.network.hops[frame.hop()];
        let Some(hosts) = &mut self.hosts else { return self.schedule(at, node, EventKind::Arrive(frame)) };
        let Some(own) = hosts.ports.get_mut(port.index()).and_then(Option::as_deref_mut) else {
            return self.schedule(at, node, EventKind::Arrive(frame));
        };
        if at > self.now && hosts.sharing[node.index()].is_some() {
            // The kernel still receives it; then it is work of its own.
            return self.schedule_host(at, node, Pending::Received { frame, ingress });
        }
        let last = own.at_qdisc.entry(ingress).or_insert(at);
        let at_qdisc = (at + own.forwarding.draw()).max(*last);
        *last = at_qdisc;
        if let Some(shared) = hosts.shared(node) {
            shared.processor.work(self.now, at_qdisc);
        }
        if self.is_down(node, at, at_qdisc) {
            self.note_lost(frame);
            self.lose(stream, port);
        } else {
            self.schedule_host(at_qdisc, node, Pending::Forwarded { frame });
        }
    }
}

/// A port, and when a frame that it hands on now reaches the driver unless earlier frames are still before it.
struct Driving<'a> {
    port: &'a mut crate::hosts::state::HostPort,
    now_plus_driver: Instant,
}
