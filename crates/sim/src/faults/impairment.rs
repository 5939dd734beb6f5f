//! Links that harm frames: cut, or lose, hold back and repeat them by chance.

use crate::ids::{FaultId, PortId};
use crate::random::Draws;
use tsn_plan::{Fault, LossModel, Plan};
use tsn_units::{Duration, Instant, PREAMBLE, START_FRAME_DELIMITER};

/// Shares are in parts per million.
const WHOLE: u64 = 1_000_000;
/// No frame is held back for longer, however many faults do so: ten days.
const LONGEST: Duration = Duration::from_ns(10 * 86_400 * 1_000_000_000);
/// Bit errors are counted per 10^15 bits.
const PETABIT: f64 = 1e15;

/// What frames from one port may meet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Impairment {
    cuts: Vec<Cut>,
    losses: Vec<Loss>,
    delays: Vec<Delay>,
    doubles: Vec<Double>,
    /// When the last bit of the last frame arrived, where a delay keeps order.
    latest: Option<Instant>,
}

/// A frame on a link.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Passing {
    /// When the first bit of its preamble leaves.
    pub first: Instant,
    /// When the first bit of its preamble arrives.
    pub first_in: Instant,
    /// When the last bit of its FCS arrives.
    pub last_in: Instant,
    /// From destination address to FCS.
    pub octets: u32,
    /// Of the link, bit/s.
    pub rate: u64,
    /// How long it keeps the receiver busy, gap included.
    pub occupies: Duration,
}

/// What a link does to a frame.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Harm {
    /// Nothing.
    None,
    /// Its first so many octets arrive; the check sequence tells that it is not whole.
    Damaged(u32),
    /// Nothing of it arrives.
    Lost,
}

/// What becomes of a frame on a link.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fate {
    pub harm: Harm,
    /// How much later than its link lets it, it arrives.
    pub late: Duration,
    /// How much later it arrives once more.
    pub again: Option<Duration>,
}

/// One fault's part: from when, until when, and which it is.
#[derive(Copy, Clone, Debug)]
struct Cut {
    from: Instant,
    until: Instant,
    fault: FaultId,
}

#[derive(Clone, Debug)]
struct Loss {
    span: Cut,
    model: LossModel,
    /// Gilbert and Elliott's state.
    bad: bool,
    draws: Draws,
}

#[derive(Clone, Debug)]
struct Delay {
    span: Cut,
    least: u64,
    /// How many ns more at most.
    more: u64,
    share_ppm: u32,
    keeps_order: bool,
    draws: Draws,
}

#[derive(Clone, Debug)]
struct Double {
    span: Cut,
    after: Duration,
    share_ppm: u32,
    draws: Draws,
}

/// Of a Plan's faults, those of links: by port, none where there is none.
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
        let span = Cut { from: instant(from_ns), until: instant(until_ns), fault: FaultId::at(number) };
        // The name is the port's and the fault's own: another fault elsewhere changes no draw here.
        let draws = |port: PortId, what: &str, place: usize| {
            let name = plan.ports.get(port.index()).map_or("", |port| &port.name);
            Draws::new(plan.seed, &format!("fault/{name}/{what}{place}"))
        };
        match fault {
            Fault::LinkDown { port, .. } => {
                let peer = plan.ports.get(*port as usize).map_or(*port, |port| port.peer);
                for port in [*port, peer] {
                    at(PortId(port), &mut |impairment| impairment.cuts.push(span));
                }
            }
            Fault::NodeDown { node, .. } => {
                for (own, port) in plan.ports.iter().enumerate().filter(|(_, port)| port.node == *node) {
                    at(PortId::at(own), &mut |impairment| impairment.cuts.push(span));
                    at(PortId(port.peer), &mut |impairment| impairment.cuts.push(span));
                }
            }
            Fault::Loss { port, model, .. } => at(PortId(*port), &mut |impairment| {
                let draws = draws(PortId(*port), "", impairment.losses.len());
                impairment.losses.push(Loss { span, model: *model, bad: false, draws });
            }),
            Fault::Delay { port, least_ns, most_ns, share_ppm, keeps_order, .. } => {
                at(PortId(*port), &mut |impairment| {
                    let draws = draws(PortId(*port), "delay/", impairment.delays.len());
                    let (least, more) = (*least_ns, most_ns.saturating_sub(*least_ns));
                    let (share_ppm, keeps_order) = (*share_ppm, *keeps_order);
                    impairment.delays.push(Delay { span, least, more, share_ppm, keeps_order, draws });
                });
            }
            Fault::Duplicate { port, share_ppm, after_ns, .. } => at(PortId(*port), &mut |impairment| {
                let draws = draws(PortId(*port), "duplicate/", impairment.doubles.len());
                let after = instant(*after_ns) - Instant::EPOCH;
                impairment.doubles.push(Double { span, after, share_ppm: *share_ppm, draws });
            }),
            Fault::Babble { .. } => {}
            // Its hops only have to be known as special, so that what leaves by it is counted.
            Fault::Schedule { port, .. } => at(PortId(*port), &mut |_| {}),
        }
    }
    found
}

/// A Plan's time as the simulator's.
pub(crate) fn instant(ns: u64) -> Instant {
    i64::try_from(ns).ok().filter(|ns| *ns <= i64::MAX / 1_000).map_or(Instant::MAX, Instant::from_ns)
}

impl Impairment {
    /// What becomes of a frame. Notes in `struck` which faults had a part in it.
    pub fn meet(&mut self, frame: &Passing, struck: &mut [u64]) -> Fate {
        let mut strike = |span: &Cut| {
            if let Some(count) = struck.get_mut(span.fault.index()) {
                *count += 1;
            }
        };
        // Every model draws for every frame of its time, so that a cut changes no later draw.
        let mut harm = Harm::None;
        for cut in self.cuts.iter().filter(|cut| frame.first < cut.until && frame.last_in >= cut.from) {
            strike(cut);
            harm = harm.max(frame.until(cut.from));
        }
        for loss in self.losses.iter_mut().filter(|loss| loss.span.holds(frame.first)) {
            if loss.loses(frame.octets) {
                strike(&loss.span);
                harm = harm.max(match loss.model {
                    LossModel::BitErrors { .. } => Harm::Damaged(frame.octets),
                    LossModel::Bernoulli { .. } | LossModel::GilbertElliott { .. } => Harm::Lost,
                });
            }
        }
        let mut fate = Fate { harm, late: Duration::ZERO, again: None };
        for delay in self.delays.iter_mut().filter(|delay| delay.span.holds(frame.first)) {
            let (held, by) = delay.draw();
            if held {
                strike(&delay.span);
                fate.late = (fate.late + by).min(LONGEST);
            }
        }
        for double in self.doubles.iter_mut().filter(|double| double.span.holds(frame.first)) {
            if chance(&mut double.draws, double.share_ppm) && fate.again.is_none() && harm == Harm::None {
                strike(&double.span);
                fate.again = Some(double.after);
            }
        }
        if self.delays.iter().any(|delay| delay.keeps_order) && harm != Harm::Lost {
            let arrival = frame.last_in + fate.late;
            // Also once it is over, and where it holds back a part of the frames: nothing overtakes.
            let arrival = self.latest.map_or(arrival, |latest| arrival.max(latest + frame.occupies));
            self.latest = Some(arrival);
            fate.late = arrival - frame.last_in;
        }
        fate
    }
}

impl Passing {
    /// What of it arrives before its link is cut.
    fn until(&self, cut: Instant) -> Harm {
        if self.first >= cut || self.first_in >= cut {
            return Harm::Lost;
        }
        let bits = i128::from((cut - self.first_in).ps()) * i128::from(self.rate) / 1_000_000_000_000;
        let before = i128::from(PREAMBLE.0 + START_FRAME_DELIMITER.0);
        let octets = u32::try_from(bits / 8 - before).unwrap_or(0).min(self.octets);
        if octets == 0 { Harm::Lost } else { Harm::Damaged(octets) }
    }
}

impl Harm {
    /// The worse of two.
    fn max(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, harm) | (harm, Self::None) => harm,
            (Self::Damaged(one), Self::Damaged(other)) => Self::Damaged(one.min(other)),
            _ => Self::Lost,
        }
    }
}

impl Cut {
    fn holds(&self, at: Instant) -> bool {
        self.from <= at && at < self.until
    }
}

impl Delay {
    /// Whether it holds this frame back, and for how long.
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

    const ALWAYS: Cut = Cut { from: Instant::EPOCH, until: Instant::MAX, fault: FaultId(0) };

    fn impairment(model: LossModel) -> Impairment {
        let loss = Loss { span: ALWAYS, model, bad: false, draws: Draws::new(1, "fault/test/0") };
        Impairment { losses: vec![loss], ..Impairment::default() }
    }

    /// A frame of a gigabit link whose cable takes no time.
    fn passing(first: i64, octets: u32) -> Passing {
        let (first, wire) = (Instant::from_ns(first), Duration::from_ns(i64::from(octets + 8) * 8));
        let occupies = wire + Duration::from_ns(96);
        Passing { first, first_in: first, last_in: first + wire, octets, rate: 1_000_000_000, occupies }
    }

    fn fates(model: LossModel, octets: u32) -> Vec<bool> {
        let mut impairment = impairment(model);
        (0..100_000).map(|ns| impairment.meet(&passing(ns, octets), &mut [0]).harm != Harm::None).collect()
    }

    fn share(fates: &[bool]) -> f64 {
        fates.iter().filter(|lost| **lost).count() as f64 / fates.len() as f64
    }

    /// Four standard errors around the closed forms.
    #[test]
    fn shares_are_as_asked() {
        let lost = fates(LossModel::Bernoulli { loss_ppm: 100_000 }, 64);
        assert!((share(&lost) - 0.1).abs() < 0.0038, "{}", share(&lost));
        // 1 - (1 - 1e-5)^(1000 * 8) = 0.07688.
        let lost = fates(LossModel::BitErrors { per_petabit: 10_000_000_000 }, 1_000);
        assert!((share(&lost) - 0.07688).abs() < 0.0034, "{}", share(&lost));
        // Bad for 0.01 / (0.01 + 0.2) of the frames.
        let bursts = LossModel::GilbertElliott {
            to_bad_ppm: 10_000,
            to_good_ppm: 200_000,
            loss_good_ppm: 0,
            loss_bad_ppm: 1_000_000,
        };
        let lost = fates(bursts, 64);
        assert!((share(&lost) - 1.0 / 21.0).abs() < 0.008, "{}", share(&lost));
        // Mean length of a burst: 1 / 0.2.
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let mean = lost.iter().filter(|lost| **lost).count() as f64 / bursts as f64;
        assert!((mean - 5.0).abs() < 0.7, "{mean}");
        assert!(!fates(LossModel::BitErrors { per_petabit: 0 }, 1_522).contains(&true));
        assert!(!fates(LossModel::BitErrors { per_petabit: 1_000_000_000_000_000 }, 64).contains(&false));
    }

    #[test]
    fn a_cut_takes_what_is_on_the_wire() {
        let span = Cut { from: Instant::from_ns(1_000), until: Instant::from_ns(2_000), fault: FaultId(1) };
        let mut cut = Impairment { cuts: vec![span], ..Impairment::default() };
        let mut struck = [0, 0];
        // A frame of 64 octets takes 576 ns; 64 of them for what comes before its first octet.
        let frames = [423, 424, 425, 1_000 - 65, 1_000 - 72, 1_000, 1_999, 2_000];
        let fates = frames.map(|first| cut.meet(&passing(first, 64), &mut struck).harm);
        use Harm::{Damaged, Lost};
        assert_eq!(fates, [Harm::None, Damaged(64), Damaged(63), Lost, Damaged(1), Lost, Lost, Harm::None]);
        assert_eq!(struck, [0, 6]);
    }

    fn late(keeps_order: bool, more: u64, share_ppm: u32) -> Impairment {
        let draws = Draws::new(1, "fault/test/delay/0");
        let delay = Delay { span: ALWAYS, least: 1_000, more, share_ppm, keeps_order, draws };
        Impairment { delays: vec![delay], ..Impairment::default() }
    }

    #[test]
    fn a_delay_keeps_order_or_breaks_it() {
        let arrivals = |impairment: &mut Impairment| -> Vec<Instant> {
            (0..10_000)
                .map(|n| {
                    let frame = passing(n * 1_000, 64);
                    frame.last_in + impairment.meet(&frame, &mut [0]).late
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
