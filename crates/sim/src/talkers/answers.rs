//! Talkers that answer: they release a data unit when a frame of another stream has reached them.

use crate::ids::{NodeId, StreamId};
use crate::random::Draws;
use std::collections::HashMap;
use tsn_plan::{Pattern, Plan, duration};
use tsn_units::{Duration, Instant};

/// A stream that answers, and how long after the request.
#[derive(Clone, Debug)]
struct Answer {
    stream: StreamId,
    after: Duration,
    jitter_ps: u64,
    draws: Option<Box<Draws>>,
}

/// The answering streams, by the request and the node that answers it.
#[derive(Clone, Debug)]
pub(crate) struct Answers(HashMap<(StreamId, NodeId), Vec<Answer>>);

impl Answers {
    /// The answering streams of a Plan; none without any.
    pub fn new(plan: &Plan) -> Option<Box<Self>> {
        let mut found: HashMap<_, Vec<Answer>> = HashMap::new();
        for (number, stream) in plan.streams.iter().enumerate() {
            let Some(answers) = stream.answers else { continue };
            let jitter_ns = match stream.pattern {
                Pattern::Periodic { jitter_ns, .. } => jitter_ns,
                Pattern::Poisson { .. } | Pattern::Saturating { .. } | Pattern::Trace { .. } => 0,
            };
            found.entry((StreamId(answers.stream), NodeId(stream.talker))).or_default().push(Answer {
                stream: StreamId::at(number),
                after: duration(answers.after_ns),
                jitter_ps: jitter_ns.saturating_mul(1_000),
                draws: (jitter_ns > 0)
                    .then(|| Box::new(Draws::new(plan.seed, &format!("stream/{}/jitter", stream.name)))),
            });
        }
        (!found.is_empty()).then(|| Box::new(Self(found)))
    }

    /// Whether frames of a stream are answered at a node.
    pub fn has(&self, request: StreamId, node: NodeId) -> bool {
        self.0.contains_key(&(request, node))
    }

    /// The releases that follow a frame of the request which the node has received at `at`.
    pub fn released(
        &mut self,
        request: StreamId,
        node: NodeId,
        at: Instant,
    ) -> impl Iterator<Item = (StreamId, Instant)> + '_ {
        self.0.get_mut(&(request, node)).into_iter().flatten().map(move |answer| {
            let jitter =
                answer.draws.as_mut().map_or(0, |draws| draws.below(answer.jitter_ps.saturating_add(1)));
            let after = answer.after + Duration::from_ps(i64::try_from(jitter).unwrap_or(i64::MAX));
            (answer.stream, at + after)
        })
    }
}
