//! One class of a port under analysis, and the port's properties that the analysis needs.

use crate::curve::{BIT, Curve, Data, Ps, Rate, ps};
use crate::model::flow_hop::FlowHop;
use crate::model::gate_clock::GateClock;
use crate::model::lists::{Later, Several};
use crate::model::openings::{Openings, Window, covered};
use crate::model::processing::Processing;
use crate::model::sizes::{until_last_bit, wire};
use crate::reason::Reason;
use crate::service::cbs::Credit;
use crate::service::higher_priority::Higher;
use crate::service::preemption;
use tsn_plan::{Gates, Plan, Port, Server};
use tsn_units::{BitRate, INTER_FRAME_GAP, Octets, wire_time};

/// The properties of a port that its analysis needs.
#[derive(Clone, Debug)]
pub(crate) struct Model<'a> {
    pub port: &'a Port,
    /// A rate in bit/s at which data never exceeds its time on the wire: below the nominal one if an octet is not a
    /// whole number of ps, as every frame's time is rounded up.
    pub rate: Rate,
    /// By class, when its gate may be open.
    pub openings: Vec<Option<Openings>>,
    /// By class, when its gate is open for certain: the same, unless the gates follow a clock.
    pub certain: Vec<Option<Openings>>,
    /// When preemptable frames may not be held; none if this is not covered.
    pub released: Option<Openings>,
    /// When preemptable frames are certainly not held.
    pub certainly_released: Option<Openings>,
    /// The clock that the gates follow, if that is not true time.
    pub clock: Option<GateClock>,
    /// The time from the last bit in until a frame is in a queue.
    pub processing: Processing,
    /// The flows here, by class.
    pub flows: Vec<Vec<usize>>,
    /// The length of the run, if clocks drift or the times of frames are rounded up.
    pub run: Option<Ps>,
    /// What its list stands for, if several lists follow each other.
    pub several: Option<Several>,
    /// Whether frames may still be on the link when their gate closes.
    pub overruns: bool,
    /// Whether another list was in force before, or comes: gates that were closed may have delayed any class.
    pub changes: bool,
    /// If lists change: bit n is set if none closes the gate of class n, or sets its idle slope.
    pub open: u8,
    /// Bit n: the results of class n are not needed.
    pub left_out: u8,
    /// The server in place of strict priority, if the port has one.
    pub server: Option<Server>,
    /// Frames of the transmit buffer, with the one that is sent.
    pub buffer: u32,
    /// Whether its queues share memory with those of other ports, which may let them exceed their limits.
    pub shares_memory: bool,
}

impl<'a> Model<'a> {
    pub fn new(plan: &Plan, port: &'a Port, openings: Vec<Option<Openings>>) -> Self {
        let flows = vec![Vec::new(); port.classes.len()];
        let released = Openings::released(covered(port), port.preemption.as_ref());
        let gates = port.gates.as_ref();
        let clock = gates.and_then(|_| GateClock::of(plan, port.node));
        let holds = gates.is_some_and(Gates::holds);
        let times = |found: &Openings, late: Ps| match &clock {
            None => [found.clone(), found.clone()],
            Some(clock) => [clock.possible(found, late), clock.certain(found, late, holds)],
        };
        let of = |found: Option<Openings>| found.map_or([None, None], |found| times(&found, 0).map(Some));
        let (openings, certain) = openings.into_iter().map(of).map(|[a, b]| (a, b)).unzip();
        let late = clock.map_or(0, |clock| clock.late(advance(port)));
        let [released, certainly_released] =
            released.map_or([None, None], |found| times(&found, late).map(Some));
        Self {
            port,
            rate: sure_rate(port.server.map_or(port.rate_bps, |server| server.rate_bps)),
            openings,
            certain,
            released,
            certainly_released,
            clock,
            processing: Processing::of(&plan.nodes[port.node as usize]),
            flows,
            run: (plan.clocks.is_some() || rounded(port))
                .then(|| ps(plan.duration_ns.saturating_add(plan.drain_ns))),
            several: None,
            overruns: port.gates.as_ref().is_some_and(|gates| gates.unguarded),
            changes: false,
            open: 0,
            left_out: 0,
            server: port.server,
            buffer: port.transmit_buffer.unwrap_or(1),
            shares_memory: plan.nodes[port.node as usize].buffer.is_some(),
        }
    }

    /// The same port in the time of one of its lists and of those that follow.
    pub fn later(&self, plan: &Plan, later: &'a Later) -> Self {
        let count = later.port.classes.len();
        let openings = (0..count).map(|class| Openings::of(later.port.gates.as_ref(), class as u8)).collect();
        let mut model = Self::new(plan, &later.port, openings);
        if let Some(gates) = &later.possible {
            let open = |class: usize| Openings::of(Some(gates), class as u8);
            let by_clock = |own: Openings| model.clock.map_or(own.clone(), |clock| clock.possible(&own, 0));
            model.openings = (0..count).map(|class| open(class).map(by_clock)).collect();
        }
        let on_clock = |several: Several| match &model.clock {
            None => several,
            Some(clock) => Several {
                begins: clock.stretched(several.begins + 2 * clock.apart()),
                trusted: clock.within(several.trusted),
                ..several
            },
        };
        Self {
            flows: self.flows.clone(),
            several: later.several.clone().map(on_clock),
            overruns: later.overruns,
            changes: true,
            open: later.open,
            ..model
        }
    }

    /// The same port with gates in true time.
    pub fn without_clock(&self) -> Self {
        let (gates, classes) = (self.port.gates.as_ref(), 0..self.port.classes.len());
        let openings: Vec<_> = classes.map(|class| Openings::of(gates, class as u8)).collect();
        let released = Openings::released(covered(self.port), self.port.preemption.as_ref());
        Self {
            certain: openings.clone(),
            openings,
            certainly_released: released.clone(),
            released,
            clock: None,
            ..self.clone()
        }
    }

    /// How much longer than a gate is open a frame of so many octets may be on the link, with its gap.
    pub fn slip(&self, octets: u32) -> Ps {
        self.clock.map_or(0, |clock| clock.slip(self.occupied(octets)))
    }

    /// The part of a window that its largest frame needs at the end, if it takes so long.
    pub fn needs(&self, takes: Ps) -> Ps {
        self.clock.map_or(takes, |clock| clock.needs(takes))
    }

    /// How much later than it is here a hold, and the end of a window, may be, compared with each other.
    pub fn uncertain(&self, cycle: Ps) -> (Ps, Ps) {
        let Some(clock) = &self.clock else { return (0, 0) };
        let late = 2 * clock.late(advance(self.port));
        (late, late + 2 * (clock.denser(cycle) - cycle))
    }

    /// Whether an octet is not a whole number of ps.
    pub fn rounded(&self) -> bool {
        rounded(self.port)
    }

    pub fn occupied(&self, octets: u32) -> Ps {
        let rate_bps = self.server.map_or(self.port.rate_bps, |server| server.rate_bps);
        wire_time(Octets(octets), BitRate(rate_bps)).ps()
    }

    /// Time from the start of a frame until its last bit has left. A server may take all of this time, whatever the
    /// link does.
    pub fn until_last_bit(&self, octets: u32) -> Ps {
        let left = until_last_bit(octets, self.port);
        if self.server.is_some() { self.occupied(octets).max(left) } else { left }
    }

    pub fn gap(&self) -> Ps {
        BitRate(self.port.rate_bps).time(INTER_FRAME_GAP).ps()
    }
}

/// Whether an octet is not a whole number of ps.
fn rounded(port: &Port) -> bool {
    8_000_000_000_000 % port.rate_bps.max(1) != 0
}

/// The longer of the times by which holds and releases act before their entries.
fn advance(port: &Port) -> Ps {
    port.preemption.as_ref().map_or(0, |own| ps(own.hold_advance_ns.max(own.release_advance_ns)))
}

/// The largest rate at which the smallest frame's data take no less than its rounded time.
fn sure_rate(rate_bps: u64) -> Rate {
    let rate = Rate::try_from(rate_bps).unwrap_or(Rate::MAX);
    if 8_000_000_000_000 % rate_bps.max(1) == 0 {
        return rate;
    }
    let smallest = wire(64);
    Rate::try_from(smallest * Data::from(rate) / (smallest + Data::from(rate))).unwrap_or(rate)
}

/// One class under analysis.
pub(crate) struct Class<'a> {
    pub model: &'a Model<'a>,
    pub number: u8,
    pub hops: Vec<&'a FlowHop>,
    pub smallest: u32,
    pub largest: u32,
    pub grain: Data,
    /// The longest time that a class of lower precedence occupies the link when this one could start.
    pub lower: u32,
    /// The largest frame of any class of the port.
    pub any: u32,
    /// Classes with flows of lower precedence.
    pub behind: Vec<Behind>,
    /// Classes of higher precedence: higher ones; with pre-emption all express ones, if this one is not.
    pub above: &'a [Higher],
    /// Whether the port has pre-emption, and the class is not express.
    pub preemptable: bool,
    /// Whether express frames cut frames of this class, or of those of lower precedence.
    pub interrupted: bool,
    /// Whether all frames of the port come over one link, no closer than the port sends them.
    pub over_one_link: bool,
    pub horizon: Ps,
}

/// A class of lower precedence than another one.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Behind {
    pub class: u8,
    /// The longest frame that occupies the link.
    pub octets: u32,
    /// Whether it may be on the link while its gate is closed: interrupted frames continue when they can.
    pub runs_on: bool,
}

impl Class<'_> {
    /// The longest time of a frame in the queue; none without such a time. IEEE 802.1Q-2022, 8.6.7.
    pub fn longest_wait(&self) -> Option<Ps> {
        self.model.port.classes[usize::from(self.number)].longest_wait_ns.map(ps)
    }

    /// When a frame begins to leave that waits for the longest time; none where it may wait in a transmit buffer, too.
    pub fn latest_start(&self) -> Option<Ps> {
        self.longest_wait().filter(|_| self.model.buffer == 1)
    }

    /// A wait for the begin of a transmission: frames that wait for longer than the longest time are dropped.
    pub fn of_sent(&self, wait: Result<Ps, Reason>) -> Result<Ps, Reason> {
        match self.latest_start() {
            Some(most) => Ok(wait.map_or(most, |wait| wait.min(most))),
            None => wait,
        }
    }

    /// When the gate of the class is open for certain.
    pub fn openings(&self) -> Result<&Openings, Reason> {
        self.model.certain[usize::from(self.number)].as_ref().ok_or(Reason::TooLarge)
    }

    /// What may go first when a frame of the class begins to wait, although it is of a lower class or was selected
    /// before: the largest lower frame, behind others in the transmit buffer; 0 without a lower frame. What a server
    /// could have served in its latency counts as well. Over one link, a lower frame came before the first one to wait.
    pub fn lower_data(&self) -> Data {
        if self.crowded() {
            let selected = if self.shaped() { 1 } else { self.model.buffer };
            return Data::from(selected) * wire(self.any) + self.replaced();
        }
        let selected = Data::from(self.model.buffer - 1) * wire(self.any);
        let mut lower = if self.lower == 0 { 0 } else { wire(self.lower) + selected };
        if self.over_one_link {
            // While the first frame to wait was on that link, the port has sent as much of those before.
            let first = self.above.iter().fold(self.smallest, |least, higher| least.min(higher.smallest));
            lower = lower.min(wire(self.any) - wire(first));
        }
        lower
            + self.replaced()
            + self.model.server.map_or(0, |own| Data::from(self.model.rate) * Data::from(ps(own.latency_ns)))
    }

    /// The frame that may be on the link once because it began by another list, whatever the gates are.
    pub fn replaced(&self) -> Data {
        let meets = self.model.port.gates.as_ref().is_some_and(|own| own.replaced >> self.number & 1 == 1);
        if meets { wire(self.any) } else { 0 }
    }

    /// What the transmit buffer and the link may hold at most: data, and the time that it needs.
    pub fn buffered(&self) -> Option<(Data, Ps)> {
        let frames = self.model.buffer;
        let time = self.model.occupied(self.any).saturating_mul(Ps::from(frames));
        (frames > 1).then(|| (Data::from(frames) * wire(self.any), time))
    }

    /// Whether there are shapers in front of a transmit buffer: any frame may be in it when a class begins to wait, and
    /// lower ones may be selected while the class has no credit, or sends.
    pub fn crowded(&self) -> bool {
        self.model.buffer > 1 && self.model.port.classes.iter().any(|class| class.cbs.is_some())
    }

    /// How long a frame that gates or a shaper let pass still waits in the transmit buffer.
    pub fn after_selection(&self) -> Ps {
        let frames = Ps::from(self.model.buffer - 1);
        if self.gated() || self.shaped() { self.model.occupied(self.any).saturating_mul(frames) } else { 0 }
    }

    /// Whether frames of a class of higher precedence interrupt frames of this class or of lower ones.
    pub fn cut_by(&self, higher: &Higher) -> bool {
        self.interrupted && higher.express
    }

    /// The cost of `sent`, of a class of higher precedence, for this class.
    pub fn cost(&self, higher: &Higher, sent: Curve) -> Curve {
        if self.cut_by(higher) {
            return preemption::with_continuations(&sent, higher.smallest);
        }
        if !(self.crowded() && self.shaped()) {
            return sent;
        }
        let selected = self.departures(&sent, higher.smallest);
        if higher.shaper.is_some() { selected.add(&sent) } else { selected }
    }

    /// The time of the transmit buffer's frames that leave when one of these frames is selected, as data.
    pub fn departures(&self, selected: &Curve, smallest: u32) -> Curve {
        selected.part(wire(self.any) / BIT, wire(smallest) / BIT)
    }

    /// The class above that may use most of the link in the long run; none if all classes above use nothing.
    pub fn busiest_above(&self) -> Option<&Higher> {
        let rate =
            |higher: &&Higher| higher.any_time(self.model.rate).map_or(Rate::MAX, |sent| sent.tail().slope);
        self.above.iter().filter(|higher| rate(higher) > 0).max_by_key(rate)
    }

    /// The class's shaper.
    pub fn credit(&self) -> Option<Credit> {
        let cbs = self.model.port.classes[usize::from(self.number)].cbs.as_ref()?;
        let several = self.model.several.as_ref();
        let slopes =
            several.map(|several| several.slopes(self.number, cbs.idle_slope_bps)).unwrap_or_default();
        let beside = self.crowded().then(|| (wire(self.smallest), wire(self.any)));
        Some(Credit::of(cbs, self.model.occupied(self.largest), slopes, beside))
    }

    /// Whether the class has a credit-based shaper.
    pub fn shaped(&self) -> bool {
        self.model.port.classes[usize::from(self.number)].cbs.is_some()
    }

    /// When the frames of the class are not held: none if a gate entry never holds them.
    pub fn held(&self) -> Option<(Ps, &[Window])> {
        match &self.model.certainly_released {
            Some(Openings::Windows { cycle, windows }) if self.preemptable => Some((*cycle, windows)),
            _ => None,
        }
    }

    /// Whether frames may start as long as their gate is open.
    pub fn unguarded(&self) -> bool {
        self.model.port.gates.as_ref().is_some_and(|gates| gates.unguarded)
    }

    /// Whether lists that change can delay this class or a higher one.
    pub fn changes(&self) -> bool {
        let closes = |class: u8| self.model.open >> class & 1 == 0;
        self.model.changes
            && (self.held().is_some()
                || closes(self.number)
                || self.above.iter().any(|higher| closes(higher.class)))
    }

    /// Whether the class waits for no longer than what is left of several lists stands for.
    pub fn trusts(&self, busy: Ps) -> bool {
        self.model.several.as_ref().is_none_or(|several| busy <= several.trusted) || !self.changes()
    }

    /// Whether gates can delay this class or a higher one.
    pub fn gated(&self) -> bool {
        let closes = |class: u8| {
            self.model.certain[usize::from(class)].as_ref().is_none_or(|openings| !openings.always())
        };
        self.changes()
            || self.held().is_some()
            || closes(self.number)
            || self.above.iter().any(|higher| closes(higher.class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsn_plan::{ClockFault, Clocks, GateEntry, MacOperation, Node, NodeClock, Preemption};

    const US: Ps = 1_000_000;

    /// One node, whose clock deviates by 100 ppm, and is at most 3 us from a steady time; none without clocks.
    fn plan(with_clock: bool) -> Plan {
        let clocks = Clocks {
            nodes: vec![NodeClock { deviation_ppt: 100_000_000, ..NodeClock::default() }],
            record_ns: 1,
            within_ns: Some(10_000),
            gptp: None,
            faults: vec![ClockFault::ClockStep { node: 0, at_ns: 1_000, by_ns: 6_000 }],
        };
        Plan { nodes: vec![Node::default()], clocks: with_clock.then_some(clocks), ..Plan::default() }
    }

    /// Gates of class 0 open for 60 us of 100 us; then held for 30 us. Holds act 1 us earlier, releases 0.5 us.
    fn port() -> Port {
        let entry = |open: u8, us: u64, mac: MacOperation| GateEntry {
            open,
            interval_ns: 1_000 * us,
            mac: Some(mac),
        };
        let entries = vec![
            entry(1, 60, MacOperation::Release),
            entry(2, 30, MacOperation::Hold),
            entry(3, 10, MacOperation::Release),
        ];
        Port {
            rate_bps: 1_000_000_000,
            classes: vec![tsn_plan::Class::default(), tsn_plan::Class::default()],
            gates: Some(Gates { cycle_ns: 100_000, entries, ..Gates::default() }),
            preemption: Some(Preemption { express: 2, hold_advance_ns: 1_000, release_advance_ns: 500 }),
            ..Port::default()
        }
    }

    fn model<'a>(plan: &Plan, port: &'a Port) -> Model<'a> {
        let classes = 0..port.classes.len() as u8;
        Model::new(plan, port, classes.map(|class| Openings::of(port.gates.as_ref(), class)).collect())
    }

    #[test]
    fn without_its_clock_a_port_is_that_of_a_plan_without_clocks() {
        let port = port();
        let windows = |model: &Model<'_>| {
            let all = [&model.openings[..], &model.certain].concat();
            (all, model.released.clone(), model.certainly_released.clone(), model.clock)
        };
        let (on_clock, true_time) = (model(&plan(true), &port), model(&plan(false), &port));
        assert_eq!(windows(&on_clock.without_clock()), windows(&true_time));
        // The clock changes each of them.
        let (own, other) = (windows(&on_clock), windows(&true_time));
        assert!(own.0.iter().zip(&other.0).all(|(own, other)| own != other));
        assert!(own.1 != other.1 && own.2 != other.2 && own.3 != other.3);
    }

    /// Holds act 1 us early: 100 ppm of that and 5 ps, twice. In a cycle of 100 us windows pass by 200 ppm denser.
    #[test]
    fn holds_and_windows_are_apart_by_what_the_clock_deviates() {
        let port = port();
        let cycle = 2 * (20_003 + 4);
        assert_eq!(model(&plan(true), &port).uncertain(100 * US), (2 * (101 + 4), 2 * (101 + 4) + cycle));
        assert_eq!(model(&plan(false), &port).uncertain(100 * US), (0, 0));
    }

    /// By a clock within 3 us waiting may begin up to 6 us later, and 100 ppm; and 100 ppm and 6 us less are trusted.
    #[test]
    fn lists_that_follow_each_other_are_stretched_by_the_clock() {
        let several = Several { begins: 1_000 * US, trusted: 2_000 * US, slopes: vec![(7, Vec::new())] };
        let later = Later {
            port: port(),
            possible: None,
            from: 0,
            several: Some(several.clone()),
            overruns: false,
            open: 0,
        };
        let of = |plan: &Plan| model(plan, &later.port).later(plan, &later).several.unwrap();
        let on_clock = Several {
            begins: 1_006 * US + 100_611,
            trusted: 2_000 * US - 200_021 - 6 * US - 4,
            ..several.clone()
        };
        assert_eq!(of(&plan(true)), on_clock);
        assert_eq!(of(&plan(false)), several);
    }

    fn class<'a>(model: &'a Model<'a>, above: &'a [Higher]) -> Class<'a> {
        Class {
            model,
            number: 0,
            hops: Vec::new(),
            smallest: 64,
            largest: 500,
            grain: 1,
            lower: 0,
            any: 1_980,
            behind: Vec::new(),
            above,
            preemptable: false,
            interrupted: false,
            over_one_link: false,
            horizon: US,
        }
    }

    /// Each selected frame of 100 octets on the link makes room for one of 2,000 in the transmit buffer.
    #[test]
    fn a_selected_frame_lets_a_largest_one_leave_the_transmit_buffer() {
        let port = port();
        let model = model(&plan(false), &port);
        let departures = class(&model, &[]).departures(&Curve::affine(1_000, 3), 80);
        assert_eq!(departures, Curve::affine(20_000, 60));
    }

    /// A class above that sends nothing in the long run keeps nobody from sending; one without a limit does most.
    #[test]
    fn the_busiest_class_above_sends_something_in_the_long_run() {
        let port = port();
        let model = model(&plan(false), &port);
        let higher = |class: u8, slope: Option<Rate>| Higher {
            class,
            smallest: 64,
            largest: 64,
            express: true,
            arrivals: slope.map(|slope| Curve::affine(1_000, slope)),
            until_free: Some(0),
            unbounded: None,
            in_turns: None,
            shaper: None,
            openings: Openings::Always,
        };
        let busiest = |above: &[Higher]| class(&model, above).busiest_above().map(|higher| higher.class);
        assert_eq!(busiest(&[higher(1, Some(0))]), None);
        assert_eq!(busiest(&[higher(1, Some(2)), higher(2, Some(7)), higher(3, Some(5))]), Some(2));
        assert_eq!(busiest(&[higher(1, Some(2)), higher(2, None)]), Some(2));
    }

    #[test]
    fn a_rate_of_whole_picoseconds_is_its_own() {
        for rate_bps in
            [10_000_000, 100_000_000, 1_000_000_000, 2_500_000_000, 10_000_000_000, 400_000_000_000]
        {
            assert_eq!(sure_rate(rate_bps), rate_bps as Rate);
        }
    }

    /// 84 octets, 672 bit, may take a picosecond more than they should: 672 bit / (672 bit / rate + 1 ps).
    #[test]
    fn where_an_octet_is_no_whole_number_of_picoseconds_the_rate_is_below_the_nominal_one() {
        // 224,000 ps and one more; 72,303.2 ps and one more; 96 ms and one more.
        for (rate_bps, sure) in
            [(3_000_000_000, 2_999_986_607), (9_294_196_000, 9_294_067_457), (7_000, 6_999)]
        {
            assert_eq!(sure_rate(rate_bps), sure, "{rate_bps}");
        }
    }

    /// The purpose of the rate: no frame's time, as ports count it, carries more at it than the frame has.
    #[test]
    fn no_time_on_the_wire_carries_more_than_the_frame() {
        for rate_bps in [3_000_000_000, 9_294_196_000, 7_000_000, 1_234_567_891] {
            let (sure, nominal) = (Data::from(sure_rate(rate_bps)), Data::from(rate_bps));
            let time = |octets: u32| Data::from(wire_time(Octets(octets), BitRate(rate_bps)).ps());
            assert!((64..2_000).all(|octets| time(octets) * sure <= wire(octets)), "{rate_bps}");
            assert!((64..2_000).any(|octets| time(octets) * nominal > wire(octets)), "{rate_bps}");
        }
    }
}
