//! The egress of one port: which frame is sent next, and when.
//!
//! IEEE 802.1Q-2022, 8.6.8.

mod fault;
mod hold_release;
mod longest_wait;
mod mac_merge;
mod server;
mod transmit_buffer;

use crate::{
    Counters, CreditBasedShaper, DropCause, Frame, Gate, GateControlList, Limits, Line, Queue, StateTaker,
    Window,
};
use tsn_plan::{Class, Port, duration};
use tsn_units::{BitRate, ClockMap, Duration, Instant, Local, Octets, True};

pub use mac_merge::MergeCounters;

/// Later than any run reaches (53 days); beyond, arithmetic on instants could overflow.
const HORIZON: Instant = Instant::from_ps(i64::MAX / 2);

/// The octets of a frame outside its service data unit: addresses, VLAN tag, type and FCS.
const SDU_OVERHEAD: u32 = 22;
/// The shortest window that there can be.
const SHORTEST_WINDOW: Duration = Duration::from_ps(1);

/// An event that a driver reports to a port.
#[derive(Copy, Clone, Debug)]
pub enum Event<F> {
    /// A frame reaches the queue of its class.
    Arrive {
        /// The frame's traffic class.
        class: u8,
        /// The frame.
        frame: F,
        /// Whether more frames are about to arrive at this instant: the choice among them waits for a
        /// [`Event::Wake`], which the port then requests.
        more: bool,
    },
    /// The instant has come that the port requested with [`Actions::wake`].
    Wake,
}

/// The commands of a port; at most one of each after one event.
#[derive(Copy, Clone, Debug)]
pub struct Actions<F> {
    /// A transmission that begins now; a preemptable frame is reported when its transmission ends.
    pub start: Option<Transmission<F>>,
    /// The port requests a [`Event::Wake`] at this instant. Earlier requests stay valid.
    pub wake: Option<Instant>,
    /// A frame that the port dropped.
    pub dropped: Option<Drop<F>>,
}

impl<F> Default for Actions<F> {
    fn default() -> Self {
        Self { start: None, wake: None, dropped: None }
    }
}

/// A frame that is sent.
#[derive(Copy, Clone, Debug)]
pub struct Transmission<F> {
    /// The frame.
    pub frame: F,
    /// The class whose queue it left.
    pub class: u8,
    /// When the first bit of its preamble leaves: now, except for preemptable frames, which are reported at their
    /// end.
    pub first_bit: Instant,
    /// When the last bit of its FCS leaves.
    pub last_bit: Instant,
}

/// A frame that was dropped.
#[derive(Copy, Clone, Debug)]
pub struct Drop<F> {
    /// The frame.
    pub frame: F,
    /// The class of the frame.
    pub class: u8,
    /// The cause of the drop.
    pub cause: DropCause,
}

/// One traffic class: its queue and its transmission selection.
#[derive(Clone, Debug)]
struct TrafficClass<F> {
    queue: Queue<F>,
    shaper: Option<CreditBasedShaper>,
    gated: bool,
    /// Whether its frames can be cut when a gate entry holds them.
    held: bool,
    /// The largest frame that the class accepts.
    max_frame_octets: u32,
    /// The last result of a search for a window, which is often needed again.
    window: Window,
}

/// The egress of one port.
#[derive(Clone, Debug)]
pub struct EgressPort<F> {
    /// When the medium is free.
    free: Instant,
    /// The earliest requested wake that has not come yet.
    wake: Instant,
    /// Bit n: frames of class n wait.
    waiting: u8,
    line: Line,
    classes: Vec<TrafficClass<F>>,
    gates: Option<Box<GateControlList>>,
    /// Whether frames may still be on the wire when their gate closes.
    unguarded: bool,
    /// `holdAdvance` and `releaseAdvance`.
    merge_advances: (Duration, Duration),
    /// Whether one of the next four is there: a port without them handles events in line.
    staged: bool,
    longest_waits: Option<Box<longest_wait::LongestWaits>>,
    merge: Option<Box<mac_merge::MacMerge<F>>>,
    server: Option<Box<server::Server>>,
    transmit_buffer: Option<Box<transmit_buffer::TransmitBuffer<F>>>,
    /// The port's own list, while a fault has replaced it.
    own: Option<Box<fault::OwnGates>>,
}

impl<F: Frame> EgressPort<F> {
    /// The port of a checked Plan (see [`tsn_plan::Plan::check`]), idle and without credit.
    #[must_use]
    pub fn new(port: &Port) -> Self {
        let gates = port.gates.as_ref().map(|gates| Box::new(GateControlList::new(gates)));
        let holds = port.gates.as_ref().is_some_and(tsn_plan::Gates::holds);
        let held = |number: usize| {
            holds && port.preemption.as_ref().is_some_and(|own| own.express >> number & 1 == 0)
        };
        let selector = |(number, class): (usize, &Class)| TrafficClass {
            queue: Queue::new(Limits {
                frames: class.limit_frames.map_or(u64::MAX, u64::from),
                octets: class.limit_octets.unwrap_or(u64::MAX),
            }),
            shaper: class.cbs.as_ref().map(CreditBasedShaper::new),
            gated: held(number)
                || gates.as_ref().is_some_and(|list| !list.gate(number as u8).is_always_open()),
            held: held(number),
            max_frame_octets: class.max_sdu_octets.map_or(u32::MAX, |most| most.saturating_add(SDU_OVERHEAD)),
            window: Window::NONE,
        };
        let longest_waits = longest_wait::LongestWaits::of(port).map(Box::new);
        Self {
            free: Instant::from_ps(i64::MIN),
            wake: Instant::MAX,
            waiting: 0,
            line: Line::new(BitRate(port.rate_bps)),
            classes: port.classes.iter().take(8).enumerate().map(selector).collect(),
            gates,
            unguarded: port.gates.as_ref().is_some_and(|gates| gates.unguarded),
            merge_advances: port.preemption.as_ref().map_or((Duration::ZERO, Duration::ZERO), |own| {
                (duration(own.hold_advance_ns), duration(own.release_advance_ns))
            }),
            staged: port.preemption.is_some()
                || port.server.is_some()
                || port.transmit_buffer.is_some()
                || longest_waits.is_some(),
            longest_waits,
            server: port.server.as_ref().map(|own| Box::new(server::Server::new(own))),
            transmit_buffer: port
                .transmit_buffer
                .map(|frames| Box::new(transmit_buffer::TransmitBuffer::new(frames))),
            merge: port.preemption.as_ref().map(|own| Box::new(mac_merge::MacMerge::new(own, holds))),
            own: None,
        }
    }

    /// Handles an event and writes the resulting actions. `class` beyond the port's classes means the lowest one.
    ///
    /// This and what it calls for every frame is inlined, so that the actions stay in registers.
    #[inline(always)]
    pub fn handle(&mut self, now: Instant, event: Event<F>, actions: &mut Actions<F>) {
        *actions = Actions::default();
        if self.staged {
            // By value: where a reference goes out of the inlined code, the actions would be in memory.
            *actions = self.handle_staged(now, event);
            return;
        }
        self.handle_plain(now, event, actions);
    }

    /// [`Self::handle`] of a port that only selects frames and sends them.
    #[inline(always)]
    fn handle_plain(&mut self, now: Instant, event: Event<F>, actions: &mut Actions<F>) {
        match event {
            Event::Arrive { class, frame, more } => self.arrive(now, class, frame, more, actions),
            Event::Wake if now == self.wake => {
                self.wake = Instant::MAX;
                if self.free <= now {
                    self.select(now, actions);
                } else {
                    self.request_wake_at_next_start(self.free, actions);
                }
            }
            // An earlier wake has made this one unnecessary.
            Event::Wake => {}
        }
    }

    #[cold]
    #[inline(never)]
    fn handle_staged(&mut self, now: Instant, event: Event<F>) -> Actions<F> {
        if self.longest_waits.is_some() {
            self.handle_waiting(now, event)
        } else {
            self.handle_stage(now, event)
        }
    }

    fn handle_stage(&mut self, now: Instant, event: Event<F>) -> Actions<F> {
        if self.merge.is_some() {
            self.handle_merging(now, event)
        } else if self.server.is_some() {
            self.handle_serving(now, event)
        } else if self.transmit_buffer.is_some() {
            self.handle_buffered(now, event)
        } else {
            let mut actions = Actions::default();
            self.handle_plain(now, event, &mut actions);
            actions
        }
    }

    /// Whether a frame may enter the queue of its class, which this returns; otherwise the frame is dropped.
    #[inline(always)]
    fn admit(&mut self, now: Instant, class: u8, frame: F, actions: &mut Actions<F>) -> Option<u8> {
        let class = if usize::from(class) < self.classes.len() { class } else { 0 };
        let selector = &self.classes[usize::from(class)];
        let octets = frame.octets();
        let cause = if octets.0 > selector.max_frame_octets {
            DropCause::OverMaxSdu
        } else if selector.gated && !self.ever_fits(now, class, octets) {
            DropCause::FitsNoWindow
        } else if selector.queue.has_room(octets) {
            return Some(class);
        } else {
            selector.queue.drop_cause(octets)
        };
        self.classes[usize::from(class)].queue.count_drop(octets, cause);
        actions.dropped = Some(Drop { frame, class, cause });
        None
    }

    /// Whether a frame that comes now fits into a window of its gate.
    fn ever_fits(&self, now: Instant, class: u8, octets: Octets) -> bool {
        if self.classes[usize::from(class)].held {
            self.preemptable_start(class, now, octets) < Instant::MAX
        } else {
            self.own_gate(class).ever_fits(now, self.window_needed(octets))
        }
    }

    /// Brings the credit of a class up to date whose queue has been empty.
    #[inline(always)]
    fn end_idle(&mut self, now: Instant, class: u8) {
        if let Some(shaper) = &mut self.classes[usize::from(class)].shaper {
            let gate = self.gates.as_ref().map_or(Gate::ALWAYS_OPEN, |list| list.gate(class));
            shaper.advance(now, false, gate);
        }
    }

    /// Puts an admitted frame into its queue.
    #[inline(always)]
    fn enqueue(&mut self, class: u8, frame: F) {
        self.waiting |= 1 << class;
        self.classes[usize::from(class)].queue.push(frame);
    }

    /// Puts a frame into its queue; returns its class if it is the first frame there.
    fn accept(&mut self, now: Instant, class: u8, frame: F, actions: &mut Actions<F>) -> Option<u8> {
        let class = self.admit(now, class, frame, actions)?;
        let first = self.waiting >> class & 1 == 0;
        if first {
            self.end_idle(now, class);
        }
        self.enqueue(class, frame);
        first.then_some(class)
    }

    #[inline(always)]
    fn arrive(&mut self, now: Instant, class: u8, frame: F, more: bool, actions: &mut Actions<F>) {
        let Some(class) = self.admit(now, class, frame, actions) else { return };
        if self.waiting >> class & 1 == 1 {
            // The head of the queue is unchanged, so the port has nothing to do.
            return self.enqueue(class, frame);
        }
        self.end_idle(now, class);
        let start = self.start_of(class, Some(frame.octets()), now.max(self.free));
        if start > now {
            self.request_wake(start, actions);
        } else if more || self.wake == now {
            // The port must also choose among other frames of this instant.
            self.request_wake(now, actions);
        } else {
            // No other waiting frame may start yet, otherwise it would have started. This frame needs no memory.
            self.classes[usize::from(class)].queue.pass(frame);
            return self.start(now, class, frame, actions);
        }
        self.enqueue(class, frame);
    }

    /// From `now` on, the gates follow this clock; without gates nothing changes. Requests a wake.
    #[cold]
    #[inline(never)]
    pub fn set_gate_clock(&mut self, now: Instant, clock: ClockMap<True, Local>, actions: &mut Actions<F>) {
        *actions = Actions::default();
        if let Some(own) = &mut self.own {
            own.set_clock(clock);
        }
        let Some(list) = &mut self.gates else { return };
        for (class, selector) in self.classes.iter_mut().enumerate() {
            if let Some(shaper) = &mut selector.shaper {
                shaper.advance(now, !selector.queue.is_empty(), list.gate(class as u8));
            }
            selector.window = Window::NONE;
        }
        list.set_clock(clock);
        // The wake requested before is no longer valid.
        self.wake = Instant::MAX;
        if self.staged {
            // The times at which an express frame may interrupt a frame under way have changed. Without frames there
            // is nothing to wake for: the caller may set the clock before it takes actions.
            if self.queued() > 0 {
                self.request_wake(now, actions);
            }
            return;
        }
        self.request_wake_at_next_start(self.free.max(now), actions);
    }

    /// Starts the frame of the highest class that may be sent now, or requests a wake for the next one.
    #[inline(always)]
    fn select(&mut self, now: Instant, actions: &mut Actions<F>) {
        let mut earliest = Instant::MAX;
        let mut rest = self.waiting;
        while rest != 0 {
            let class = 7 - rest.leading_zeros() as u8;
            rest ^= 1 << class;
            let start = self.earliest_start(class, now);
            if start <= now {
                self.transmit(now, class, actions);
                return;
            }
            earliest = earliest.min(start);
        }
        self.request_wake(earliest, actions);
    }

    #[inline(always)]
    fn transmit(&mut self, now: Instant, class: u8, actions: &mut Actions<F>) {
        let selector = &mut self.classes[usize::from(class)];
        let Some(frame) = selector.queue.pop() else { return };
        if selector.queue.is_empty() {
            self.waiting &= !(1 << class);
        }
        self.start(now, class, frame, actions);
    }

    /// Starts a frame that has left its queue.
    #[inline(always)]
    fn start(&mut self, now: Instant, class: u8, frame: F, actions: &mut Actions<F>) {
        let occupied = self.line.until_free(frame.octets());
        if let Some(shaper) = &mut self.classes[usize::from(class)].shaper {
            let gate = self.gates.as_ref().map_or(Gate::ALWAYS_OPEN, |list| list.gate(class));
            shaper.advance(now, true, gate);
            shaper.charge(now, occupied, gate);
        }
        self.free = now + occupied;
        let last_bit = now + self.line.until_last_bit(frame.octets());
        actions.start = Some(Transmission { frame, class, first_bit: now, last_bit });
        if self.unguarded {
            self.count_overrun_of(now, class, last_bit);
        }
        if self.waiting != 0 {
            self.request_wake_at_next_start(self.free, actions);
        }
    }

    /// Requests a wake for the earliest start of a waiting frame, with the medium free from `from` on.
    #[inline(always)]
    fn request_wake_at_next_start(&mut self, from: Instant, actions: &mut Actions<F>) {
        let mut earliest = Instant::MAX;
        let mut rest = self.waiting;
        while rest != 0 && earliest > from {
            let class = 7 - rest.leading_zeros() as u8;
            rest ^= 1 << class;
            earliest = earliest.min(self.earliest_start(class, from));
        }
        self.request_wake(earliest, actions);
    }

    /// When the head of a class may start, not before `from`; [`Instant::MAX`] for never.
    #[inline(always)]
    fn earliest_start(&mut self, class: u8, from: Instant) -> Instant {
        self.start_of(class, None, from)
    }

    /// When a frame of a class may start, not before `from`: one of so many octets, or the head of its queue.
    #[inline(always)]
    fn start_of(&mut self, class: u8, octets: Option<Octets>, from: Instant) -> Instant {
        let gate = self.gates.as_ref().map_or(Gate::ALWAYS_OPEN, |list| list.gate(class));
        let selector = &mut self.classes[usize::from(class)];
        let mut start = from;
        if let Some(shaper) = &selector.shaper {
            start = start.max(shaper.eligible_from(gate));
        }
        if !selector.gated {
            return start;
        }
        let octets = octets.or_else(|| selector.queue.head().map(Frame::octets));
        let Some(octets) = octets.filter(|_| start <= HORIZON) else { return Instant::MAX };
        if selector.held {
            return self.preemptable_start(class, start, octets);
        }
        let window_needed = if self.unguarded { SHORTEST_WINDOW } else { self.line.until_last_bit(octets) };
        let Window { opens, closes } = selector.window;
        if opens > start || start + window_needed > closes {
            match gate.next_window(start, window_needed) {
                Some(window) => selector.window = window,
                None => return Instant::MAX,
            }
        }
        start.max(selector.window.opens)
    }

    #[inline(always)]
    fn request_wake(&mut self, when: Instant, actions: &mut Actions<F>) {
        if when < self.wake {
            self.wake = when;
            actions.wake = Some(when);
        }
    }

    /// The part of a window that a frame requires.
    #[inline]
    fn window_needed(&self, frame: Octets) -> Duration {
        if self.unguarded { SHORTEST_WINDOW } else { self.line.until_last_bit(frame) }
    }

    /// Counts a frame, or a fragment of one, that is on the wire while its gate is closed.
    #[cold]
    #[inline(never)]
    fn count_overrun_of(&mut self, first_bit: Instant, class: u8, last_bit: Instant) {
        let window = self.gate(class).next_window(first_bit, SHORTEST_WINDOW);
        if window.is_none_or(|window| window.opens > first_bit || window.closes < last_bit) {
            self.classes[usize::from(class)].queue.count_overrun();
        }
    }

    fn gate(&self, class: u8) -> Gate<'_> {
        self.gates.as_ref().map_or(Gate::ALWAYS_OPEN, |list| list.gate(class))
    }

    /// From now on the frames of this port wait in this memory, which other ports may share.
    pub fn set_shared_buffer(&mut self, buffer: &crate::SharedBuffer) {
        for selector in &mut self.classes {
            selector.queue.set_shared_buffer(buffer);
        }
    }

    /// Reserves room in a queue for a frame that is not eligible yet (ATS); false if there is none, which is counted.
    #[cold]
    pub fn reserve(&mut self, class: u8, frame: Octets) -> bool {
        let class = if usize::from(class) < self.classes.len() { class } else { 0 };
        self.classes[usize::from(class)].queue.reserve(frame)
    }

    /// A frame with reserved room becomes eligible; it arrives next, and uses this room.
    #[cold]
    pub fn unreserve(&mut self, class: u8, frame: Octets) {
        let class = if usize::from(class) < self.classes.len() { class } else { 0 };
        self.classes[usize::from(class)].queue.unreserve(frame);
    }

    /// The medium.
    #[must_use]
    pub fn line(&self) -> &Line {
        &self.line
    }

    /// Whether a frame of this size finds room in its queue.
    #[must_use]
    pub fn has_room(&self, class: u8, frame: Octets) -> bool {
        self.classes.get(usize::from(class)).is_some_and(|selector| selector.queue.has_room(frame))
    }

    /// The credit of a class at `now` in 1e-12 bit; none without a shaper.
    #[must_use]
    pub fn credit(&self, class: u8, now: Instant) -> Option<i128> {
        let selector = self.classes.get(usize::from(class))?;
        let shaper = selector.shaper.as_ref()?;
        Some(shaper.credit(now, !selector.queue.is_empty(), self.gate(class)))
    }

    /// Number of waiting frames, including an interrupted one, a preemptable one under way, and those of the transmit
    /// buffer.
    #[must_use]
    pub fn queued(&self) -> usize {
        let partial = self.merge.as_ref().map_or(0, |merge| merge.holds());
        let selected = self.transmit_buffer.as_ref().map_or(0, |buffer| buffer.len());
        self.classes.iter().map(|selector| selector.queue.len()).sum::<usize>() + partial + selected
    }

    /// The counters of pre-emption; none without pre-emption.
    #[must_use]
    pub fn merge_counters(&self) -> Option<MergeCounters> {
        self.merge.as_ref().map(|merge| merge.counters())
    }

    /// Adds the port's state; `put_frame` adds that of a waiting frame. Gates have none: their lists must be in force for
    /// good, and the caller must compare instants at which they are at one place of their cycles.
    ///
    /// False if the port has parts whose state cannot be taken: pre-emption, a transmit buffer, a server, longest times
    /// in queues, or a list that a fault has replaced.
    pub fn put_state(&self, state: &mut StateTaker, put_frame: &mut impl FnMut(&F, &mut StateTaker)) -> bool {
        if self.staged || self.own.is_some() {
            return false;
        }
        state.put_future(self.free);
        state.put_future(self.wake);
        for (class, selector) in self.classes.iter().enumerate() {
            selector.queue.put_state(state, put_frame);
            if let Some(shaper) = &selector.shaper {
                shaper.put_state(state, !selector.queue.is_empty(), self.gate(class as u8));
            }
        }
        true
    }

    /// The counters of each class, lowest first.
    pub fn counters(&self) -> impl Iterator<Item = &Counters> {
        self.classes.iter().map(|selector| selector.queue.counters())
    }
}
