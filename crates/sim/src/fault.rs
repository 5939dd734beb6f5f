//! Links that lose frames: cut, or by chance.

use crate::random::Draws;
use tsn_plan::{Fault, LossModel, Plan};
use tsn_units::Instant;

/// Shares are in parts per million.
const WHOLE: u64 = 1_000_000;
/// Bit errors are counted per 10^15 bits.
const PETABIT: f64 = 1e15;

/// What frames from one port may meet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Impairment {
    cuts: Vec<(Instant, Instant)>,
    losses: Vec<Loss>,
}

#[derive(Clone, Debug)]
struct Loss {
    from: Instant,
    until: Instant,
    model: LossModel,
    /// Gilbert and Elliott's state.
    bad: bool,
    draws: Draws,
}

/// Of a Plan's faults, those of links: by port, none where there is none.
pub(crate) fn impairments(plan: &Plan) -> Vec<Option<Box<Impairment>>> {
    if plan.faults.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<Option<Box<Impairment>>> = vec![None; plan.ports.len()];
    let mut at = |port: u32, change: &mut dyn FnMut(&mut Impairment)| {
        if let Some(place) = found.get_mut(port as usize) {
            change(place.get_or_insert_default());
        }
    };
    for fault in &plan.faults {
        let (from_ns, until_ns) = fault.span_ns();
        let (from, until) = (instant(from_ns), instant(until_ns));
        match fault {
            Fault::LinkDown { port, .. } => {
                let peer = plan.ports.get(*port as usize).map_or(*port, |port| port.peer);
                for port in [*port, peer] {
                    at(port, &mut |impairment| impairment.cuts.push((from, until)));
                }
            }
            Fault::Loss { port, model, .. } => at(*port, &mut |impairment| {
                // The name is the port's and the fault's own: another fault elsewhere changes no draw here.
                let name = plan.ports.get(*port as usize).map_or("", |port| &port.name);
                let place = impairment.losses.len();
                let draws = Draws::new(plan.seed, &format!("fault/{name}/{place}"));
                impairment.losses.push(Loss { from, until, model: *model, bad: false, draws });
            }),
            Fault::Babble { .. } => {}
        }
    }
    found
}

/// A Plan's time as the simulator's.
pub(crate) fn instant(ns: u64) -> Instant {
    i64::try_from(ns).ok().filter(|ns| *ns <= i64::MAX / 1_000).map_or(Instant::MAX, Instant::from_ns)
}

impl Impairment {
    /// Whether a frame is lost whose first bit leaves at `first` and whose last bit would arrive at `last`.
    pub fn loses(&mut self, first: Instant, last: Instant, octets: u32) -> bool {
        // Every model draws for every frame of its time, so that a cut changes no later draw.
        let mut lost = self.cuts.iter().any(|(from, until)| first < *until && last >= *from);
        for loss in &mut self.losses {
            if loss.from <= first && first < loss.until {
                lost |= loss.loses(octets);
            }
        }
        lost
    }
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
        self.draws.below(WHOLE) < u64::from(ppm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn impairment(model: LossModel) -> Impairment {
        let (from, until) = (Instant::EPOCH, Instant::MAX);
        let loss = Loss { from, until, model, bad: false, draws: Draws::new(1, "fault/test/0") };
        Impairment { cuts: Vec::new(), losses: vec![loss] }
    }

    fn fates(model: LossModel, octets: u32) -> Vec<bool> {
        let mut impairment = impairment(model);
        (0..100_000).map(|ns| impairment.loses(Instant::from_ns(ns), Instant::from_ns(ns), octets)).collect()
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
        let at = Instant::from_ns;
        let mut cut = Impairment { cuts: vec![(at(100), at(200))], losses: Vec::new() };
        let frames = [(0, 99), (0, 100), (100, 120), (199, 300), (200, 300)];
        let lost = frames.map(|(first, last)| cut.loses(at(first), at(last), 64));
        assert_eq!(lost, [false, true, true, true, false]);
    }
}
