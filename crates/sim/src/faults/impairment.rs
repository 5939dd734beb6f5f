//! Impairment of links: outages, and by chance loss, delay and duplication of frames.

use crate::ids::{FaultId, PortId};
use crate::random::Draws;
use tsn_plan::{Fault, LossModel, Plan};
use tsn_units::{Duration, Instant, PREAMBLE, START_FRAME_DELIMITER};

/// Shares are in parts per million.
const WHOLE: u64 = 1_000_000;
/// Greatest delay by faults, all of them together: ten days.
const MAX_DELAY: Duration = Duration::from_ns(10 * 86_400 * 1_000_000_000);
/// Bit errors are counted per 10^15 bits.
const PETABIT: f64 = 1e15;

/// The impairments of the link behind one port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Impairment {
    cuts: Vec<FaultPeriod>,
    losses: Vec<Loss>,
    delays: Vec<Delay>,
    duplications: Vec<Duplication>,
    /// When the last bit of the last frame arrived, where a delay keeps order.
    latest: Option<Instant>,
}

/// The times of a frame on a link.
#[derive(Copy, Clone, Debug)]
pub(crate) struct LinkTransit {
    /// When the first bit of its preamble leaves.
    pub first: Instant,
    /// When the first bit of its preamble arrives.
    pub first_in: Instant,
    /// When the last bit of its FCS arrives.
    pub last_in: Instant,
    /// Octets from destination address to FCS.
    pub octets: u32,
    /// Rate of the link, bit/s.
    pub rate: u64,
    /// How long the frame occupies the receiver, gap included.
    pub occupies: Duration,
}

/// The damage that a link does to a frame.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Damage {
    /// The frame is whole.
    None,
    /// This number of the frame's first octets arrives; the check sequence shows the damage.
    Damaged(u32),
    /// No part of the frame arrives.
    Lost,
}

/// The outcome of a transmission over an impaired link.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Outcome {
    pub damage: Damage,
    /// Delay of the frame beyond that of its link.
    pub extra_delay: Duration,
    /// Delay of a duplicate after the frame, if there is a duplicate.
    pub duplicate_after: Option<Duration>,
}

/// The period of a fault, and its index.
#[derive(Copy, Clone, Debug)]
struct FaultPeriod {
    from: Instant,
    until: Instant,
    fault: FaultId,
}

#[derive(Clone, Debug)]
struct Loss {
    period: FaultPeriod,
    model: LossModel,
    /// Whether the Gilbert-Elliott model is in its bad state.
    bad: bool,
    draws: Draws,
}

#[derive(Clone, Debug)]
struct Delay {
    period: FaultPeriod,
    least: u64,
    /// Greatest additional delay in ns.
    more: u64,
    share_ppm: u32,
    keeps_order: bool,
    draws: Draws,
}

#[derive(Clone, Debug)]
struct Duplication {
    period: FaultPeriod,
    after: Duration,
    share_ppm: u32,
    draws: Draws,
}

/// The impairments of a Plan's links by port; none for a port without.
pub(crate) fn impairments(plan: &Plan) -> Vec<Option<Box<Impairment>>> {
    if plan.faults.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<Option<Box<Impairment>>> = vec![None; plan.ports.len()];
    let mut at = |port: PortId, change: &mut dyn FnMut(&mut Impairment)| {
        if let Some(place) = found.get_mut(port.index()) {
            change(place.get_or_insert_default());
        }
    };
    for (number, fault) in plan.faults.iter().enumerate() {
        let (from_ns, until_ns) = fault.span_ns();
        let period =
            FaultPeriod { from: instant(from_ns), until: instant(until_ns), fault: FaultId::at(number) };
        // The name of a draw contains the port and the fault's number at this port. So a fault at another port
        // changes no draw at this one.
        let draws = |port: PortId, what: &str, place: usize| {
            let name = plan.ports.get(port.index()).map_or("", |port| &port.name);
            Draws::new(plan.seed, &format!("fault/{name}/{what}{place}"))
        };
        match fault {
            Fault::LinkDown { port, .. } => {
                let peer = plan.ports.get(*port as usize).map_or(*port, |port| port.peer);
                for port in [*port, peer] {
                    at(PortId(port), &mut |impairment| impairment.cuts.push(period));
                }
            }
            Fault::NodeDown { node, .. } => {
                for (own, port) in plan.ports.iter().enumerate().filter(|(_, port)| port.node == *node) {
                    at(PortId::at(own), &mut |impairment| impairment.cuts.push(period));
                    at(PortId(port.peer), &mut |impairment| impairment.cuts.push(period));
                }
            }
            Fault::Loss { port, model, .. } => at(PortId(*port), &mut |impairment| {
                let draws = draws(PortId(*port), "", impairment.losses.len());
                impairment.losses.push(Loss { period, model: *model, bad: false, draws });
            }),
            Fault::Delay { port, least_ns, most_ns, share_ppm, keeps_order, .. } => {
                at(PortId(*port), &mut |impairment| {
                    let draws = draws(PortId(*port), "delay/", impairment.delays.len());
                    let (least, more) = (*least_ns, most_ns.saturating_sub(*least_ns));
                    let (share_ppm, keeps_order) = (*share_ppm, *keeps_order);
                    impairment.delays.push(Delay { period, least, more, share_ppm, keeps_order, draws });
                });
            }
            Fault::Duplicate { port, share_ppm, after_ns, .. } => at(PortId(*port), &mut |impairment| {
                let draws = draws(PortId(*port), "duplicate/", impairment.duplications.len());
                let after = instant(*after_ns) - Instant::EPOCH;
                impairment.duplications.push(Duplication { period, after, share_ppm: *share_ppm, draws });
            }),
            Fault::Babble { .. } => {}
            // The hops only have to be marked as special, so that frames that leave by them are counted.
            Fault::Schedule { port, .. } => at(PortId(*port), &mut |_| {}),
        }
    }
    found
}

/// An instant of the Plan as one of the simulator.
pub(crate) fn instant(ns: u64) -> Instant {
    i64::try_from(ns).ok().filter(|ns| *ns <= i64::MAX / 1_000).map_or(Instant::MAX, Instant::from_ns)
}

impl Impairment {
    /// The outcome of a frame's transmission. Counts the frame in `affected` for each fault that had an effect on it.
    pub fn apply(&mut self, frame: &LinkTransit, affected: &mut [u64]) -> Outcome {
        let mut count = |period: &FaultPeriod| {
            if let Some(count) = affected.get_mut(period.fault.index()) {
                *count += 1;
            }
        };
        // Every model draws once for every frame of its period, so that an outage changes no later draw.
        let mut damage = Damage::None;
        for cut in self.cuts.iter().filter(|cut| frame.first < cut.until && frame.last_in >= cut.from) {
            count(cut);
            damage = damage.max(frame.damage_if_cut_at(cut.from));
        }
        for loss in self.losses.iter_mut().filter(|loss| loss.period.contains(frame.first)) {
            if loss.loses(frame.octets) {
                count(&loss.period);
                damage = damage.max(match loss.model {
                    LossModel::BitErrors { .. } => Damage::Damaged(frame.octets),
                    LossModel::Bernoulli { .. } | LossModel::GilbertElliott { .. } => Damage::Lost,
                });
            }
        }
        let mut outcome = Outcome { damage, extra_delay: Duration::ZERO, duplicate_after: None };
        for delay in self.delays.iter_mut().filter(|delay| delay.period.contains(frame.first)) {
            let (held, by) = delay.draw();
            if held {
                count(&delay.period);
                outcome.extra_delay = (outcome.extra_delay + by).min(MAX_DELAY);
            }
        }
        for duplication in
            self.duplications.iter_mut().filter(|duplication| duplication.period.contains(frame.first))
        {
            if chance(&mut duplication.draws, duplication.share_ppm)
                && outcome.duplicate_after.is_none()
                && damage == Damage::None
            {
                count(&duplication.period);
                outcome.duplicate_after = Some(duplication.after);
            }
        }
        if self.delays.iter().any(|delay| delay.keeps_order) && damage != Damage::Lost {
            let arrival = frame.last_in + outcome.extra_delay;
            // The order also holds after the delay has ended, and if it delays only a part of the frames: frames
            // never overtake.
            let arrival = self.latest.map_or(arrival, |latest| arrival.max(latest + frame.occupies));
            self.latest = Some(arrival);
            outcome.extra_delay = arrival - frame.last_in;
        }
        outcome
    }
}

impl LinkTransit {
    /// The part of the frame that arrives before its link is cut.
    fn damage_if_cut_at(&self, cut: Instant) -> Damage {
        if self.first >= cut || self.first_in >= cut {
            return Damage::Lost;
        }
        let bits = i128::from((cut - self.first_in).ps()) * i128::from(self.rate) / 1_000_000_000_000;
        let before = i128::from(PREAMBLE.0 + START_FRAME_DELIMITER.0);
        let octets = u32::try_from(bits / 8 - before).unwrap_or(0).min(self.octets);
        if octets == 0 { Damage::Lost } else { Damage::Damaged(octets) }
    }
}

impl Damage {
    /// The worse one of two damages.
    fn max(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, damage) | (damage, Self::None) => damage,
            (Self::Damaged(one), Self::Damaged(other)) => Self::Damaged(one.min(other)),
            _ => Self::Lost,
        }
    }
}

impl FaultPeriod {
    fn contains(&self, at: Instant) -> bool {
        self.from <= at && at < self.until
    }
}

impl Delay {
    /// Whether this fault delays a frame, and for how long.
    fn draw(&mut self) -> (bool, Duration) {
        let held = self.share_ppm as u64 >= WHOLE || chance(&mut self.draws, self.share_ppm);
        let more = if self.more == 0 { 0 } else { self.draws.below(self.more * 1_000 + 1) };
        let ps = self.least.saturating_mul(1_000).saturating_add(more);
        (held, Duration::from_ps(i64::try_from(ps).unwrap_or(i64::MAX / 4)))
    }
}

fn chance(draws: &mut Draws, ppm: u32) -> bool {
    draws.below(WHOLE) < u64::from(ppm)
}

impl Loss {
    fn loses(&mut self, octets: u32) -> bool {
        match self.model {
            LossModel::Bernoulli { loss_ppm } => self.chance(loss_ppm),
            LossModel::GilbertElliott { to_bad_ppm, to_good_ppm, loss_good_ppm, loss_bad_ppm } => {
                let change = if self.bad { to_good_ppm } else { to_bad_ppm };
                self.bad ^= self.chance(change);
                let loss = if self.bad { loss_bad_ppm } else { loss_good_ppm };
                self.chance(loss)
            }
            LossModel::BitErrors { per_petabit } => {
                // libm's own functions, not the platform's, so that every machine draws the same.
                let spared =
                    libm::exp(f64::from(octets) * 8.0 * libm::log1p(-(per_petabit as f64) / PETABIT));
                const UNIT: f64 = (1_u64 << 53) as f64;
                self.draws.below(1 << 53) as f64 >= spared * UNIT
            }
        }
    }

    fn chance(&mut self, ppm: u32) -> bool {
        chance(&mut self.draws, ppm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALWAYS: FaultPeriod = FaultPeriod { from: Instant::EPOCH, until: Instant::MAX, fault: FaultId(0) };

    fn impairment(model: LossModel) -> Impairment {
        let loss = Loss { period: ALWAYS, model, bad: false, draws: Draws::new(1, "fault/test/0") };
        Impairment { losses: vec![loss], ..Impairment::default() }
    }

    /// A frame of a gigabit link whose cable takes no time.
    fn passing(first: i64, octets: u32) -> LinkTransit {
        let (first, wire) = (Instant::from_ns(first), Duration::from_ns(i64::from(octets + 8) * 8));
        let occupies = wire + Duration::from_ns(96);
        LinkTransit { first, first_in: first, last_in: first + wire, octets, rate: 1_000_000_000, occupies }
    }

    fn outcomes(model: LossModel, octets: u32) -> Vec<bool> {
        let mut impairment = impairment(model);
        (0..100_000)
            .map(|ns| impairment.apply(&passing(ns, octets), &mut [0]).damage != Damage::None)
            .collect()
    }

    fn share(outcomes: &[bool]) -> f64 {
        outcomes.iter().filter(|lost| **lost).count() as f64 / outcomes.len() as f64
    }

    /// The tolerance is four standard errors around the closed forms.
    #[test]
    fn shares_are_as_asked() {
        let lost = outcomes(LossModel::Bernoulli { loss_ppm: 100_000 }, 64);
        assert!((share(&lost) - 0.1).abs() < 0.0038, "{}", share(&lost));
        // 1 - (1 - 1e-5)^(1000 * 8) = 0.07688.
        let lost = outcomes(LossModel::BitErrors { per_petabit: 10_000_000_000 }, 1_000);
        assert!((share(&lost) - 0.07688).abs() < 0.0034, "{}", share(&lost));
        // Bad for 0.01 / (0.01 + 0.2) of the frames.
        let bursts = LossModel::GilbertElliott {
            to_bad_ppm: 10_000,
            to_good_ppm: 200_000,
            loss_good_ppm: 0,
            loss_bad_ppm: 1_000_000,
        };
        let lost = outcomes(bursts, 64);
        assert!((share(&lost) - 1.0 / 21.0).abs() < 0.008, "{}", share(&lost));
        // Mean length of a burst: 1 / 0.2.
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let mean = lost.iter().filter(|lost| **lost).count() as f64 / bursts as f64;
        assert!((mean - 5.0).abs() < 0.7, "{mean}");
        assert!(!outcomes(LossModel::BitErrors { per_petabit: 0 }, 1_522).contains(&true));
        assert!(!outcomes(LossModel::BitErrors { per_petabit: 1_000_000_000_000_000 }, 64).contains(&false));
    }

    #[test]
    fn a_cut_takes_what_is_on_the_wire() {
        let period =
            FaultPeriod { from: Instant::from_ns(1_000), until: Instant::from_ns(2_000), fault: FaultId(1) };
        let mut cut = Impairment { cuts: vec![period], ..Impairment::default() };
        let mut affected = [0, 0];
        // A frame of 64 octets takes 576 ns; 64 of them for what comes before its first octet.
        let frames = [423, 424, 425, 1_000 - 65, 1_000 - 72, 1_000, 1_999, 2_000];
        let outcomes = frames.map(|first| cut.apply(&passing(first, 64), &mut affected).damage);
        use Damage::{Damaged, Lost};
        assert_eq!(
            outcomes,
            [Damage::None, Damaged(64), Damaged(63), Lost, Damaged(1), Lost, Lost, Damage::None]
        );
        assert_eq!(affected, [0, 6]);
    }

    fn late(keeps_order: bool, more: u64, share_ppm: u32) -> Impairment {
        let draws = Draws::new(1, "fault/test/delay/0");
        let delay = Delay { period: ALWAYS, least: 1_000, more, share_ppm, keeps_order, draws };
        Impairment { delays: vec![delay], ..Impairment::default() }
    }

    #[test]
    fn a_delay_keeps_order_or_breaks_it() {
        let arrivals = |impairment: &mut Impairment| -> Vec<Instant> {
            (0..10_000)
                .map(|n| {
                    let frame = passing(n * 1_000, 64);
                    frame.last_in + impairment.apply(&frame, &mut [0]).extra_delay
                })
                .collect()
        };
        let constant = arrivals(&mut late(false, 0, 1_000_000));
        assert!(
            constant
                .iter()
                .enumerate()
                .all(|(n, at)| (*at - Instant::EPOCH).floor_ns() == n as i64 * 1_000 + 1_576)
        );
        let broken = arrivals(&mut late(false, 5_000, 1_000_000));
        assert!(broken.windows(2).any(|pair| pair[1] < pair[0]));
        let mean = broken
            .iter()
            .enumerate()
            .map(|(n, at)| (*at - Instant::EPOCH).floor_ns() as f64 - (n * 1_000 + 576) as f64);
        // Uniform from 1 to 6 us: 3.5 us on average, four standard errors of 1.44 us / sqrt(10 000).
        assert!((mean.sum::<f64>() / 10_000.0 - 3_500.0).abs() < 60.0);
        let kept = arrivals(&mut late(true, 5_000, 1_000_000));
        let gap = Duration::from_ns(576 + 96);
        assert!(kept.windows(2).all(|pair| pair[1] - pair[0] >= gap));
        let some = arrivals(&mut late(false, 0, 100_000));
        let held = some
            .iter()
            .enumerate()
            .filter(|(n, at)| (**at - Instant::EPOCH).floor_ns() > *n as i64 * 1_000 + 576)
            .count();
        assert!((held as i64 - 1_000).abs() < 120, "{held}");
    }
}
