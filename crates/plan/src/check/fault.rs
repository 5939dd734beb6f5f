//! Checks of faults.

use crate::check::{Check, ensure, index, time};
use crate::{Fault, LossModel, Pattern, Plan, PlanError, Port};

impl Plan {
    pub(crate) fn check_fault(&self, number: usize, fault: &Fault) -> Check {
        let path = |field: &str| format!("faults[{number}].{field}");
        let (from, until) = fault.span_ns();
        time(until, || path("until_ns"))?;
        ensure(from < until, || path("until_ns"), || "is not after from_ns".into())?;
        let share = |ppm: u32, field: &str| {
            ensure(ppm <= 1_000_000, || path(field), || "a share is more than 1 000 000 ppm".into())
        };
        match fault {
            Fault::LinkDown { port, .. } => index(*port, self.ports.len(), || path("port")),
            Fault::Loss { port, model, .. } => {
                index(*port, self.ports.len(), || path("port"))?;
                let shares = match *model {
                    LossModel::Bernoulli { loss_ppm } => [loss_ppm, 0, 0, 0],
                    LossModel::GilbertElliott { to_bad_ppm, to_good_ppm, loss_good_ppm, loss_bad_ppm } => {
                        [to_bad_ppm, to_good_ppm, loss_good_ppm, loss_bad_ppm]
                    }
                    LossModel::BitErrors { per_petabit } => {
                        let problem = || "is more than one error per bit".into();
                        ensure(per_petabit <= 1_000_000_000_000_000, || path("model"), problem)?;
                        [0; 4]
                    }
                };
                shares.iter().try_for_each(|part| share(*part, "model"))
            }
            Fault::Babble { stream, every_ns, .. } => {
                index(*stream, self.streams.len(), || path("stream"))?;
                ensure(*every_ns > 0, || path("every_ns"), || "must be more than 0".into())?;
                let saturating = matches!(self.streams[*stream as usize].pattern, Pattern::Saturating { .. });
                ensure(!saturating, || path("stream"), || "saturates already: it cannot babble".into())
            }
            Fault::NodeDown { node, .. } => index(*node, self.nodes.len(), || path("node")),
            Fault::Delay { port, least_ns, most_ns, share_ppm, .. } => {
                index(*port, self.ports.len(), || path("port"))?;
                time(*most_ns, || path("most_ns"))?;
                ensure(least_ns <= most_ns, || path("most_ns"), || "is less than least_ns".into())?;
                share(*share_ppm, "share_ppm")
            }
            Fault::Duplicate { port, share_ppm, after_ns, .. } => {
                index(*port, self.ports.len(), || path("port"))?;
                time(*after_ns, || path("after_ns"))?;
                share(*share_ppm, "share_ppm")
            }
            Fault::Schedule { port, gates, .. } => {
                index(*port, self.ports.len(), || path("port"))?;
                let serves = self.ports[*port as usize].server.is_some();
                ensure(!serves, || path("port"), || "a server has no gates".into())?;
                for other in &self.faults[..number] {
                    let (begins, ends) = other.span_ns();
                    let same = matches!(other, Fault::Schedule { port: own, .. } if own == port);
                    ensure(
                        !same || until <= begins || ends <= from,
                        || path("from_ns"),
                        || "another wrong schedule lasts at the same port".into(),
                    )?;
                }
                let own = &self.ports[*port as usize].gates;
                let holds = own.as_ref().is_some_and(crate::Gates::holds)
                    || gates.as_ref().is_some_and(|gates| gates.holds());
                let problem =
                    "a wrong schedule where a list holds preemptable frames back is not modelled yet";
                ensure(!holds, || path("gates"), || problem.into())?;
                // The checks of a port's own list also apply to this one.
                let wrong = Port { gates: gates.as_deref().cloned(), ..self.ports[*port as usize].clone() };
                self.check_port(*port as usize, &wrong).map_err(|error| match error {
                    PlanError::Inconsistent { problem, .. } => {
                        PlanError::Inconsistent { path: path("gates"), problem }
                    }
                    other => other,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::check::broken::{refuses, with};
    use serde_json::json;

    #[test]
    fn faults_are_checked() {
        let holds = with(&[(
            "/faults",
            json!([{"kind": "loss", "port": 0, "from_ns": 1, "until_ns": 2, "model": {"kind": "bernoulli", "loss_ppm": 5}}]),
        )]);
        refuses(
            &holds,
            &[
                ("/faults/0/until_ns", json!(1), "faults[0].until_ns: is not after from_ns"),
                (
                    "/faults/0/until_ns",
                    json!(864_000_000_000_001_u64),
                    "faults[0].until_ns: 864000000000001 ns is more than ten days",
                ),
                ("/faults/0/port", json!(8), "faults[0].port: 8 is not the index of one of 8"),
                (
                    "/faults/0/model/loss_ppm",
                    json!(1_000_001),
                    "faults[0].model: a share is more than 1 000 000 ppm",
                ),
                (
                    "/faults/0/model",
                    json!({"kind": "bit-errors", "per_petabit": 1_000_000_000_000_001_u64}),
                    "faults[0].model: is more than one error per bit",
                ),
                (
                    "/faults/0/model",
                    json!({"kind": "gilbert-elliott", "to_bad_ppm": 0, "to_good_ppm": 1_000_001, "loss_good_ppm": 0, "loss_bad_ppm": 0}),
                    "faults[0].model: a share is more than 1 000 000 ppm",
                ),
                (
                    "/faults/1",
                    json!({"kind": "link-down", "port": 8, "from_ns": 1, "until_ns": 2}),
                    "faults[1].port: 8 is not the index of one of 8",
                ),
                (
                    "/faults/1",
                    json!({"kind": "node-down", "node": 4, "from_ns": 1, "until_ns": 2}),
                    "faults[1].node: 4 is not the index of one of 4",
                ),
                (
                    "/faults/1",
                    json!({"kind": "babble", "stream": 1, "from_ns": 1, "until_ns": 2, "every_ns": 5}),
                    "faults[1].stream: 1 is not the index of one of 1",
                ),
                (
                    "/faults/1",
                    json!({"kind": "babble", "stream": 0, "from_ns": 1, "until_ns": 2, "every_ns": 0}),
                    "faults[1].every_ns: must be more than 0",
                ),
                (
                    "/faults/1",
                    json!({"kind": "delay", "port": 0, "from_ns": 1, "until_ns": 2, "least_ns": 3, "most_ns": 2, "share_ppm": 5, "keeps_order": true}),
                    "faults[1].most_ns: is less than least_ns",
                ),
                (
                    "/faults/1",
                    json!({"kind": "duplicate", "port": 0, "from_ns": 1, "until_ns": 2, "share_ppm": 1_000_001, "after_ns": 5}),
                    "faults[1].share_ppm: a share is more than 1 000 000 ppm",
                ),
                (
                    "/faults/1",
                    json!({"kind": "schedule", "port": 0, "from_ns": 1, "until_ns": 2, "gates": {"base_time_ns": 0, "cycle_ns": 9, "entries": [{"open": 1, "interval_ns": 3}]}}),
                    "faults[1].gates: the entries last 3 ns, the cycle 9 ns",
                ),
            ],
        );
    }
}
