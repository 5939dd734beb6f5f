//! The guaranteed service of a class: priority, shapers and gates together.
//!
//! IEEE 802.1Q-2022, 8.6.8.1 to 8.6.8.4.

pub(crate) mod cbs;
pub(crate) mod class;
pub(crate) mod held;
pub(crate) mod higher_priority;
pub(crate) mod laps;
pub(crate) mod preemption;
pub(crate) mod slots;

use crate::curve::{Curve, Data, Ps, Rate, Segment, Segments};
use crate::model::openings::{Openings, Share, Starts, Window};
use crate::model::sizes::{until_last_bit, wire};
use crate::reason::Reason;
use crate::service::cbs::Credit;
use crate::service::class::{Class, Model};
use crate::service::higher_priority::Higher;
use crate::service::laps::{Laps, Serving, Since};
use crate::service::slots::Slots;

/// One bound on service: for every moment at which waiting may begin.
pub(crate) type Service = Vec<Served>;

/// Service from a moment on.
#[derive(Clone, Debug)]
pub(crate) enum Served {
    Curve(Curve),
    Windows(Since),
}

impl Served {
    /// Takes the same from all values.
    pub fn lower(&mut self, by: Data) {
        match self {
            Self::Curve(own) => own.lower(by),
            Self::Windows(own) => own.lower(by),
        }
    }
}

impl Segments for Served {
    fn get(&self, number: usize) -> Option<Segment> {
        match self {
            Self::Curve(own) => own.get(number),
            Self::Windows(own) => own.get(number),
        }
    }

    fn slope(&self) -> Rate {
        match self {
            Self::Curve(own) => own.slope(),
            Self::Windows(own) => own.slope(),
        }
    }

    fn behind(&self) -> Option<Data> {
        match self {
            Self::Curve(own) => own.behind(),
            Self::Windows(own) => own.behind(),
        }
    }
}

/// Bounds of one curve for each moment.
fn served(curves: impl IntoIterator<Item = Curve>) -> Service {
    curves.into_iter().map(Served::Curve).collect()
}

/// All bounds on the service of a class; and the highest credit that its shaper gathers.
pub(crate) fn services(
    class: &Class<'_>,
    credit: Option<&Credit>,
    unshaped_above: &dyn Fn() -> Result<Curve, Reason>,
) -> (Result<Vec<Service>, Reason>, Option<Data>) {
    if class.gated() {
        match credit {
            None => (with_gates(class).map(|service| vec![service]), None),
            Some(credit) => shaped_with_gates(class, credit),
        }
    } else {
        match credit {
            None => (by_priority(class, unshaped_above).map(|service| vec![served([service])]), None),
            Some(credit) => shaped(class, credit, unshaped_above),
        }
    }
}

/// The bounds on the service of a class from any moment on at which its frames wait: a frame of its own may be on the
/// link, and its credit may be the lowest one. `known`: those of [`services`].
pub(crate) fn services_at_any_time(
    class: &Class<'_>,
    credit: Option<&Credit>,
    unshaped_above: &dyn Fn() -> Result<Curve, Reason>,
    known: &Result<Vec<Service>, Reason>,
) -> Result<Vec<Service>, Reason> {
    let mut found = match credit {
        Some(credit) => services(class, Some(&credit.owing()), unshaped_above).0?,
        None if class.gated() => known.clone()?,
        None => {
            let link = Curve::affine(-class.lower_data(), class.model.rate);
            vec![served([link.sub(&any_time(class, None)?)])]
        }
    };
    let held = class.buffered().map_or(0, |(data, _)| data);
    let own = wire(class.largest).max(held);
    found.iter_mut().flatten().for_each(|from| from.lower(own));
    Ok(found)
}

/// The most data of higher classes from a moment on at which none of them could start. In front of a transmit buffer, a
/// class that could not be selected may still have credit.
fn when_idle(class: &Class<'_>, unshaped_above: &dyn Fn() -> Result<Curve, Reason>) -> Result<Curve, Reason> {
    let mut sum = unshaped_above()?;
    for higher in class.above.iter().filter(|higher| higher.shaper.is_some()) {
        let rate = class.model.rate;
        let has_credit = class.crowded() && !class.shaped();
        let sent = if has_credit { higher.any_time(rate) } else { higher.when_idle(rate) };
        sum = sum.add(&class.cost(higher, sent.ok_or_else(|| higher.unlimited())?));
    }
    Ok(sum)
}

/// The most data of express classes while a frame of this class, once begun, is on the link.
pub(crate) fn express(class: &Class<'_>) -> Result<Curve, Reason> {
    if class.gated() {
        return any_time_of(class, None, |higher| higher.express);
    }
    // When the frame began, no express frame could start: there was none, or its shaper had no credit.
    let mut sum = Curve::zero();
    for higher in class.above.iter().filter(|higher| higher.express) {
        let sent = match (&higher.shaper, &higher.arrivals) {
            (None, arrivals) => arrivals.clone(),
            (Some(_), _) => higher.when_idle(class.model.rate),
        };
        sum = sum.add(&class.cost(higher, sent.ok_or_else(|| higher.unlimited())?));
    }
    Ok(sum)
}

/// The most data of higher classes within any span of time, as far as it falls into `windows`.
pub(crate) fn any_time(class: &Class<'_>, windows: Option<(Ps, &[Window])>) -> Result<Curve, Reason> {
    any_time_of(class, windows, |_| true)
}

fn any_time_of(
    class: &Class<'_>,
    windows: Option<(Ps, &[Window])>,
    counts: impl Fn(&Higher) -> bool,
) -> Result<Curve, Reason> {
    let rate = class.model.rate;
    let mut sum = Curve::zero();
    for higher in class.above.iter().filter(|higher| counts(higher)) {
        let sent = higher.any_time(rate);
        let sent = match share(class, higher, windows) {
            None => sent,
            Some(share) if share.per_cycle == 0 => continue,
            Some(share) => crate::curve::lesser(sent, Some(share.curve(rate))),
        };
        sum = sum.add(&class.cost(higher, sent.ok_or_else(|| higher.unlimited())?));
    }
    Ok(sum)
}

/// The share of `windows` (of all time, without any) in which a higher class's gate lets it use the link.
fn share(class: &Class<'_>, higher: &Higher, windows: Option<(Ps, &[Window])>) -> Option<Share> {
    let Openings::Windows { cycle, windows: others } = &higher.openings else { return None };
    // An interrupted frame continues at any time when no express frame is sent, so it may be in any window.
    if !higher.express || (class.preemptable && windows.is_some()) {
        return None;
    }
    let always = [Window { from: 0, to: *cycle }];
    let windows = windows.map_or(&always[..], |(_, windows)| windows);
    let slip = class.model.slip(higher.largest);
    let overrun =
        slip + if class.model.overruns { class.model.occupied(higher.largest) } else { class.model.gap() };
    // What a class selects in a window also fills the transmit buffer.
    let longer = class.buffered().map_or(overrun, |(_, time)| time.max(overrun));
    let share = Share::of(windows, others, longer, *cycle);
    Some(class.model.clock.map_or(share, |clock| clock.share(share)))
}

/// The service of the link minus one lower frame minus the data of higher classes.
fn by_priority(
    class: &Class<'_>,
    unshaped_above: &dyn Fn() -> Result<Curve, Reason>,
) -> Result<Curve, Reason> {
    let higher = when_idle(class, unshaped_above)?;
    Ok(Curve::affine(-class.lower_data(), class.model.rate).sub(&higher))
}

fn shaped(
    class: &Class<'_>,
    credit: &Credit,
    unshaped_above: &dyn Fn() -> Result<Curve, Reason>,
) -> (Result<Vec<Service>, Reason>, Option<Data>) {
    let (rate, smallest) = (class.model.rate, wire(class.smallest));
    let mut services = Vec::new();
    let mut gathered = None;
    let higher = when_idle(class, unshaped_above);
    let cuts = interruptions(class);
    if let Ok(higher) = &higher {
        gathered = credit.gathered(rate, class.lower_data(), higher);
        let whole = Some(smallest).filter(|_| !class.interrupted);
        let service = gathered.and_then(|most| credit.service_always(rate, most, whole));
        let service = service.zip(cuts.as_ref().ok()).map(|(service, cuts)| served([service.sub(cuts)]));
        services.extend(service);
    }
    if let (Ok(taken), Ok(cuts)) = (any_time(class, None), &cuts) {
        // An interruption costs credit, which the next frame waits for.
        let cuts = cuts.part(credit.drain(), Data::from(credit.slowest));
        let link = Curve::affine(-class.lower_data(), rate).sub(&taken).sub(&cuts);
        let service = credit.service_without_memory(rate, &link, class.lower_data(), smallest);
        services.extend(service.map(|service| served([service])));
    }
    match (services.is_empty(), higher) {
        (true, Err(reason)) => (Err(reason), gathered),
        (true, Ok(_)) => (Err(Reason::TooLarge), gathered),
        (false, _) => (Ok(services), gathered),
    }
}

/// What interruptions add to the frames of the class within any span of time.
fn interruptions(class: &Class<'_>) -> Result<Curve, Reason> {
    let mut sum = Curve::zero();
    for higher in class.above.iter().filter(|higher| class.cut_by(higher)) {
        let sent = higher.any_time(class.model.rate).ok_or_else(|| higher.unlimited())?;
        sum = sum.add(&preemption::continuations(&sent, higher.smallest));
    }
    Ok(sum)
}

/// When the class may start its largest frame, whatever frames of lower classes are still on the link.
fn starts(class: &Class<'_>) -> Result<Option<Starts>, Reason> {
    let (cycle, windows) = match (class.openings()?, class.held()) {
        (Openings::Always, None) => return Ok(None),
        (openings, Some((cycle, released))) => (cycle, held::starts(class, openings, cycle, released)),
        (Openings::Windows { cycle, windows }, None) => {
            let needs = if class.unguarded() { 1 } else { until_last_bit(class.largest, class.model.port) };
            let needs = class.model.needs(needs);
            let last = |window: &Window| (*window, window.to - needs);
            (*cycle, windows.iter().map(last).collect())
        }
    };
    let mut starts =
        Starts { cycle, windows: Vec::new(), before: Vec::new(), late: Vec::new(), blocked: Vec::new() };
    for (window, last) in windows {
        let (late, before) = blocked(class, &window, last)?;
        if window.from + late <= last {
            starts.windows.push(Window { from: window.from + late, to: last });
            // It may also arrive between the earliest and the latest opening.
            starts.before.push(before.min(last - window.from + together(class.model)));
            starts.late.push(late);
            starts.blocked.push(before);
        }
    }
    if starts.windows.is_empty() { Err(Reason::NoWindow) } else { Ok(Some(starts)) }
}

/// How much later than its earliest opening a gate is open for certain. Gates of a port follow one clock: of those that
/// open together none opens before the others.
fn together(model: &Model<'_>) -> Ps {
    model.clock.filter(|_| model.several.is_none()).map_or(0, |clock| clock.lead())
}

/// How long frames of lower classes may still occupy the link after the beginning of a window; and how long those
/// that begin within it, before `last`.
pub(crate) fn blocked(class: &Class<'_>, window: &Window, last: Ps) -> Result<(Ps, Ps), Reason> {
    // Until frames that were selected before have left, the buffer has no room.
    if let Some((_, time)) = class.buffered() {
        return Ok((time, time));
    }
    let model = class.model;
    let gap = model.gap();
    let (mut late, mut before) = (0, 0);
    let released = model.released.as_ref().ok_or(Reason::ShortHolds)?;
    let lead = together(model);
    for behind in &class.behind {
        let occupied = model.occupied(behind.octets);
        let slip = model.slip(behind.octets);
        let openings = model.openings[usize::from(behind.class)].as_ref().ok_or(Reason::TooLarge)?;
        let at_opening = match behind.runs_on {
            true if class.preemptable => occupied,
            true => released.run_on(window.from, occupied, slip),
            false if model.overruns => openings.run_on(window.from, occupied, slip),
            false => openings.overhang(window.from, occupied, gap + slip, lead),
        };
        late = late.max(at_opening);
        let begins = if behind.runs_on { released } else { openings };
        if class.preemptable {
            // Express frames may interrupt the lower frame, which then takes longer than its own time.
            before = Ps::MAX;
        } else if begins.open_within(window.from, last) {
            before = before.max(occupied);
        }
    }
    // A frame of any class may have ended just before: its inter-frame gap counts.
    for openings in model.openings.iter().flatten() {
        late = late.max(openings.gap_after(window.from, gap + model.slip(class.any)));
    }
    if class.preemptable {
        late = late.max(gap);
    }
    // A frame of this class or of a higher one, which was held, continues at a cost.
    Ok((late + if class.held().is_some() { held::continuation(model) } else { 0 }, before))
}

/// The service of some windows from each worst moment on at which waiting may begin.
pub(crate) fn moments(class: &Class<'_>, starts: &Starts, rate: Rate, serving: Serving<'_>) -> Vec<Since> {
    let laps = Laps::of(starts, rate, serving);
    let missed = |place: usize| starts.missed(&laps, place);
    let Some(several) = &class.model.several else { return (0..starts.windows.len()).map(missed).collect() };
    let early = |place: &usize| starts.windows[*place].to <= several.begins;
    let others = [Some(laps.since(0, 0)), starts.service_within(several.begins, rate, serving)];
    (0..starts.windows.len()).filter(early).map(missed).chain(others.into_iter().flatten()).collect()
}

/// The slots of a class without a shaper and without interference from above.
pub(crate) fn slots(class: &Class<'_>) -> Option<Slots> {
    let port = class.model.port;
    // The phase of gates on a clock is not known well enough.
    let listed = class.model.several.is_none() && class.buffered().is_none() && class.model.clock.is_none();
    if class.preemptable || class.shaped() || class.model.overruns || !listed || class.replaced() > 0 {
        return None;
    }
    let starts = starts(class).ok()??;
    let taken = any_time(class, Some((starts.cycle, &starts.windows_in_time()))).ok()?;
    if taken != Curve::zero() {
        return None;
    }
    let base = port.gates.as_ref()?.base_time_ns.checked_mul(1_000)?;
    Some(Slots::new(base, starts, class.model.rate, class.grain))
}

fn with_gates(class: &Class<'_>) -> Result<Service, Reason> {
    let rate = class.model.rate;
    let Some(starts) = starts(class)? else {
        let taken = any_time(class, None)?;
        return Ok(served([Curve::affine(-class.lower_data(), rate).sub(&taken)]));
    };
    let taken = any_time(class, Some((starts.cycle, &starts.windows_in_time())))?;
    // A frame that is held, or overruns its window, ends in a later one.
    let undisturbed = taken == Curve::zero()
        && class.held().is_none()
        && class.buffered().is_none()
        && !class.model.overruns;
    let replaced = class.replaced();
    if undisturbed {
        let moments = moments(class, &starts, rate, Serving::Frames(class.grain));
        if replaced == 0 {
            return Ok(moments.into_iter().map(Served::Windows).collect());
        }
        // A window that loses some time serves one frame less than what fits that time.
        let lost = Curve::affine(replaced + class.grain, 0);
        return Ok(served(moments.iter().map(|service| service.curve().sub(&lost))));
    }
    let taken = taken.add(&Curve::affine(replaced, 0));
    let moments = moments(class, &starts, rate, Serving::Time);
    Ok(served(moments.iter().map(|service| service.curve().sub(&taken))))
}

fn shaped_with_gates(class: &Class<'_>, credit: &Credit) -> (Result<Vec<Service>, Reason>, Option<Data>) {
    let found = || {
        let starts = starts(class)?;
        let windows = starts.as_ref().map(|starts| (starts.cycle, starts.windows_in_time()));
        let taken = any_time(class, windows.as_ref().map(|(cycle, windows)| (*cycle, &windows[..])))?;
        let cuts = interruptions(class)?.add(&held::interruptions(class));
        Ok((class.openings()?, starts, taken, cuts))
    };
    let (openings, starts, taken, cuts) = match found() {
        Ok(found) => found,
        Err(reason) => return (Err(reason), None),
    };
    let (rate, smallest) = (class.model.rate, wire(class.smallest));
    let whole = Some(smallest).filter(|_| !class.interrupted);
    // An interruption costs credit, which the next frame waits for.
    let without_memory = |link: &Curve| {
        let regained = cuts.part(credit.drain(), Data::from(credit.slowest));
        let link = link.sub(&taken).sub(&Curve::affine(class.lower_data(), 0)).sub(&regained);
        credit.service_without_memory(rate, &link, class.lower_data(), smallest)
    };
    let (gathered, by_credit, link) = match &starts {
        Some(starts) => {
            let windows = |openings: &Openings| match openings {
                Openings::Windows { windows, .. } => windows.to_vec(),
                Openings::Always => vec![Window { from: 0, to: starts.cycle }],
            };
            let (burst, slope) = taken.bucket();
            let others = (burst.saturating_add(class.lower_data()), slope);
            let cycle = (starts.cycle, class.model.several.is_some());
            // Credit may grow in all windows that are possible; only those that are certain serve.
            let possible = class.model.openings[usize::from(class.number)].as_ref();
            let possible = windows(possible.unwrap_or(&Openings::Always));
            let gathered = credit.gathered_with_gates(rate, cycle, &possible, &starts.windows, others);
            let open = windows(openings);
            let by_credit =
                gathered.and_then(|most| open_service(class, credit, starts.cycle, &open, most, whole));
            let link = moments(class, starts, rate, Serving::Time).iter().map(Since::curve).collect();
            (gathered, by_credit, link)
        }
        // This class's gate never closes; higher classes have a gate.
        None => {
            let gathered = credit.gathered(rate, class.lower_data(), &taken);
            let by_credit = gathered.and_then(|most| credit.service_always(rate, most, whole));
            (gathered, by_credit.map(|service| vec![service]), vec![Curve::affine(0, rate)])
        }
    };
    let by_credit = by_credit.map(|service| served(service.iter().map(|from| from.sub(&cuts))));
    let link: Vec<Curve> = link;
    let without_memory = link.iter().map(without_memory).collect::<Option<Vec<Curve>>>().map(served);
    let services: Vec<Service> = by_credit.into_iter().chain(without_memory).collect();
    if services.is_empty() { (Err(Reason::TooLarge), gathered) } else { (Ok(services), gathered) }
}

/// The service that credit guarantees while the gate is open, if at most `most` credit gathers.
fn open_service(
    class: &Class<'_>,
    credit: &Credit,
    cycle: Ps,
    open: &[Window],
    most: Data,
    whole: Option<Data>,
) -> Option<Vec<Curve>> {
    let rate = class.model.rate;
    let (windows, idle): (Vec<Window>, Vec<Rate>) = credit.pieces(open).into_iter().unzip();
    let none = vec![0; windows.len()];
    let open = Starts { cycle, windows, before: none.clone(), late: Vec::new(), blocked: none };
    let served = |worth: &dyn Fn(Rate) -> Rate| {
        let rates: Vec<Rate> = idle.iter().map(|idle| worth(*idle)).collect();
        moments(class, &open, rate, Serving::Rates(&rates)).iter().map(Since::curve).collect()
    };
    credit.service(rate, most, whole, served)
}
