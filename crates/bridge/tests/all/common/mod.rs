//! Drives a port's machine with arrivals and its own wakes, for all tests of the crate.

use std::iter::Peekable;

use tsn_bridge::{Actions, EgressPort, Event, Frame};
use tsn_plan::Port;
use tsn_units::{Instant, Octets};

#[derive(Copy, Clone, Debug)]
pub struct Packet {
    pub number: usize,
    pub octets: u32,
}

impl Frame for Packet {
    fn octets(&self) -> Octets {
        Octets(self.octets)
    }
}

/// (ns, class, octets), in order of time.
pub type Arrivals = Vec<(i64, u8, u32)>;

/// Runs the machine until `until` ns; `look` gets its actions at every instant. Returns the machine in its
/// last state.
pub fn drive(
    port: &Port,
    arrivals: &Arrivals,
    until: i64,
    mut look: impl FnMut(i64, &Actions<Packet>),
) -> EgressPort<Packet> {
    let mut machine: EgressPort<Packet> = EgressPort::new(port);
    let mut wakes: Vec<i64> = Vec::new();
    let mut arrivals: Peekable<_> = arrivals.iter().enumerate().peekable();
    let mut actions = Actions::default();
    loop {
        let wake = wakes.iter().copied().min();
        let arrival = arrivals.peek().map(|(_, (at, ..))| *at);
        let (now, event) = match (arrival, wake) {
            (Some(at), wake) if wake.is_none_or(|wake| at <= wake) => {
                let (number, (_, class, octets)) = arrivals.next().unwrap();
                let more = arrivals.peek().is_some_and(|(_, (next, ..))| *next == at);
                (at, Event::Arrive { class: *class, frame: Packet { number, octets: *octets }, more })
            }
            (_, Some(wake)) => {
                wakes.retain(|other| *other != wake);
                (wake, Event::Wake)
            }
            (_, None) => return machine,
        };
        if now > until {
            return machine;
        }
        machine.handle(Instant::from_ns(now), event, &mut actions);
        look(now, &actions);
        if let Some(wake) = actions.wake {
            assert_eq!(wake.ps() % 1_000, 0, "everything here falls on a nanosecond");
            assert!(wake.ps() / 1_000 >= now);
            wakes.push(wake.ps() / 1_000);
        }
    }
}
