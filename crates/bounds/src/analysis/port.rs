//! One port: its classes from the highest to the lowest, each with arrivals, service, delays and backlog.
//!
//! IEEE 802.1Q-2022, 8.6.8.

use crate::analysis::aggregate::{Upstream, frames, incoming};
use crate::analysis::cqf;
use crate::analysis::delay_and_backlog::DelayAndBacklog;
use crate::analysis::full_queue::Full;
use crate::analysis::scheduled_arrivals;
use crate::curve::LONGEST;
use crate::curve::arrival::{self as arrivals, Stair};
use crate::curve::{Curve, Data, Ps, Rate};
use crate::model::flow_hop::FlowHop;
use crate::model::openings::Openings;
use crate::model::sizes::{until_last_bit, wire};
use crate::model::stream_gates::Turn;
use crate::reason::Reason;
use crate::service::cbs::Credit;
use crate::service::class::{Behind, Class, Model};
use crate::service::higher_priority::Higher;
use crate::service::preemption::{self, is_express};
use crate::service::{Served, held};
use std::cell::{LazyCell, RefCell};
use std::collections::HashMap;

/// The results of one class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClassResult {
    /// The largest amount of data that waits.
    pub backlog: Result<Data, Reason>,
    /// The arrivals at the other end within any span of time, if a shaper limits them.
    pub shape: Option<Curve>,
    /// The highest credit that the shaper gathers without a limit.
    pub gathered: Option<Data>,
    /// Time from a frame's arrival until it has left the link, if it is bounded.
    pub until_free: Option<Ps>,
    /// A rate, and the data that are missing to it, of the service from any moment on at which waiting may begin; none
    /// if it depends on gates, or if frames are interrupted.
    pub guaranteed: Option<(Rate, Data)>,
    /// What goes before its frames, if only priority decides that.
    pub priority: Option<Priority>,
    /// Why a frame may wait for the longest time of the queue; none if no frame does, or if there is no such time.
    pub exceeded: Option<Reason>,
}

/// A class without a shaper, below others without one: from any moment on at which waiting may begin, the link sends a
/// lower frame first, and then only frames of this class and of those above.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Priority {
    pub rate: Rate,
    pub lower: Data,
    /// The numbers of the classes above.
    pub above: Vec<u8>,
}

/// The results of one port.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PortResult {
    /// The delay of every flow, from its queue until its last bit has left.
    pub delays: Vec<(usize, Result<Ps, Reason>)>,
    /// For flows whose frames can be interrupted here: the time from the first bit to the departure of the last one.
    pub passing: Vec<(usize, Result<Ps, Reason>)>,
    /// For flows of which every window sends all turns that wait for it: when they leave.
    pub sent: Vec<(usize, Vec<Turn>)>,
    /// The results by class; none for a class without flows.
    pub classes: Vec<Option<ClassResult>>,
}

impl PortResult {
    /// Whether there are reasons, which name other streams and ports.
    pub fn has_reasons(&self) -> bool {
        let class = |class: &ClassResult| class.backlog.is_err() || class.exceeded.is_some();
        self.delays.iter().chain(&self.passing).any(|(_, delay)| delay.is_err())
            || self.classes.iter().flatten().any(class)
    }

    /// The same with other numbers of hops.
    pub fn renumbered(mut self, number: impl Fn(usize) -> Option<usize>) -> Option<Self> {
        for (hop, _) in self.delays.iter_mut().chain(&mut self.passing) {
            *hop = number(*hop)?;
        }
        for (hop, _) in &mut self.sent {
            *hop = number(*hop)?;
        }
        Some(self)
    }
}

/// Analyses a port with the arrivals as they stand in `hops`; `earlier`: by class, what was found for a time before
/// that of `model`, from which its frames may still wait.
pub(crate) fn analyse(
    model: &Model<'_>,
    hops: &[FlowHop],
    upstream: &dyn Upstream,
    earlier: &[Option<ClassResult>],
) -> PortResult {
    let count = model.flows.len();
    let mut result = PortResult { classes: vec![None; count], ..PortResult::default() };
    let mut above: Vec<Higher> = Vec::new();
    let here = |class: usize| model.flows[class].iter().map(|hop| &hops[*hop]).collect::<Vec<_>>();
    let used: Vec<(u8, u32)> =
        (0..count).filter_map(|class| Some((class as u8, frames(&here(class))?.1))).collect();
    let horizon = horizon(model, hops);
    let over_one_link = upstream.over_one_link(model);
    let express = |class: u8| is_express(model.port.preemption.as_ref(), class);
    let cut = used.iter().any(|(class, octets)| !express(*class) && preemption::can_be_cut(*octets));
    // Express classes are sent before all others, whatever their numbers.
    let mut order: Vec<usize> = (0..count).rev().collect();
    order.sort_by_key(|class| !express(*class as u8));
    for number in order {
        let members = here(number);
        for (hop, member) in model.flows[number].iter().zip(&members) {
            if member.sizes.is_none() {
                result.delays.push((*hop, Err(member.dropped())));
            }
        }
        let needed = model.left_out >> number & 1 == 0;
        let Some((smallest, largest, grain)) = frames(&members).filter(|_| needed) else { continue };
        let preemptable = !express(number as u8);
        let behind: Vec<Behind> = used
            .iter()
            .filter(|(class, _)| (express(*class), usize::from(*class)) < (!preemptable, number))
            .map(|(class, octets)| Behind {
                class: *class,
                octets: if preemptable || express(*class) { *octets } else { preemption::uncut(*octets) },
                runs_on: !express(*class),
            })
            .collect();
        let class = Class {
            model,
            number: number as u8,
            hops: members,
            smallest,
            largest,
            grain: Data::from(grain) * 8 * crate::curve::BIT,
            any: used.iter().map(|(_, octets)| *octets).max().unwrap_or(0),
            lower: behind.iter().map(|behind| behind.octets).max().unwrap_or(0),
            behind,
            above: &above,
            preemptable,
            interrupted: preemptable && cut,
            over_one_link,
            horizon,
        };
        let (outcome, mut higher) = analyse_class(&class, hops, &mut result, upstream);
        if let Some(Some(earlier)) = earlier.get(number) {
            higher.until_free = higher.until_free.zip(earlier.until_free).map(|(now, then)| now.max(then));
            higher.unbounded = higher
                .unbounded
                .or_else(|| earlier.backlog.clone().err().filter(|_| earlier.until_free.is_none()));
            if let Some((credit, most)) = &mut higher.shaper {
                *most = earlier.gathered.map_or(credit.highest, |then| then.min(credit.highest).max(*most));
            }
        }
        above.push(higher);
        result.classes[number] = Some(outcome);
    }
    result
}

/// The longest wait of a class's frame if the gates of its port followed true time.
fn wait_without_clock(
    class: &Class<'_>,
    credit: Option<&Credit>,
    coming: Result<&(Curve, Rate), Reason>,
    unshaped_above: &dyn Fn() -> Result<Curve, Reason>,
) -> Result<Ps, Reason> {
    let plain = class.model.without_clock();
    let open = |own: &Higher| plain.openings[usize::from(own.class)].clone().unwrap_or(Openings::Always);
    let above = class.above.iter().map(|own| Higher { openings: open(own), ..own.clone() });
    let (above, hops) = (&above.collect::<Vec<_>>()[..], class.hops.clone());
    let class = Class { model: &plain, above, hops, behind: class.behind.clone(), ..*class };
    let services = crate::service::services(&class, credit, unshaped_above).0?;
    let (arrivals, rate) = coming?;
    let occupied = plain.occupied(class.largest);
    DelayAndBacklog::new(arrivals, *rate, &services, occupied, plain.run).max_wait(wire(class.largest))
}

/// Analyses one class: adds its delays to `result`, and returns the results that the lower classes need.
fn analyse_class(
    class: &Class<'_>,
    hops: &[FlowHop],
    result: &mut PortResult,
    upstream: &dyn Upstream,
) -> (ClassResult, Higher) {
    let model = class.model;
    let credit = class.credit();
    let coming = incoming(&class.hops, class.horizon, upstream);
    let unshaped_above = LazyCell::new(|| unshaped_arrivals(class, hops, upstream));
    let unshaped_above = || unshaped_above.clone();
    let (services, gathered) = crate::service::services(class, credit.as_ref(), &unshaped_above);
    let analysis = match (&coming, &services) {
        (Err(hop), _) => Err(upstream.unbounded(hop)),
        (_, Err(reason)) => Err(reason.clone()),
        (Ok((arrivals, rate)), Ok(services)) => {
            let found =
                DelayAndBacklog::new(arrivals, *rate, services, model.occupied(class.largest), model.run);
            let listed = model.several.is_some() && class.changes();
            let trusted = !listed || found.longest_busy().is_some_and(|busy| class.trusts(busy));
            if trusted { Ok(found) } else { Err(Reason::LongWait) }
        }
    };
    // What several lists stand for holds as long as no wait exceeds them.
    let gathered = gathered.filter(|_| model.several.is_none() || !class.changes() || analysis.is_ok());
    let most_credit = credit.as_ref().map(|own| gathered.unwrap_or(own.highest).min(own.highest));
    let without_clock = LazyCell::new(|| {
        model.clock.map(|_| {
            let coming = coming.as_ref().map_err(|hop| upstream.unbounded(hop));
            wait_without_clock(class, credit.as_ref(), coming, &unshaped_above)
        })
    });
    let on_clock = |why| Reason::OnClock { why: Box::new(why) };
    let blamed = |reason: Reason| match (reason, class.busiest_above()) {
        (Reason::Overload { served_bps: 0, .. }, Some(higher)) => {
            let flows = || model.flows[usize::from(higher.class)].iter().map(|hop| &hops[*hop]);
            let free = free(flows(), upstream).next().map(|hop| upstream.unbounded(hop));
            let why = higher.unbounded.clone().or(free).map(Box::new);
            Reason::HigherClass { class: higher.class, why }
        }
        (Reason::Overload { coming_bps, served_bps }, _) => match unlimited(class, upstream, served_bps) {
            Some(why) => why,
            None if matches!(*without_clock, Some(Ok(_))) => {
                on_clock(Reason::Overload { coming_bps, served_bps })
            }
            None => Reason::Overload { coming_bps, served_bps },
        },
        (Reason::NoWindow, _) if !matches!(*without_clock, None | Some(Err(Reason::NoWindow))) => {
            on_clock(Reason::NoWindow)
        }
        (reason, _) => reason,
    };
    let full = Full::of(class, credit.as_ref(), &unshaped_above, &services);
    let full = full.as_ref().map(Full::waits);
    let found_wait = |data: Data| {
        let waits = analysis.as_ref().map_err(Clone::clone).and_then(|found| found.max_wait(data));
        match (waits, full.as_ref().and_then(|full| full.max_wait(data).ok())) {
            (Ok(a), Some(b)) => Ok(a.min(b)),
            (Err(_), Some(wait)) => Ok(wait),
            (waits, None) => waits.map_err(blamed),
        }
    };
    let waits: RefCell<HashMap<Data, Result<Ps, Reason>>> = RefCell::default();
    let wait = |data: Data| waits.borrow_mut().entry(data).or_insert_with(|| found_wait(data)).clone();
    let passing = Passing::of(class);
    let delay = |octets: u32, largest: u32| passing.delay(class, &wait, octets, largest);
    let mut known: HashMap<(u32, u32), Result<Ps, Reason>> = HashMap::new();
    let busy = analysis.as_ref().ok().and_then(DelayAndBacklog::longest_busy);
    let sent = cqf::sent(class);
    let mut in_turns = sent.iter().flat_map(|sent| &sent.flows);
    let mut scheduled = scheduled_arrivals::waits(class, busy).unwrap_or_default().into_iter();
    for (hop, flow) in model.flows[usize::from(class.number)].iter().zip(&class.hops) {
        let turns = in_turns.next();
        result.sent.extend(turns.map(|turns| (*hop, turns.iter().map(|(_, turn)| *turn).collect())));
        let Some(sizes) = flow.sizes else { continue };
        let (smallest, largest) = (sizes.smallest, sizes.largest);
        let mut delay = known.entry((smallest, largest)).or_insert_with(|| delay(smallest, largest)).clone();
        if let Some(wait) = scheduled.next() {
            let timed = wait.saturating_add(until_last_bit(largest, model.port));
            delay = Ok(delay.map_or(timed, |delay| delay.min(timed)));
        }
        if let Some(longest) = turns.and_then(|turns| turns.iter().map(|(longest, _)| *longest).max()) {
            delay = Ok(delay.map_or(longest, |delay| delay.min(longest)));
        }
        delay = delay.and_then(|delay| if class.trusts(delay) { Ok(delay) } else { Err(Reason::LongWait) });
        result.delays.push((*hop, delay));
        if let Passing::Interrupted(express) = &passing {
            result.passing.push((*hop, passing_time(class, express, largest)));
        }
    }
    let backlog = analysis.as_ref().map_err(Clone::clone).and_then(DelayAndBacklog::backlog).map_err(blamed);
    let backlog = match &sent {
        Some(sent) => Ok(backlog.map_or(sent.backlog, |backlog| backlog.min(sent.backlog))),
        None => backlog,
    };
    let until_free = match &passing {
        Passing::Whole => {
            let occupied = model.occupied(class.largest).saturating_add(class.after_selection());
            let waited = class.of_sent(wait(wire(class.smallest)));
            waited.map(|wait| wait.saturating_add(occupied))
        }
        Passing::Interrupted(_) => {
            delay(class.smallest, class.largest).map(|delay| delay.saturating_add(model.gap()))
        }
    };
    let until_free =
        until_free.and_then(|time| if class.trusts(time) { Ok(time) } else { Err(Reason::LongWait) });
    let exceeded = class.longest_wait().and_then(|most| match wait(wire(class.smallest)) {
        Ok(wait) if wait < most && class.trusts(wait) => None,
        Ok(_) => Some(Reason::DelayExceeded),
        Err(reason) => Some(reason),
    });
    drop(analysis);
    let shape = credit.as_ref().zip(most_credit).and_then(|(credit, most)| {
        let rate = Rate::try_from(model.port.rate_bps).ok()?;
        // The first frame of a span may have begun long before, if it was interrupted.
        let begun = if class.interrupted { 2 } else { 1 };
        let arriving = credit.arriving(rate, most, begun * wire(class.largest), model.rounded())?;
        // Frames that were selected wait in the transmit buffer for the link.
        Some(class.buffered().map_or(arriving.clone(), |(_, time)| arriving.ahead(time)))
    });
    let higher = Higher {
        class: class.number,
        smallest: class.smallest,
        largest: class.largest,
        express: !class.preemptable,
        unbounded: coming.as_ref().err().map(|hop| upstream.unbounded(hop)).or(until_free.clone().err()),
        arrivals: coming.ok().map(|(curve, _)| curve),
        until_free: until_free.clone().ok(),
        in_turns: sent.and_then(|sent| arrivals::sum(&sent.on_link, class.horizon)),
        shaper: credit.zip(most_credit),
        openings: model.openings[usize::from(class.number)].clone().unwrap_or(Openings::Always),
    };
    // Frames that are dropped leave without service.
    let whole = !class.gated() && !class.interrupted && class.longest_wait().is_none();
    let plain = services.as_ref().ok().filter(|_| whole);
    let guaranteed = plain.and_then(|services| {
        let found = services
            .iter()
            .filter_map(|moments| if let [Served::Curve(one)] = &moments[..] { one.latency() } else { None });
        found.min_by_key(|(rate, missing)| crate::curve::time_of(*missing, *rate))
    });
    let by_priority = guaranteed.is_some() && credit_free(class);
    let priority = by_priority.then(|| Priority {
        rate: model.rate,
        lower: class.lower_data(),
        above: class.above.iter().map(|higher| higher.class).collect(),
    });
    let until_free = until_free.ok();
    (ClassResult { backlog, shape, gathered, until_free, guaranteed, priority, exceeded }, higher)
}

/// Whether neither a class nor one above has a shaper.
fn credit_free(class: &Class<'_>) -> bool {
    !class.shaped() && class.above.iter().all(|higher| higher.shaper.is_none())
}

/// Why the arrivals of a flow have no limit of their own, if all others together are not too much for the class. What a
/// shaper before this port lets pass counts as too much, unless the flow had no bound before.
fn unlimited(class: &Class<'_>, upstream: &dyn Upstream, served: Rate) -> Option<Reason> {
    let with_frames = || class.hops.iter().filter(|hop| hop.sizes.is_some());
    let known: Vec<Stair> = with_frames().filter_map(|hop| hop.queued()).flatten().collect();
    if arrivals::rate(&known) > served {
        return None;
    }
    let free = with_frames().filter(|hop| hop.queued().is_none());
    let why = |hop: &&FlowHop| {
        Some(upstream.unbounded(hop))
            .filter(|why| upstream.shaper(hop).is_none() || matches!(why, Reason::Behind { .. }))
    };
    free.copied().find_map(|hop| why(&hop))
}

/// The flows whose arrivals only the link limits.
fn free<'a>(
    hops: impl Iterator<Item = &'a FlowHop>,
    upstream: &dyn Upstream,
) -> impl Iterator<Item = &'a FlowHop> {
    hops.filter(|hop| hop.sizes.is_some() && hop.queued().is_none() && upstream.shaper(hop).is_none())
}

/// How frames of a class pass the link after their start.
enum Passing {
    /// Frames pass without interruption.
    Whole,
    /// Express frames interrupt them: the arrivals of express frames meanwhile.
    Interrupted(Result<Curve, Reason>),
}

impl Passing {
    fn of(class: &Class<'_>) -> Self {
        if class.interrupted { Self::Interrupted(crate::service::express(class)) } else { Self::Whole }
    }

    /// Delay from the queue to the departure of the last bit, for frames from `smallest` to `largest`; `wait` is the
    /// time until a frame starts that ends so much data.
    fn delay(
        &self,
        class: &Class<'_>,
        wait: &dyn Fn(Data) -> Result<Ps, Reason>,
        smallest: u32,
        largest: u32,
    ) -> Result<Ps, Reason> {
        let waited = wait(wire(smallest));
        // With gates, or up to the longest wait, a larger frame of the flow may wait as long as its smallest one.
        let passed = |waited: Ps, octets: u32| {
            waited.saturating_add(class.after_selection()).saturating_add(class.model.until_last_bit(octets))
        };
        let delay = match self {
            Self::Whole => {
                let octets = if class.gated() { largest } else { smallest };
                let delay = waited.map(|waited| passed(waited, octets));
                let most = class.latest_start().map(|most| passed(most, largest));
                most.map_or(delay.clone(), |most| Ok(delay.map_or(most, |delay| delay.min(most))))?
            }
            Self::Interrupted(express) => {
                let waited = class.of_sent(waited)?;
                let two = passing_time(class, express, largest)?.saturating_add(waited);
                // Without gates and shaper, the frame and all data before it form one busy period.
                let apart = class.gated() || class.shaped();
                let one = if apart { Ps::MAX } else { wait(preemption::gap()).unwrap_or(Ps::MAX) };
                two.min(one)
            }
        };
        if delay > LONGEST { Err(Reason::TooLarge) } else { Ok(delay) }
    }
}

/// Time from a frame's first bit to its last one if express frames use at most `express` of the link meanwhile.
fn passing_time(class: &Class<'_>, express: &Result<Curve, Reason>, octets: u32) -> Result<Ps, Reason> {
    let express = express.as_ref().map_err(Clone::clone)?;
    match class.held() {
        Some(released) if preemption::can_be_cut(octets) => {
            held::until_passed(class, released, octets, express)
        }
        _ => preemption::until_last_bit(octets, class.model.rate, express).ok_or(Reason::TooLarge),
    }
}

/// Arrivals of all higher classes without a shaper, with their cost for this class; the error names the first class
/// without a limit.
fn unshaped_arrivals(class: &Class<'_>, hops: &[FlowHop], upstream: &dyn Upstream) -> Result<Curve, Reason> {
    let arrivals = |cut: bool| -> Result<Curve, Reason> {
        let unshaped =
            class.above.iter().filter(|higher| higher.shaper.is_none() && class.cut_by(higher) == cut);
        let flows: Vec<&FlowHop> = unshaped
            .flat_map(|higher| class.model.flows[usize::from(higher.class)].iter().map(|hop| &hops[*hop]))
            .collect();
        let coming = incoming(&flows, class.horizon, upstream).map_err(|hop| Reason::HigherClass {
            class: hop.class,
            why: Some(Box::new(upstream.unbounded(hop))),
        })?;
        Ok(match frames(&flows) {
            Some((smallest, ..)) if cut => preemption::with_continuations(&coming.0, smallest),
            Some((smallest, ..)) if class.crowded() && class.shaped() => {
                class.departures(&coming.0, smallest)
            }
            _ => coming.0,
        })
    };
    Ok(arrivals(false)?.add(&arrivals(true)?))
}

/// How long staircases are kept: for the longest backlogged period of the token buckets.
fn horizon(model: &Model<'_>, hops: &[FlowHop]) -> Ps {
    let here = || model.flows.iter().flatten().map(|hop| &hops[*hop]);
    let stairs: Vec<Stair> = here().filter_map(FlowHop::queued).flatten().collect();
    let rate = arrivals::rate(&stairs);
    let longest = stairs.iter().map(|stair| stair.period).max().unwrap_or(1);
    let cycle = model.port.gates.as_ref().map_or(0, |gates| crate::curve::ps(gates.cycle_ns));
    let most: Data = here().filter_map(|hop| hop.sizes).map(|sizes| wire(sizes.largest)).max().unwrap_or(0);
    let burst: Data =
        stairs.iter().map(|stair| stair.unit.saturating_mul(2)).sum::<Data>().saturating_add(most);
    let busy = crate::curve::time_of(burst, model.rate.saturating_sub(rate)).unwrap_or(Ps::MAX);
    let enough = longest.saturating_mul(2).max(cycle.saturating_mul(4));
    let jitter = stairs.iter().map(|stair| stair.jitter).max().unwrap_or(0);
    let shaped = cycle > 0 || model.port.classes.iter().any(|class| class.cbs.is_some());
    let wanted = busy.min(enough.saturating_mul(16)).max(if shaped { enough } else { 0 });
    arrivals::horizon(&stairs, wanted.saturating_add(jitter))
}
