//! Checks of active stream identification.

use crate::check::{Check, ensure};
use crate::{Identification, Plan, Redundancy, Rewritten, Stream};

impl Plan {
    pub(crate) fn check_rewriting(
        &self,
        stream: &Stream,
        redundancy: &Redundancy,
        path: impl Fn(&str) -> String,
    ) -> Check {
        let Some(Identification::Active(rewritten)) =
            redundancy.recovery.as_ref().map(|recovery| &recovery.identification)
        else {
            return Ok(());
        };
        let path = |field: &str| path(&format!("redundancy.recovery.identification.active{field}"));
        let Rewritten { destination_mac, vid, pcp } = rewritten;
        ensure(
            stream.vid.is_some(),
            || path(""),
            || "its frames carry no VLAN tag that could change".into(),
        )?;
        ensure((1..=4094).contains(vid), || path(".vid"), || format!("{vid} is not 1 to 4094"))?;
        ensure(*pcp < 8, || path(".pcp"), || format!("{pcp} is not 0 to 7"))?;
        ensure(
            is_mac(destination_mac),
            || path(".destination_mac"),
            || format!("{destination_mac:?} is no MAC address"),
        )?;
        let most = redundancy.copies.iter().any(|copy| *copy > 0);
        ensure(most, || path(""), || "no copy is made whose address could change".into())
    }
}

fn is_mac(text: &str) -> bool {
    let octets = || text.split(':');
    octets().count() == 6
        && octets().all(|octet| octet.len() == 2 && octet.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use crate::check::broken::{redundant, refuses};
    use serde_json::{Value, json};

    fn rewritten() -> Value {
        let mut plan = redundant();
        let shown = json!({"destination_mac": "02:00:00:00:02:00", "vid": 2, "pcp": 5});
        plan["streams"][0]["redundancy"]["recovery"]["identification"] = json!({"active": shown});
        plan
    }

    #[test]
    fn active_identification_is_checked() {
        let holds = rewritten();
        refuses(
            &holds,
            &[
                (
                    "/streams/0/vid",
                    json!(null),
                    "streams[0].redundancy.recovery.identification.active: its frames carry no VLAN tag that could change",
                ),
                (
                    "/streams/0/redundancy/recovery/identification/active/vid",
                    json!(0),
                    "streams[0].redundancy.recovery.identification.active.vid: 0 is not 1 to 4094",
                ),
                (
                    "/streams/0/redundancy/recovery/identification/active/pcp",
                    json!(8),
                    "streams[0].redundancy.recovery.identification.active.pcp: 8 is not 0 to 7",
                ),
                (
                    "/streams/0/redundancy/recovery/identification/active/destination_mac",
                    json!("02:00:00:00:02"),
                    "streams[0].redundancy.recovery.identification.active.destination_mac: \"02:00:00:00:02\" is no MAC address",
                ),
                (
                    "/streams/0/redundancy/copies",
                    json!([]),
                    "streams[0].redundancy.recovery.identification.active: no copy is made whose address could change",
                ),
            ],
        );
    }
}
