//! Checks of ports, their classes and their shapers.

use crate::check::{Check, ensure, index, time};
use crate::{Cbs, Plan, Port};

impl Plan {
    pub(crate) fn check_port(&self, number: usize, port: &Port) -> Check {
        let path = |field: &str| format!("ports[{number}].{field}");
        index(port.node, self.nodes.len(), || path("node"))?;
        index(port.peer, self.ports.len(), || path("peer"))?;
        ensure(
            self.ports[port.peer as usize].peer as usize == number && port.peer as usize != number,
            || path("peer"),
            || "the peer's peer is another port".into(),
        )?;
        ensure(
            (1_000_000..=1_000_000_000_000).contains(&port.rate_bps),
            || path("rate_bps"),
            || format!("{} bit/s is not between 1 Mbit/s and 1 Tbit/s", port.rate_bps),
        )?;
        time(port.propagation_ps / 1_000, || path("propagation_ps"))?;
        let classes = port.classes.len();
        ensure((1..=8).contains(&classes), || path("classes"), || format!("{classes} classes, not 1 to 8"))?;
        for (pcp, class) in port.pcp_to_class.iter().enumerate() {
            index(u32::from(*class), classes, || path(&format!("pcp_to_class[{pcp}]")))?;
        }
        for (class, cbs) in port.classes.iter().enumerate().filter_map(|(n, c)| Some((n, c.cbs.as_ref()?))) {
            let Cbs { idle_slope_bps, send_slope_bps, hi_credit_bits, lo_credit_bits, .. } = *cbs;
            ensure(
                idle_slope_bps > 0
                    && send_slope_bps < 0
                    && hi_credit_bits >= 0
                    && lo_credit_bits <= 0
                    && idle_slope_bps <= 1_000_000_000_000
                    && send_slope_bps >= -1_000_000_000_000
                    && hi_credit_bits <= 1 << 40
                    && lo_credit_bits >= -(1 << 40),
                || path(&format!("classes[{class}].cbs")),
                || "slopes or credits have the wrong sign or are out of range".into(),
            )?;
        }
        self.check_gates(number, port)
    }
}

#[cfg(test)]
mod tests {
    use crate::check::broken::{plan, refuses};
    use serde_json::json;

    #[test]
    fn ports_are_checked() {
        let linux = json!({"idleslope": 1, "sendslope": -1, "hicredit": 1, "locredit": -1});
        let holds = plan();
        refuses(
            &holds,
            &[
                ("/ports/4/node", json!(4), "ports[4].node: 4 is not the index of one of 4"),
                ("/ports/4/peer", json!(8), "ports[4].peer: 8 is not the index of one of 8"),
                ("/ports/4/peer", json!(6), "ports[4].peer: the peer's peer is another port"),
                ("/ports/4/peer", json!(4), "ports[4].peer: the peer's peer is another port"),
                (
                    "/ports/4/rate_bps",
                    json!(999_999),
                    "ports[4].rate_bps: 999999 bit/s is not between 1 Mbit/s and 1 Tbit/s",
                ),
                (
                    "/ports/4/propagation_ps",
                    json!(864_000_000_000_001_000_u64),
                    "ports[4].propagation_ps: 864000000000001 ns is more than ten days",
                ),
                ("/ports/4/classes", json!([]), "ports[4].classes: 0 classes, not 1 to 8"),
                (
                    "/ports/4/pcp_to_class/3",
                    json!(8),
                    "ports[4].pcp_to_class[3]: 8 is not the index of one of 8",
                ),
                (
                    "/ports/4/classes/5/cbs",
                    json!({"idle_slope_bps": 0, "send_slope_bps": -1, "hi_credit_bits": 0, "lo_credit_bits": 0, "linux": linux}),
                    "ports[4].classes[5].cbs: slopes or credits have the wrong sign or are out of range",
                ),
                (
                    "/ports/4/classes/5/cbs",
                    json!({"idle_slope_bps": 1, "send_slope_bps": -1, "hi_credit_bits": 1_u64 << 41, "lo_credit_bits": 0, "linux": linux}),
                    "ports[4].classes[5].cbs: slopes or credits have the wrong sign or are out of range",
                ),
            ],
        );
    }
}
