//! A proportional-integral servo with linuxptp's parameters, defaults and states.
//!
//! ptp4l(8), options `pi_…`, `first_step_threshold`, `step_threshold`, `max_frequency`. It computes in fixed point
//! instead of floating point: gains in 2^-32, frequencies in 2^-32 ppb; only the powers in the gains use libm, once.

use tsn_units::{Duration, Frequency, Instant, Local};

const FIXED: u32 = 32;

/// The options, in thousandths and nanoseconds; [`PiParameters::default`] has linuxptp's for hardware timestamps.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PiParameters {
    /// `pi_proportional_scale`, thousandths.
    pub proportional_scale: i64,
    /// `pi_proportional_exponent`, thousandths.
    pub proportional_exponent: i64,
    /// `pi_proportional_norm_max`, thousandths.
    pub proportional_norm_max: i64,
    /// `pi_integral_scale`, thousandths.
    pub integral_scale: i64,
    /// `pi_integral_exponent`, thousandths.
    pub integral_exponent: i64,
    /// `pi_integral_norm_max`, thousandths.
    pub integral_norm_max: i64,
    /// `first_step_threshold`, ns: the first correction is a step if the offset is larger; 0 for never.
    pub first_step_threshold_ns: i64,
    /// `step_threshold`, ns: the servo restarts if the offset is larger; 0 for never.
    pub step_threshold_ns: i64,
    /// `max_frequency`, ppb.
    pub max_frequency_ppb: i64,
}

impl Default for PiParameters {
    fn default() -> Self {
        Self {
            proportional_scale: 700,
            proportional_exponent: -300,
            proportional_norm_max: 700,
            integral_scale: 300,
            integral_exponent: 400,
            integral_norm_max: 300,
            first_step_threshold_ns: 20_000,
            step_threshold_ns: 0,
            // The greatest value of the I210 driver; linuxptp itself would allow up to nine tenths.
            max_frequency_ppb: 62_499_999,
        }
    }
}

/// The correction of a clock after a sample.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// The frequency adjustment from now on.
    pub frequency: Frequency,
    /// The step before the adjustment.
    pub step: Option<Duration>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Sample {
    offset_ns: i64,
    local_ns: i64,
}

#[derive(Copy, Clone, Debug)]
enum State {
    Start,
    /// There is one sample; a second one, late enough, gives the frequency.
    Estimating(Sample),
    Tracking,
}

/// The servo of one clock.
#[derive(Clone, Debug)]
pub struct PiServo {
    parameters: PiParameters,
    /// Gains in 2^-32: ppb per ns of offset.
    kp: i64,
    ki: i64,
    /// Least distance of two samples from which the frequency is estimated.
    min_spacing_ns: i64,
    /// Estimated frequency error of the oscillator in 2^-32 ppb.
    drift: i64,
    state: State,
    corrected: bool,
}

impl PiServo {
    /// A servo for samples every `interval`.
    #[must_use]
    pub fn new(parameters: PiParameters, interval: Duration) -> Self {
        let seconds = interval.ps().max(1) as f64 / 1e12;
        let gain = |scale: i64, exponent: i64, norm_max: i64| {
            let gain = scale as f64 / 1e3 * libm::pow(seconds, exponent as f64 / 1e3);
            gain.min(norm_max as f64 / 1e3 / seconds)
        };
        let p = &parameters;
        let kp = gain(p.proportional_scale, p.proportional_exponent, p.proportional_norm_max);
        let ki = gain(p.integral_scale, p.integral_exponent, p.integral_norm_max);
        // 0.016 / ki seconds, at most 1000 s, less a margin of a thousandth.
        let apart = (0.016 / ki).min(1000.0) / 1.001;
        let fixed = |value: f64| (value * (1u64 << FIXED) as f64) as i64;
        Self {
            parameters,
            kp: fixed(kp),
            ki: fixed(ki),
            min_spacing_ns: libm::ceil(apart * 1e9) as i64,
            drift: 0,
            state: State::Start,
            corrected: false,
        }
    }

    /// Proportional and integral gain in 2^-32 ppb per ns.
    #[must_use]
    pub fn gains(&self) -> (i64, i64) {
        (self.kp, self.ki)
    }

    /// Handles a sample: the clock was ahead of its master by `offset` when it showed `local`. None if there is no
    /// correction yet.
    pub fn sample(&mut self, offset: Duration, local: Instant<Local>) -> Option<Correction> {
        let sample = Sample { offset_ns: offset.floor_ns(), local_ns: local.ticked_ns(1) };
        let distance = sample.offset_ns.saturating_abs();
        let beyond = |threshold: i64| threshold > 0 && distance > threshold;
        match self.state {
            State::Start => {
                self.state = State::Estimating(sample);
                None
            }
            State::Estimating(first) if first.local_ns >= sample.local_ns => {
                self.state = State::Start;
                None
            }
            State::Estimating(first) if sample.local_ns - first.local_ns < self.min_spacing_ns => None,
            State::Estimating(first) => {
                let span = i128::from(sample.local_ns - first.local_ns);
                let gained = i128::from(sample.offset_ns) - i128::from(first.offset_ns);
                let nominal = (1_000_000_000_i128 << FIXED) - i128::from(self.drift);
                self.drift = self.limited(i128::from(self.drift) + nominal * gained / span);
                let step = beyond(self.parameters.step_threshold_ns)
                    || !self.corrected && beyond(self.parameters.first_step_threshold_ns);
                self.state = State::Tracking;
                self.corrected = true;
                Some(Correction { frequency: slower_by(self.drift), step: step.then(|| -offset) })
            }
            State::Tracking if beyond(self.parameters.step_threshold_ns) => {
                self.state = State::Start;
                None
            }
            State::Tracking => {
                let integral = i128::from(self.ki) * i128::from(sample.offset_ns);
                let proportional = i128::from(self.kp) * i128::from(sample.offset_ns);
                let wanted = proportional + i128::from(self.drift) + integral;
                let limited = self.limited(wanted);
                // At the limit the integral part is not changed (anti-windup).
                if i128::from(limited) == wanted {
                    self.drift = self.limited(i128::from(self.drift) + integral);
                }
                Some(Correction { frequency: slower_by(limited), step: None })
            }
        }
    }

    fn limited(&self, frequency: i128) -> i64 {
        let most = (i128::from(self.parameters.max_frequency_ppb) << FIXED).min(i128::from(i64::MAX));
        frequency.clamp(-most, most) as i64
    }
}

/// The adjustment that compensates a clock that is too fast by `drift` (2^-32 ppb).
fn slower_by(drift: i64) -> Frequency {
    // 2^-32 ppb in 2^-60: times 2^28 / 10^9.
    Frequency::from_units((-(i128::from(drift) << 28) / 1_000_000_000) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ppb(correction: Option<Correction>) -> Option<f64> {
        correction.map(|it| it.frequency.units() as f64 / (1u64 << 60) as f64 * 1e9)
    }

    /// kp = 0.7 S^-0.3 up to 0.7 / S, ki = 0.3 S^0.4 up to 0.3 / S, S the interval in seconds.
    #[test]
    fn gains_are_linuxptps() {
        for (interval_ns, kp, ki) in [
            (1_000_000_000, 0.7, 0.3),
            (125_000_000, 0.7 * 1.866_065_983, 0.3 * 0.435_275_281_6),
            (7_812_500, 0.7 * 4.287_093_850, 0.3 * 0.143_587_294_4),
            (2_000_000_000, 0.35, 0.15),
        ] {
            let servo = PiServo::new(PiParameters::default(), Duration::from_ns(interval_ns));
            let gains = servo.gains();
            for (found, expected) in [(gains.0, kp), (gains.1, ki)] {
                let found = found as f64 / 4_294_967_296.0;
                assert!((found - expected).abs() < 1e-6, "{interval_ns} ns: {found}, not {expected}");
            }
        }
    }

    /// Inputs (ns) and outputs (ppb of adjustment, step in ns) of the formulas with kp 0.7, ki 0.3, one second apart.
    #[test]
    fn samples_give_what_the_formulas_say() {
        let mut servo = PiServo::new(PiParameters::default(), Duration::from_ns(1_000_000_000));
        let s = 1_000_000_000;
        for (local, offset, adjustment, step) in [
            (s, 50_000, None, None),
            // There must be 0.016 / 0.3 s = 53.3 ms between the two samples.
            (s + 53_000_000, 50_500, None, None),
            // drift = 1e9 * 10_000 / 1e9, and the first correction, of more than 20 us, is a step.
            (2 * s, 60_000, Some(-10_000.0), Some(-60_000)),
            // 0.7 * 100 + 10_000 + 0.3 * 100
            (3 * s, 100, Some(-10_100.0), None),
            // drift is 10_030 now: 0.7 * -40 + 10_030 - 0.3 * 40
            (4 * s, -40, Some(-9_990.0), None),
            (5 * s, 0, Some(-10_018.0), None),
            // Beyond the limit the adjustment is cut, and the drift is unchanged.
            (6 * s, 100_000_000, Some(-62_499_999.0), None),
            (7 * s, 0, Some(-10_018.0), None),
        ] {
            let correction = servo.sample(Duration::from_ns(offset), Instant::from_ns(local));
            match (ppb(correction), adjustment) {
                (Some(found), Some(expected)) => {
                    assert!((found - expected).abs() < 1e-5, "at {local}: {found}, not {expected}");
                }
                (found, expected) => assert_eq!(found, expected, "at {local}"),
            }
            let stepped = correction.and_then(|it| it.step).map(Duration::floor_ns);
            assert_eq!(stepped, step, "at {local}");
        }
    }

    /// There must be 0.016 / 0.3 s, less a thousandth, between the first two samples: 53,280,054 ns.
    #[test]
    fn two_samples_are_far_enough_apart_to_the_nanosecond() {
        for (apart, corrects) in [(53_280_053, false), (53_280_054, true)] {
            let mut servo = PiServo::new(PiParameters::default(), Duration::from_ns(1_000_000_000));
            assert_eq!(servo.sample(Duration::ZERO, Instant::from_ns(5)), None);
            let second = servo.sample(Duration::ZERO, Instant::from_ns(5 + apart));
            assert_eq!(second.is_some(), corrects, "{apart} ns");
        }
    }

    /// A servo that restarts continues with its last frequency, and estimates on the clock that it adjusts.
    #[test]
    fn a_frequency_is_estimated_from_the_one_before() {
        let parameters = PiParameters { step_threshold_ns: 1_000_000, ..PiParameters::default() };
        let s = 1_000_000_000;
        let mut servo = PiServo::new(parameters, Duration::from_ns(s));
        let mut sample = |offset, n: i64| {
            let found = ppb(servo.sample(Duration::from_ns(offset), Instant::from_ns(n * s)));
            found.map(|ppb| (ppb * 1e3).round() / 1e3)
        };
        assert_eq!([sample(0, 1), sample(10_000, 2)], [None, Some(-10_000.0)]);
        assert_eq!(sample(2_000_000, 3), None, "too far: anew");
        assert_eq!(sample(2_000_000, 4), None);
        // 10,000 ppb are in force. The clock, slower by 10,000 ppb, shows another 100,000 ppb, which are 99,999 ppb of
        // its own frequency: together 109,999.
        assert_eq!(sample(2_100_000, 5), Some(-109_999.0));
    }

    #[test]
    fn steps_only_beyond_its_thresholds() {
        let s = 1_000_000_000;
        let run = |parameters: PiParameters, offsets: &[i64]| {
            let mut servo = PiServo::new(parameters, Duration::from_ns(s));
            let samples = offsets.iter().zip(1..);
            samples
                .map(|(offset, n)| servo.sample(Duration::from_ns(*offset), Instant::from_ns(n * s)))
                .map(|correction| correction.map(|it| it.step.is_some()))
                .collect::<Vec<_>>()
        };
        let default = PiParameters::default();
        assert_eq!(run(default, &[19_000, 20_000, 30_000]), [None, Some(false), Some(false)]);
        assert_eq!(run(default, &[19_000, 20_001]), [None, Some(true)]);
        // A step threshold makes the servo restart and step.
        let anew = PiParameters { step_threshold_ns: 1_000, ..default };
        assert_eq!(
            run(anew, &[0, 0, 1_000, 1_001, 1_001, 1_001]),
            [None, Some(false), Some(false), None, None, Some(true)]
        );
        // A clock that was set back between two samples gives no frequency.
        let mut servo = PiServo::new(default, Duration::from_ns(s));
        assert_eq!(servo.sample(Duration::ZERO, Instant::from_ns(s)), None);
        assert_eq!(servo.sample(Duration::ZERO, Instant::from_ns(s)), None);
        assert_eq!(servo.sample(Duration::ZERO, Instant::from_ns(2 * s)), None);
        assert!(servo.sample(Duration::ZERO, Instant::from_ns(3 * s)).is_some());
    }
}
