//! Checks of PTP beyond gPTP's tree, and of clock faults.

use crate::check::clocks::{MOST_OFFSET_NS, MOST_PPT, interval};
use crate::check::{Check, ensure, index, time};
use crate::{Bmca, ClockFault, Gptp, Plan, Servo};

/// All steps of clocks together: a day, so that sums of times do not overflow.
const MOST_STEPS_NS: i64 = 86_400 * 1_000_000_000;

impl Plan {
    pub(crate) fn check_ptp(&self, gptp: &Gptp) -> Check {
        let mut transparent = vec![false; self.nodes.len()];
        if let Some(ieee_1588) = &gptp.ieee_1588 {
            for (place, node) in ieee_1588.transparent.iter().enumerate() {
                let path = || format!("clocks.gptp.ieee_1588.transparent[{place}]");
                index(*node, self.nodes.len(), path)?;
                ensure(*node != gptp.grandmaster, path, || "is the grandmaster".into())?;
                transparent[*node as usize] = true;
            }
        }
        if let Some(servo) = &gptp.servo {
            check_servo(servo)?;
        }
        if let Some(bmca) = &gptp.bmca {
            ensure(
                gptp.slaves.is_empty(),
                || "clocks.gptp.slaves".into(),
                || "are given where they are elected".into(),
            )?;
            self.check_bmca(bmca, &transparent)?;
        }
        Ok(())
    }

    fn check_bmca(&self, bmca: &Bmca, transparent: &[bool]) -> Check {
        let path = |field: &str| format!("clocks.gptp.bmca.{field}");
        let (found, nodes) = (bmca.clocks.len(), self.nodes.len());
        ensure(found == nodes, || path("clocks"), || format!("{found} for {nodes} nodes"))?;
        interval(bmca.announce_interval_ns, || path("announce_interval_ns"))?;
        ensure(
            bmca.announce_receipt_timeout >= 2 && bmca.sync_receipt_timeout >= 2,
            || path("announce_receipt_timeout"),
            || "timeouts are at least two intervals".into(),
        )?;
        let mut takes_part = vec![false; self.ports.len()];
        for (place, port) in bmca.ports.iter().enumerate() {
            let path = || path(&format!("ports[{place}]"));
            index(*port, self.ports.len(), path)?;
            let part = &mut takes_part[*port as usize];
            ensure(!*part, path, || "is there twice".into())?;
            *part = true;
        }
        // Sets of transparent clocks that are joined by links: an additional link within a set would let messages
        // circulate.
        let mut set: Vec<usize> = (0..nodes).collect();
        for (place, port) in bmca.ports.iter().enumerate() {
            let path = || path(&format!("ports[{place}]"));
            let own = &self.ports[*port as usize];
            ensure(takes_part[own.peer as usize], path, || "takes part without its peer".into())?;
            let (a, b) = (own.node as usize, self.ports[own.peer as usize].node as usize);
            if *port < own.peer && transparent[a] && transparent[b] {
                ensure(set[a] != set[b], path, || {
                    "closes a ring of transparent clocks, in which messages would go round for ever".into()
                })?;
                let (from, to) = (set[a], set[b]);
                set.iter_mut().filter(|it| **it == from).for_each(|it| *it = to);
            }
        }
        Ok(())
    }

    pub(crate) fn check_clock_faults(&self, faults: &[ClockFault], ptp: bool) -> Check {
        let mut stepped_ns: i64 = 0;
        for (place, fault) in faults.iter().enumerate() {
            let path = |field: &str| format!("clocks.faults[{place}].{field}");
            let (ClockFault::ClockStep { node, .. }
            | ClockFault::FrequencyJump { node, .. }
            | ClockFault::PtpDown { node, .. }) = fault;
            index(*node, self.nodes.len(), || path("node"))?;
            match fault {
                ClockFault::ClockStep { at_ns, by_ns, .. } => {
                    time(*at_ns, || path("at_ns"))?;
                    stepped_ns = stepped_ns.saturating_add(by_ns.saturating_abs());
                    ensure(
                        stepped_ns <= MOST_STEPS_NS,
                        || path("by_ns"),
                        || "makes all steps together more than a day".into(),
                    )?;
                }
                ClockFault::FrequencyJump { from_ns, until_ns, .. }
                | ClockFault::PtpDown { from_ns, until_ns, .. } => {
                    time(*from_ns, || path("from_ns"))?;
                    time(*until_ns, || path("until_ns"))?;
                    ensure(from_ns < until_ns, || path("until_ns"), || "is not after its begin".into())?;
                }
            }
            if let ClockFault::FrequencyJump { by_ppt, .. } = fault {
                ensure(
                    (-MOST_PPT..=MOST_PPT).contains(by_ppt),
                    || path("by_ppt"),
                    || format!("{by_ppt} parts of 10^12 are more than 1000 ppm"),
                )?;
            }
            ensure(
                ptp || !matches!(fault, ClockFault::PtpDown { .. }),
                || path("kind"),
                || "needs PTP".into(),
            )?;
        }
        Ok(())
    }
}

fn check_servo(servo: &Servo) -> Check {
    let path = |field: &str| format!("clocks.gptp.servo.{field}");
    // Beyond these limits, gains exceed fixed point.
    let within = |value: i64, most: i64, least: i64, field: &str| {
        ensure(
            (least..=most).contains(&value),
            || path(field),
            || format!("{value} is not between {least} and {most}"),
        )
    };
    within(servo.pi_proportional_scale, 10_000, 0, "pi_proportional_scale")?;
    within(servo.pi_proportional_exponent, 0, -1_000, "pi_proportional_exponent")?;
    within(servo.pi_proportional_norm_max, 1_000, 1, "pi_proportional_norm_max")?;
    within(servo.pi_integral_scale, 10_000, 1, "pi_integral_scale")?;
    within(servo.pi_integral_exponent, 2_000, 0, "pi_integral_exponent")?;
    within(servo.pi_integral_norm_max, 2_000, 1, "pi_integral_norm_max")?;
    within(servo.first_step_threshold_ns, MOST_OFFSET_NS, 0, "first_step_threshold_ns")?;
    within(servo.step_threshold_ns, MOST_OFFSET_NS, 0, "step_threshold_ns")?;
    within(servo.max_frequency_ppb, 90_000_000, 1, "max_frequency_ppb")
}

#[cfg(test)]
mod tests {
    use crate::check::broken::{refuses, with};
    use serde_json::json;

    #[test]
    fn ptp_and_faults_of_clocks_are_checked() {
        let holds = with(&[(
            "/clocks",
            json!({"record_ns": 1_000_000, "nodes": vec![json!({"offset_ns": 0, "deviation_ppt": 0, "granularity_ns": 1, "jitter_ns": 0, "changes": [{"at_ns": 1, "deviation_ppt": 1}, {"at_ns": 2, "deviation_ppt": 1}], "wander": {"most_ppt": 1, "every_ns": 100_000}}); 4], "gptp": {"grandmaster": 0, "slaves": [1, 5], "sync_interval_ns": 125_000_000, "pdelay_interval_ns": 1_000_000_000, "pcp": 7, "wakeup_ns": 0, "ieee_1588": {"delay": "end-to-end", "transparent": [1]}, "servo": {"pi_proportional_scale": 0, "pi_proportional_exponent": -300, "pi_proportional_norm_max": 700, "pi_integral_scale": 1, "pi_integral_exponent": 400, "pi_integral_norm_max": 300, "first_step_threshold_ns": 20_000, "step_threshold_ns": 0, "max_frequency_ppb": 90_000_000}}, "faults": [{"kind": "clock-step", "node": 1, "at_ns": 1, "by_ns": 5}, {"kind": "frequency-jump", "node": 1, "from_ns": 1, "until_ns": 2, "by_ppt": 5}, {"kind": "ptp-down", "node": 1, "from_ns": 1, "until_ns": 2}]}),
        )]);
        refuses(
            &holds,
            &[
                (
                    "/clocks/gptp/ieee_1588/transparent/0",
                    json!(4),
                    "clocks.gptp.ieee_1588.transparent[0]: 4 is not the index of one of 4",
                ),
                (
                    "/clocks/gptp/ieee_1588/transparent/0",
                    json!(0),
                    "clocks.gptp.ieee_1588.transparent[0]: is the grandmaster",
                ),
                (
                    "/clocks/gptp/servo/pi_proportional_scale",
                    json!(10_001),
                    "clocks.gptp.servo.pi_proportional_scale: 10001 is not between 0 and 10000",
                ),
                (
                    "/clocks/gptp/servo/max_frequency_ppb",
                    json!(0),
                    "clocks.gptp.servo.max_frequency_ppb: 0 is not between 1 and 90000000",
                ),
                (
                    "/clocks/gptp/bmca",
                    json!({"ports": [0, 1], "clocks": [], "announce_interval_ns": 1_000_000, "announce_receipt_timeout": 3, "sync_receipt_timeout": 3}),
                    "clocks.gptp.slaves: are given where they are elected",
                ),
                ("/clocks/faults/0/node", json!(4), "clocks.faults[0].node: 4 is not the index of one of 4"),
                (
                    "/clocks/faults/0/by_ns",
                    json!(86_400_000_000_001_i64),
                    "clocks.faults[0].by_ns: makes all steps together more than a day",
                ),
                (
                    "/clocks/faults/1/by_ppt",
                    json!(1_000_000_001),
                    "clocks.faults[1].by_ppt: 1000000001 parts of 10^12 are more than 1000 ppm",
                ),
                ("/clocks/faults/1/until_ns", json!(1), "clocks.faults[1].until_ns: is not after its begin"),
                ("/clocks/gptp", json!(null), "clocks.faults[2].kind: needs PTP"),
            ],
        );
    }
}
