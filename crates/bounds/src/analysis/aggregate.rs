//! The arrivals of a class: the sum of its flows, where the flows of one link are limited by that link and its shapers.
//!
//! Thomas, Le Boudec & Mifdaoui 2019 (line shaping); Zhao et al., arXiv 2005.08256 (shaping by credit).

use crate::curve::arrival::{self as arrivals, Stair};
use crate::curve::common_divisor;
use crate::curve::lesser;
use crate::curve::{Curve, Data, Ps, Rate};
use crate::model::flow_hop::FlowHop;
use crate::model::sizes::wire;
use crate::reason::Reason;
use crate::service::class::Model;

/// Limits on the arrivals of several flows together, from the port that they passed before.
pub(crate) trait Upstream {
    /// The limit of a shaper on frames that arrive from the previous port of `hop` and had the class of `hop` there.
    fn shaper(&self, hop: &FlowHop) -> Option<Curve>;
    /// The limit of the link on frames of at most `largest` that arrive from the previous port in one of `classes` (a
    /// bit per class).
    fn line(&self, hop: &FlowHop, classes: u8, largest: Data) -> Option<Curve>;
    /// The port before, if there is exactly one, and the classes of the flow there: a bit per class.
    fn before(&self, hop: &FlowHop) -> Option<(usize, u8)>;
    /// Whether all frames of a port come over one link, in its order and no closer than the port sends them.
    fn over_one_link(&self, model: &Model<'_>) -> bool;
    /// Why the arrivals of a flow have no limit.
    fn unbounded(&self, hop: &FlowHop) -> Reason;
}

/// Largest and smallest frame and the common divisor of all frames of some hops; none for no frames.
pub(crate) fn frames(hops: &[&FlowHop]) -> Option<(u32, u32, u32)> {
    let sizes = hops.iter().filter_map(|hop| hop.sizes);
    sizes
        .map(|s| (s.smallest, s.largest, s.grain))
        .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1), common_divisor(a.2, b.2)))
}

/// Stairs with their long-run rate, which is computed anew only where stairs are joined.
#[derive(Default)]
struct Rated {
    stairs: Vec<Stair>,
    /// None: not known yet.
    rate: Option<Rate>,
}

impl Rated {
    fn join(&mut self, stairs: &[Stair], rate: Rate) {
        self.rate = self.stairs.is_empty().then_some(rate);
        self.stairs.extend(stairs);
    }

    fn rate(&self) -> Rate {
        self.rate.unwrap_or_else(|| arrivals::rate(&self.stairs))
    }
}

/// The arrivals of several flows, limited for each previous port by its link and shapers; and their long-run rate.
///
/// The error is a flow without a limit.
pub(crate) fn incoming<'a>(
    hops: &[&'a FlowHop],
    horizon: Ps,
    upstream: &dyn Upstream,
) -> Result<(Curve, Rate), &'a FlowHop> {
    let mut groups: Vec<(Option<usize>, u8, &'a FlowHop)> = hops
        .iter()
        .filter(|hop| hop.sizes.is_some())
        .map(|hop| {
            upstream.before(hop).map_or((None, 0, *hop), |(port, classes)| (Some(port), classes, *hop))
        })
        .collect();
    groups.sort_by_key(|(port, classes, _)| (*port, *classes));
    let mut all = Curve::zero();
    let mut free = Rated::default();
    let mut shaped: Rate = 0;
    for of_port in groups.chunk_by(|a, b| a.0 == b.0) {
        let mut through_port: Option<Curve> = Some(Curve::zero());
        let (mut stairs, mut limited) = (Rated::default(), Rate::default());
        for of_class in of_port.chunk_by(|a, b| a.1 == b.1) {
            let own: Option<Vec<Stair>> = of_class.iter().try_fold(Vec::new(), |mut own, (_, _, hop)| {
                own.extend(hop.queued()?);
                Some(own)
            });
            let counted = own.as_ref().and_then(|own| arrivals::sum(own, horizon));
            let shaper = of_class[0].0.and_then(|_| upstream.shaper(of_class[0].2));
            match (&own, &counted, &shaper) {
                (Some(own), Some(sum), None) => stairs.join(own, sum.tail().slope),
                (Some(own), Some(sum), Some(shaper)) if sum.tail().slope <= shaper.tail().slope => {
                    stairs.join(own, sum.tail().slope);
                }
                (_, _, Some(shaper)) => limited = limited.saturating_add(shaper.tail().slope),
                _ => {}
            }
            through_port = match (through_port, lesser(counted, shaper)) {
                (Some(sum), Some(class)) => Some(sum.add(&class)),
                _ => None,
            };
        }
        let line = of_port[0].0.and_then(|_| {
            let hops: Vec<&FlowHop> = of_port.iter().map(|(_, _, hop)| *hop).collect();
            let classes = of_port.iter().fold(0, |all, (_, classes, _)| all | classes);
            upstream.line(of_port[0].2, classes, wire(frames(&hops)?.1))
        });
        let carried = line.as_ref().map(|line| line.tail().slope);
        let rate = stairs.rate();
        match carried {
            Some(line) if through_port.is_none() || rate.saturating_add(limited) > line => {
                shaped = shaped.saturating_add(line);
            }
            _ => {
                free.join(&stairs.stairs, rate);
                shaped = shaped.saturating_add(limited);
            }
        }
        let unlimited = || of_port.iter().find(|(_, _, hop)| hop.queued().is_none()).unwrap_or(&of_port[0]).2;
        all = all.add(&lesser(through_port, line).ok_or_else(unlimited)?);
    }
    Ok((all, free.rate().saturating_add(shaped)))
}
