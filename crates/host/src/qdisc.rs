//! The queueing disciplines of a port: a root and a child per class.

use crate::cbs::Numbers;
use crate::{CreditBasedQdisc, DropCause, Etf, HostTime, Schedule, SocketOptions, SoftwareGates};
use std::collections::VecDeque;
use tsn_plan::{ChildQdisc, Port, TaprioMode, duration};
use tsn_units::Duration;

/// Octets of a frame's check sequence, which the kernel does not count.
const FCS: u32 = 4;

/// A frame at its queueing discipline.
#[derive(Copy, Clone, Debug)]
pub struct Packet<T> {
    /// The frame.
    pub item: T,
    /// Octets from destination address to FCS.
    pub octets: u32,
    /// The frame's traffic class at the port.
    pub class: u8,
    /// The options of the frame's socket; none for a forwarded frame.
    pub socket: Option<SocketOptions>,
    /// The transmission time that the socket gave the frame.
    pub txtime: Option<HostTime>,
}

/// A frame that is handed to the driver.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Handed<T> {
    /// The frame.
    pub item: T,
    /// The frame's traffic class.
    pub class: u8,
    /// The hardware holds the frame until this instant.
    pub launch: Option<HostTime>,
}

/// The commands of a queueing discipline.
#[derive(Clone, Debug)]
pub struct Actions<T> {
    /// Frames to hand to the driver, in order.
    pub handed: Vec<Handed<T>>,
    /// Dropped frames with causes.
    pub dropped: Vec<(T, DropCause)>,
}

impl<T> Default for Actions<T> {
    fn default() -> Self {
        Self { handed: Vec::new(), dropped: Vec::new() }
    }
}

/// The counters of one port's queueing disciplines.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Counters {
    pub enqueued: u64,
    pub handed: u64,
    pub socket: u64,
    pub late: u64,
    pub expired: u64,
    pub window: u64,
    pub full: u64,
}

#[derive(Clone, Debug)]
enum Root {
    Mqprio,
    Assist(Schedule),
    Software(SoftwareGates),
}

#[derive(Clone, Debug)]
enum Child<T> {
    /// Frames wait only for software gates.
    Pfifo {
        queue: VecDeque<(T, u32)>,
        limit: usize,
    },
    Etf {
        etf: Etf<T>,
        offload: bool,
    },
    Cbs(CreditBasedQdisc<T>),
}

/// One port's queueing disciplines.
#[derive(Clone, Debug)]
pub struct Qdisc<T> {
    root: Root,
    /// By class.
    children: Vec<Child<T>>,
    /// Transmission time of one octet.
    octet: Duration,
    counters: Counters,
}

impl<T: Copy> Qdisc<T> {
    /// The queueing disciplines of a port of a checked Plan.
    #[must_use]
    pub fn new(port: &Port, plan: &tsn_plan::Qdisc) -> Self {
        let octet = Duration::from_ps(
            i64::try_from(8_000_000_000_000 / port.rate_bps.max(1)).unwrap_or(i64::MAX).max(1),
        );
        let root = match &plan.taprio {
            None => Root::Mqprio,
            Some(taprio) => match taprio.mode {
                TaprioMode::TxtimeAssist => Root::Assist(Schedule::new(taprio)),
                TaprioMode::Software => {
                    Root::Software(SoftwareGates::new(taprio, plan.children.len(), octet))
                }
            },
        };
        let child = |child: &ChildQdisc| match *child {
            ChildQdisc::Pfifo { limit_frames } => {
                Child::Pfifo { queue: VecDeque::new(), limit: limit_frames as usize }
            }
            ChildQdisc::Etf { delta_ns, deadline, offload, skip_sock_check } => {
                Child::Etf { etf: Etf::new(duration(delta_ns), deadline, skip_sock_check), offload }
            }
            ChildQdisc::Cbs {
                idleslope,
                sendslope,
                hicredit,
                locredit,
                limit_frames,
                overhead_octets,
                ..
            } => {
                let numbers = Numbers { idleslope, sendslope, hicredit, locredit, overhead: overhead_octets };
                Child::Cbs(CreditBasedQdisc::new(numbers, port.rate_bps, limit_frames))
            }
        };
        let children = plan.children.iter().map(child).collect();
        Self { root, children, octet, counters: Counters::default() }
    }

    /// Takes an arriving frame, and hands on what can leave now.
    pub fn enqueue(&mut self, now: HostTime, packet: Packet<T>, actions: &mut Actions<T>) {
        self.counters.enqueued += 1;
        if let Err(cause) = self.accept(now, packet) {
            self.drop(packet.item, cause, actions);
        }
        match self.root {
            // Each class has a queue of its own, and the kernel serves only the queue of the frame.
            Root::Mqprio => self.run_class(now, packet.class, actions),
            _ => self.run_all(now, actions),
        }
    }

    fn accept(&mut self, now: HostTime, packet: Packet<T>) -> Result<(), DropCause> {
        let Packet { item, class, socket, mut txtime, .. } = packet;
        let octets = packet.octets.saturating_sub(FCS);
        let needs = Duration::from_ps(self.octet.ps().saturating_mul(i64::from(octets)));
        if let Root::Assist(schedule) = &mut self.root {
            match txtime.filter(|_| socket.is_some_and(|socket| socket.txtime)) {
                // A transmission time from the socket is used if the gate is open at this time.
                Some(txtime) if schedule.admits(txtime, class, needs) => {}
                Some(_) => return Err(DropCause::Window),
                None => txtime = Some(schedule.launch(now, class, needs).ok_or(DropCause::Window)?),
            }
        }
        if let Root::Software(gates) = &self.root
            && gates.opens(now, class, octets).is_none()
        {
            return Err(DropCause::Window);
        }
        match self.children.get_mut(usize::from(class)) {
            None => Err(DropCause::Full),
            Some(Child::Pfifo { queue, limit }) => {
                let room = queue.len() < *limit;
                if room {
                    queue.push_back((item, octets));
                }
                if room { Ok(()) } else { Err(DropCause::Full) }
            }
            Some(Child::Etf { etf, .. }) => {
                etf.enqueue(now, txtime, socket, item).map_err(|(_, cause)| cause)
            }
            Some(Child::Cbs(cbs)) => cbs.enqueue(now, item, octets).map_err(|_| DropCause::Full),
        }
    }

    /// The timer expires: hands on all frames that can leave now, higher classes first.
    pub fn run(&mut self, now: HostTime, actions: &mut Actions<T>) {
        if !matches!(self.root, Root::Mqprio) {
            return self.run_all(now, actions);
        }
        // Each queue has a timer of its own.
        for class in (0..self.children.len()).rev() {
            if self.wake_of(now, class).is_some_and(|wake| wake <= now) {
                self.run_class(now, class as u8, actions);
            }
        }
    }

    fn run_all(&mut self, now: HostTime, actions: &mut Actions<T>) {
        for class in (0..self.children.len()).rev() {
            self.run_class(now, class as u8, actions);
        }
    }

    fn run_class(&mut self, now: HostTime, class: u8, actions: &mut Actions<T>) {
        while let Some((item, launch)) = self.next(now, class, actions) {
            self.counters.handed += 1;
            actions.handed.push(Handed { item, class, launch });
        }
    }

    /// The next frame of a class that can leave now, and the instant until which the hardware holds it.
    fn next(&mut self, now: HostTime, class: u8, actions: &mut Actions<T>) -> Option<(T, Option<HostTime>)> {
        match self.children.get_mut(usize::from(class))? {
            Child::Pfifo { queue, .. } => {
                if let Root::Software(gates) = &mut self.root {
                    let octets = queue.front()?.1;
                    if gates.opens(now, class, octets)? > now {
                        return None;
                    }
                    gates.spend(now, class, octets);
                }
                queue.pop_front().map(|(item, _)| (item, None))
            }
            Child::Etf { etf, offload } => {
                let offload = *offload;
                loop {
                    match etf.dequeue(now)? {
                        Ok((item, txtime)) => return Some((item, offload.then_some(txtime))),
                        Err(item) => {
                            self.counters.expired += 1;
                            actions.dropped.push((item, DropCause::Expired));
                        }
                    }
                }
            }
            Child::Cbs(cbs) => cbs.dequeue(now).map(|item| (item, None)),
        }
    }

    /// Takes out all frames that wait, as when the node loses power.
    pub fn flush(&mut self) -> Vec<T> {
        let mut lost = Vec::new();
        for child in &mut self.children {
            match child {
                Child::Pfifo { queue, .. } => lost.extend(queue.drain(..).map(|(item, _)| item)),
                Child::Etf { etf, .. } => lost.extend(etf.flush()),
                Child::Cbs(cbs) => lost.extend(cbs.flush()),
            }
        }
        lost
    }

    /// When the timer expires: the first instant after `now` at which a frame may leave.
    #[must_use]
    pub fn wake(&self, now: HostTime) -> Option<HostTime> {
        (0..self.children.len()).filter_map(|class| self.wake_of(now, class)).min()
    }

    fn wake_of(&self, now: HostTime, class: usize) -> Option<HostTime> {
        match self.children.get(class)? {
            Child::Pfifo { queue, .. } => match &self.root {
                Root::Software(gates) => gates.opens(now, class as u8, queue.front()?.1),
                _ => None,
            },
            Child::Etf { etf, .. } => etf.wake(),
            Child::Cbs(cbs) => cbs.wake(),
        }
    }

    fn drop(&mut self, item: T, cause: DropCause, actions: &mut Actions<T>) {
        let counter = match cause {
            DropCause::Socket => &mut self.counters.socket,
            DropCause::Late => &mut self.counters.late,
            DropCause::Expired => &mut self.counters.expired,
            DropCause::Window => &mut self.counters.window,
            DropCause::Full => &mut self.counters.full,
        };
        *counter += 1;
        actions.dropped.push((item, cause));
    }

    /// The counters so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Number of waiting frames.
    #[must_use]
    pub fn queued(&self) -> usize {
        let of = |child: &Child<T>| match child {
            Child::Pfifo { queue, .. } => queue.len(),
            Child::Etf { etf, .. } => etf.len(),
            Child::Cbs(cbs) => cbs.len(),
        };
        self.children.iter().map(of).sum()
    }
}
