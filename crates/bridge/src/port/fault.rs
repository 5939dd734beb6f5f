//! Effects of faults on a port: its queues are lost, or it follows a gate control list that is not its own.

use super::{Actions, EgressPort, Window};
use crate::{Frame, Gate, GateControlList};
use tsn_plan::Gates;
use tsn_units::{ClockMap, Instant, Local, True};

/// The gates that a port follows without a fault.
#[derive(Clone, Debug)]
pub(super) struct OwnGates {
    gates: Option<Box<GateControlList>>,
    gated: Vec<bool>,
}

impl OwnGates {
    /// From now on the list follows this clock.
    pub fn set_clock(&mut self, clock: ClockMap<True, Local>) {
        if let Some(list) = &mut self.gates {
            list.set_clock(clock);
        }
    }
}

impl<F: Frame> EgressPort<F> {
    /// The node goes down or comes up: no frame waits or is under way any more. Returns the frames that did.
    #[cold]
    pub fn flush(&mut self, now: Instant) -> Vec<F> {
        let mut lost = Vec::new();
        for (class, selector) in self.classes.iter_mut().enumerate() {
            if let Some(shaper) = &mut selector.shaper {
                let gate = self.gates.as_ref().map_or(Gate::ALWAYS_OPEN, |list| list.gate(class as u8));
                shaper.advance(now, !selector.queue.is_empty(), gate);
            }
            lost.extend(selector.queue.clear());
        }
        lost.extend(self.merge.as_mut().and_then(|merge| merge.clear()));
        lost.extend(self.transmit_buffer.iter_mut().flat_map(|buffer| buffer.clear()));
        if let Some(server) = &mut self.server {
            server.clear();
        }
        if let Some(waits) = &mut self.longest_waits {
            waits.clear();
        }
        self.waiting = 0;
        self.free = self.free.min(now);
        lost
    }

    /// From `now` on the port follows another list (none: all gates are open), by the clock of its node. Requests a wake.
    ///
    /// The port's own list still decides which frames are accepted: a frame that fits no window of the other one waits.
    #[cold]
    pub fn override_gates(
        &mut self,
        now: Instant,
        gates: Option<&Gates>,
        clock: Option<ClockMap<True, Local>>,
        actions: &mut Actions<F>,
    ) {
        *actions = Actions::default();
        let mut list = gates.map(|gates| Box::new(GateControlList::new(gates)));
        if let (Some(list), Some(clock)) = (&mut list, clock) {
            list.set_clock(clock);
        }
        self.advance_shapers(now);
        let gated: Vec<bool> = self.classes.iter().map(|selector| selector.gated).collect();
        let before = std::mem::replace(&mut self.gates, list);
        if self.own.is_none() {
            self.own = Some(Box::new(OwnGates { gates: before, gated }));
        }
        for (class, selector) in self.classes.iter_mut().enumerate() {
            let closes = self.gates.as_ref().is_some_and(|list| !list.gate(class as u8).is_always_open());
            let own = self.own.as_ref().is_some_and(|own| own.gated.get(class) == Some(&true));
            selector.gated = closes || own;
        }
        self.reselect(now, actions);
    }

    /// From `now` on the port follows its own list again. Requests a wake.
    #[cold]
    pub fn restore_gates(&mut self, now: Instant, actions: &mut Actions<F>) {
        *actions = Actions::default();
        let Some(own) = self.own.take() else { return };
        self.advance_shapers(now);
        self.gates = own.gates;
        for (selector, gated) in self.classes.iter_mut().zip(own.gated) {
            selector.gated = gated;
        }
        self.reselect(now, actions);
    }

    /// The gate of the port's own list, even while a fault has replaced it.
    #[inline]
    pub(super) fn own_gate(&self, class: u8) -> Gate<'_> {
        match &self.own {
            None => self.gate(class),
            Some(own) => own.gates.as_ref().map_or(Gate::ALWAYS_OPEN, |list| list.gate(class)),
        }
    }

    fn advance_shapers(&mut self, now: Instant) {
        for (class, selector) in self.classes.iter_mut().enumerate() {
            if let Some(shaper) = &mut selector.shaper {
                let gate = self.gates.as_ref().map_or(Gate::ALWAYS_OPEN, |list| list.gate(class as u8));
                shaper.advance(now, !selector.queue.is_empty(), gate);
            }
        }
    }

    /// Discards the wake requested before, and chooses anew at `now`.
    fn reselect(&mut self, now: Instant, actions: &mut Actions<F>) {
        for selector in &mut self.classes {
            selector.window = Window::NONE;
        }
        self.wake = Instant::MAX;
        self.request_wake(now, actions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Event;
    use tsn_plan::{Class, GateEntry, Port};
    use tsn_units::Octets;

    #[derive(Copy, Clone, Debug, PartialEq, Eq)]
    struct Sized(u32);

    impl Frame for Sized {
        fn octets(&self) -> Octets {
            Octets(self.0)
        }
    }

    fn list(entries: &[(u8, u64)]) -> Gates {
        let entry = |(open, interval_ns): &(u8, u64)| GateEntry {
            open: *open,
            interval_ns: *interval_ns,
            ..GateEntry::default()
        };
        let entries: Vec<_> = entries.iter().map(entry).collect();
        Gates { cycle_ns: entries.iter().map(|entry| entry.interval_ns).sum(), entries, ..Gates::default() }
    }

    fn port(gates: Option<Gates>) -> EgressPort<Sized> {
        EgressPort::new(&plan(gates))
    }

    fn plan(gates: Option<Gates>) -> Port {
        Port { rate_bps: 1_000_000_000, classes: vec![Class::default()], gates, ..Port::default() }
    }

    /// Sends the port the wakes that it requests until `end`; returns when frames start.
    fn starts(port: &mut EgressPort<Sized>, mut actions: Actions<Sized>, end: i64) -> Vec<i64> {
        let (mut wakes, mut found) = (Vec::new(), Vec::new());
        loop {
            wakes.extend(actions.wake);
            found.extend(actions.start.map(|start| (start.first_bit - Instant::EPOCH).floor_ns()));
            wakes.sort_unstable();
            if wakes.first().is_none_or(|at| *at > Instant::from_ns(end)) {
                return found;
            }
            port.handle(wakes.remove(0), Event::Wake, &mut actions);
        }
    }

    #[test]
    fn a_port_obeys_the_wrong_list_for_its_time() {
        let mut port = port(Some(list(&[(1, 50_000), (0, 50_000)])));
        let mut actions = Actions::default();
        let closed = list(&[(0, 100_000)]);
        port.override_gates(Instant::from_ns(0), Some(&closed), None, &mut actions);
        for ns in [10_000, 20_000] {
            let frame = Event::Arrive { class: 0, frame: Sized(1_000), more: false };
            port.handle(Instant::from_ns(ns), frame, &mut actions);
            assert!(actions.start.is_none() && actions.dropped.is_none(), "they wait");
        }
        // The port's own gate is closed at 60 us.
        port.restore_gates(Instant::from_ns(60_000), &mut actions);
        assert_eq!(starts(&mut port, actions, 1_000_000), [100_000, 100_000 + 1_020 * 8]);
    }

    #[test]
    fn a_list_that_is_gone_leaves_gates_open() {
        let mut port = port(Some(list(&[(1, 50_000), (0, 50_000)])));
        let mut actions = Actions::default();
        let frame = Event::Arrive { class: 0, frame: Sized(1_000), more: false };
        port.handle(Instant::from_ns(60_000), frame, &mut actions);
        assert!(actions.start.is_none());
        port.override_gates(Instant::from_ns(70_000), None, None, &mut actions);
        assert_eq!(starts(&mut port, actions, 1_000_000), [70_000]);
    }

    /// Class 0 may send for 50 us of the port's own list, class 1 always.
    #[test]
    fn frames_are_taken_by_the_ports_own_list_and_go_by_the_other() {
        let mut plan =
            Port { classes: vec![Class::default(); 2], ..plan(Some(list(&[(3, 50_000), (2, 50_000)]))) };
        let mut port = EgressPort::new(&plan);
        let mut actions = Actions::default();
        let arrive = |class, octets| Event::Arrive { class, frame: Sized(octets), more: false };
        port.override_gates(Instant::from_ns(0), Some(&list(&[(1, 100_000)])), None, &mut actions);
        port.handle(Instant::from_ns(0), Event::Wake, &mut actions);
        // 8,000 octets take 64 us: more than any window of the port's own list, while the other list never closes.
        port.handle(Instant::from_ns(0), arrive(0, 8_000), &mut actions);
        assert!(actions.dropped.is_some());
        // The other list never opens the gate of class 1.
        port.handle(Instant::from_ns(0), arrive(1, 1_000), &mut actions);
        assert!(actions.start.is_none() && actions.dropped.is_none());
        port.handle(Instant::from_ns(60_000), arrive(0, 1_000), &mut actions);
        assert!(actions.start.is_some(), "its own list would be closed");
        port.restore_gates(Instant::from_ns(70_000), &mut actions);
        assert_eq!(starts(&mut port, actions, 1_000_000), [70_000]);
        // A restored list takes no gate from a class that has none of its own.
        plan.gates = None;
        let mut port = EgressPort::new(&plan);
        port.override_gates(Instant::from_ns(0), None, None, &mut actions);
        port.handle(Instant::from_ns(0), arrive(1, 60_000), &mut actions);
        assert!(actions.dropped.is_none());
    }

    /// The clock is set while the port follows another list: its own list follows the clock afterwards.
    #[test]
    fn a_ports_own_list_keeps_its_clock() {
        let mut port = port(Some(list(&[(1, 50_000), (0, 50_000)])));
        let mut actions = Actions::default();
        port.override_gates(Instant::from_ns(0), Some(&list(&[(0, 100_000)])), None, &mut actions);
        let ahead = ClockMap::new(Instant::EPOCH, Instant::from_ns(7_000), tsn_units::Frequency::NOMINAL);
        port.set_gate_clock(Instant::from_ns(10_000), ahead, &mut actions);
        let frame = Event::Arrive { class: 0, frame: Sized(1_000), more: false };
        port.handle(Instant::from_ns(20_000), frame, &mut actions);
        port.restore_gates(Instant::from_ns(60_000), &mut actions);
        assert_eq!(starts(&mut port, actions, 1_000_000), [93_000]);
    }

    /// The wrong list is the own one, 7 us ahead: the gate opens at 93 us.
    #[test]
    fn another_list_goes_by_the_clock_of_the_node() {
        let own = list(&[(1, 50_000), (0, 50_000)]);
        let mut port = port(Some(own.clone()));
        let mut actions = Actions::default();
        let ahead = ClockMap::new(Instant::EPOCH, Instant::from_ns(7_000), tsn_units::Frequency::NOMINAL);
        let frame = Event::Arrive { class: 0, frame: Sized(1_000), more: false };
        port.handle(Instant::from_ns(60_000), frame, &mut actions);
        port.override_gates(Instant::from_ns(70_000), Some(&own), Some(ahead), &mut actions);
        assert_eq!(starts(&mut port, actions, 1_000_000), [93_000]);
    }

    /// Credit follows the list that was in force: 250 bit/us are frozen from 8 us on, when the wrong list closes.
    #[test]
    fn credit_is_by_the_list_in_force() {
        let cbs = tsn_plan::Cbs {
            idle_slope_bps: 250_000_000,
            send_slope_bps: -750_000_000,
            hi_credit_bits: 10_000,
            lo_credit_bits: -10_000,
            ..tsn_plan::Cbs::default()
        };
        let plan = Port { classes: vec![Class { cbs: Some(cbs), ..Class::default() }], ..plan(None) };
        let mut port = EgressPort::new(&plan);
        let mut actions = Actions::default();
        let arrive = |octets| Event::Arrive { class: 0, frame: Sized(octets), more: false };
        // 980 octets and 20: 8 us, and 6,000 bit.
        port.handle(Instant::from_ns(0), arrive(980), &mut actions);
        let bits = |port: &EgressPort<Sized>, ns| {
            port.credit(0, Instant::from_ns(ns)).map(|credit| credit / 1_000_000_000_000)
        };
        port.override_gates(Instant::from_ns(12_000), Some(&list(&[(0, 100_000)])), None, &mut actions);
        assert_eq!(bits(&port, 12_000), Some(-5_000));
        assert_eq!(bits(&port, 20_000), Some(-5_000));
        port.restore_gates(Instant::from_ns(20_000), &mut actions);
        assert_eq!(bits(&port, 24_000), Some(-4_000));
        // While a frame waits, credit rises above zero; otherwise it does not.
        for (waits, credit) in [(true, 1_000), (false, 0)] {
            let mut port = EgressPort::new(&plan);
            port.handle(Instant::from_ns(0), arrive(980), &mut actions);
            port.override_gates(Instant::from_ns(8_000), Some(&list(&[(0, 100_000)])), None, &mut actions);
            port.restore_gates(Instant::from_ns(8_000), &mut actions);
            if waits {
                port.handle(Instant::from_ns(9_000), arrive(980), &mut actions);
            }
            port.override_gates(Instant::from_ns(36_000), None, None, &mut actions);
            assert_eq!(bits(&port, 36_000), Some(credit), "{waits}");
        }
    }

    #[test]
    fn what_is_flushed_is_given_back_and_the_medium_is_free() {
        let mut port = port(None);
        let mut actions = Actions::default();
        for octets in [1_000, 64, 65] {
            let frame = Event::Arrive { class: 0, frame: Sized(octets), more: false };
            port.handle(Instant::from_ns(0), frame, &mut actions);
        }
        assert_eq!(port.flush(Instant::from_ns(100)), [Sized(64), Sized(65)]);
        assert_eq!(port.queued(), 0);
        let frame = Event::Arrive { class: 0, frame: Sized(99), more: false };
        port.handle(Instant::from_ns(200), frame, &mut actions);
        assert_eq!(actions.start.map(|start| start.first_bit), Some(Instant::from_ns(200)));
    }
}
