//! The guaranteed service of a class: priority, shapers and gates together.
//!
//! IEEE 802.1Q-2022, 8.6.8.1 to 8.6.8.4.

pub(crate) mod cbs;
pub(crate) mod class;
pub(crate) mod higher_priority;
pub(crate) mod preemption;
pub(crate) mod slots;

use crate::curve::{Curve, Data, Ps};
use crate::model::openings::{Openings, Serving, Share, Starts, Window};
use crate::model::sizes::{until_last_bit, wire};
use crate::reason::Reason;
use crate::service::cbs::Credit;
use crate::service::class::Class;
use crate::service::higher_priority::Higher;
use crate::service::slots::Slots;

/// One bound on service: a curve for every moment at which waiting may begin.
pub(crate) type Service = Vec<Curve>;

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
            None => (by_priority(class, unshaped_above).map(|service| vec![vec![service]]), None),
            Some(credit) => shaped(class, credit, unshaped_above),
        }
    }
}

/// The most data of higher classes from a moment on at which none of them could start.
fn when_idle(class: &Class<'_>, unshaped_above: &dyn Fn() -> Result<Curve, Reason>) -> Result<Curve, Reason> {
    let mut sum = unshaped_above()?;
    for higher in class.above.iter().filter(|higher| higher.shaper.is_some()) {
        let sent = higher.when_idle(class.model.rate).ok_or(Reason::HigherClass { class: higher.class })?;
        sum = sum.add(&class.cost(higher, sent));
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
        sum = sum.add(&class.cost(higher, sent.ok_or(Reason::HigherClass { class: higher.class })?));
    }
    Ok(sum)
}

/// The most data of higher classes within any span of time, as far as it falls into `windows`.
fn any_time(class: &Class<'_>, windows: Option<(Ps, &[Window])>) -> Result<Curve, Reason> {
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
        sum = sum.add(&class.cost(higher, sent.ok_or(Reason::HigherClass { class: higher.class })?));
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
    Some(Share::of(windows, others, class.model.gap(), *cycle))
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
    if let (Ok(higher), true) = (&higher, credit.shapes) {
        gathered = credit.gathered(rate, class.lower_data(), higher);
        let service =
            gathered.and_then(|most| credit.service(rate, most, smallest, |slope| Curve::affine(0, slope)));
        services.extend(service.map(|service| vec![service]));
    }
    if let Ok(taken) = any_time(class, None) {
        let link = Curve::affine(-class.lower_data(), rate).sub(&taken);
        let service = credit.service_without_memory(&link, class.lower_data(), smallest);
        services.extend(service.map(|service| vec![service]));
    }
    match (services.is_empty(), higher) {
        (true, Err(reason)) => (Err(reason), gathered),
        (true, Ok(_)) => (Err(Reason::TooLarge), gathered),
        (false, _) => (Ok(services), gathered),
    }
}

/// When the class may start its largest frame, whatever frames of lower classes are still on the link.
fn starts(class: &Class<'_>) -> Result<Option<Starts>, Reason> {
    let Openings::Windows { cycle, windows } = class.openings()? else { return Ok(None) };
    let model = class.model;
    let (needs, gap) = (until_last_bit(class.largest, model.port), model.gap());
    let mut starts = Starts {
        cycle: *cycle,
        windows: Vec::new(),
        before: Vec::new(),
        late: Vec::new(),
        blocked: Vec::new(),
    };
    for window in windows {
        let last = window.to - needs;
        let (mut late, mut before) = (0, 0);
        for behind in &class.behind {
            let occupied = model.occupied(behind.octets);
            let openings = model.openings[usize::from(behind.class)].as_ref().ok_or(Reason::TooLarge)?;
            let at_opening =
                if behind.runs_on { occupied } else { openings.overhang(window.from, occupied, gap) };
            late = late.max(at_opening);
            if class.preemptable {
                // Express frames may interrupt the lower frame, which then takes longer than its own time.
                before = Ps::MAX;
            } else if behind.runs_on || openings.open_within(window.from, last) {
                before = before.max(occupied);
            }
        }
        // A frame of any class may have ended just before: its inter-frame gap counts.
        for openings in model.openings.iter().flatten() {
            late = late.max(openings.gap_after(window.from, gap));
        }
        if class.preemptable {
            late = late.max(gap);
        }
        if window.from + late <= last {
            starts.windows.push(Window { from: window.from + late, to: last });
            starts.before.push(before.min(last - window.from));
            starts.late.push(late);
            starts.blocked.push(before);
        }
    }
    if starts.windows.is_empty() { Err(Reason::NoWindow) } else { Ok(Some(starts)) }
}

/// The slots of a class without a shaper and without interference from above.
pub(crate) fn slots(class: &Class<'_>) -> Option<Slots> {
    let port = class.model.port;
    if class.preemptable || port.classes[usize::from(class.number)].cbs.is_some() {
        return None;
    }
    let starts = starts(class).ok()??;
    let taken = any_time(class, Some((starts.cycle, &starts.windows_in_time()))).ok()?;
    if taken != Curve::zero() {
        return None;
    }
    let base = port.gates.as_ref()?.base_time_ns.checked_mul(1_000)?;
    Some(Slots { base, cycle: starts.cycle, starts })
}

fn with_gates(class: &Class<'_>) -> Result<Service, Reason> {
    let rate = class.model.rate;
    let Some(starts) = starts(class)? else {
        let taken = any_time(class, None)?;
        return Ok(vec![Curve::affine(-class.lower_data(), rate).sub(&taken)]);
    };
    let taken = any_time(class, Some((starts.cycle, &starts.windows_in_time())))?;
    let undisturbed = taken == Curve::zero();
    let serving = if undisturbed { Serving::Frames(class.grain) } else { Serving::Time };
    let from = |place: usize| starts.service(place, rate, serving).sub(&taken);
    Ok((0..starts.windows.len()).map(from).collect())
}

fn shaped_with_gates(class: &Class<'_>, credit: &Credit) -> (Result<Vec<Service>, Reason>, Option<Data>) {
    let (rate, smallest) = (class.model.rate, wire(class.smallest));
    let (openings, starts) = match (class.openings(), starts(class)) {
        (Ok(openings), Ok(starts)) => (openings, starts),
        (Err(reason), _) | (_, Err(reason)) => return (Err(reason), None),
    };
    let taken = match &starts {
        None => any_time(class, None),
        Some(starts) => any_time(class, Some((starts.cycle, &starts.windows_in_time()))),
    };
    let taken = match taken {
        Ok(taken) => taken,
        Err(reason) => return (Err(reason), None),
    };
    let (burst, slope) = taken.bucket();
    let others = (burst.saturating_add(class.lower_data()), slope);
    let mut services: Vec<Service> = Vec::new();
    let mut gathered = None;
    if let (Openings::Windows { cycle, windows }, Some(starts)) = (openings, &starts) {
        if credit.shapes {
            gathered = credit.gathered_with_gates(rate, *cycle, windows, &starts.windows, others);
        }
        if let Some(most) = gathered {
            let open = Starts {
                cycle: *cycle,
                windows: windows.clone(),
                before: vec![0; windows.len()],
                late: Vec::new(),
                blocked: Vec::new(),
            };
            let from = |place: usize| {
                credit.service(rate, most, smallest, |slope| open.service(place, slope, Serving::Time))
            };
            services.extend((0..windows.len()).map(from).collect::<Option<Service>>());
        }
        let from = |place: usize| {
            let link = starts.service(place, rate, Serving::Time).sub(&taken);
            let link = link.sub(&Curve::affine(class.lower_data(), 0));
            credit.service_without_memory(&link, class.lower_data(), smallest)
        };
        services.extend((0..starts.windows.len()).map(from).collect::<Option<Service>>());
    } else {
        // This class's gate never closes; higher classes have a gate.
        if credit.shapes {
            gathered = credit.gathered(rate, class.lower_data(), &taken);
        }
        let service =
            gathered.and_then(|most| credit.service(rate, most, smallest, |slope| Curve::affine(0, slope)));
        services.extend(service.map(|service| vec![service]));
        let link = Curve::affine(-class.lower_data(), rate).sub(&taken);
        let service = credit.service_without_memory(&link, class.lower_data(), smallest);
        services.extend(service.map(|service| vec![service]));
    }
    if services.is_empty() { (Err(Reason::TooLarge), gathered) } else { (Ok(services), gathered) }
}
