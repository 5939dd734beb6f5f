//! What must hold of faults.

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
                // Whatever must hold of the port's own list must hold of this one.
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
