//! Talkers that answer: they release a data unit when a frame of another stream has reached them.

use crate::ids::{NodeId, StreamId};
use crate::random::Draws;
use std::collections::{HashMap, VecDeque};
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

/// The answering streams.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers {
    /// By the request and the node that answers it.
    by_request: HashMap<(StreamId, NodeId), Vec<Answer>>,
    /// Of answers with message data: times of the releases to come, in order, with the number of the request.
    waiting: HashMap<StreamId, VecDeque<(Instant, u64)>>,
}

impl Answers {
    /// The answering streams of a Plan; none without any.
    pub fn new(plan: &Plan) -> Option<Box<Self>> {
        let mut found = Self::default();
        for (number, stream) in plan.streams.iter().enumerate() {
            let Some(answers) = stream.answers else { continue };
            let jitter_ns = match stream.pattern {
                Pattern::Periodic { jitter_ns, .. } => jitter_ns,
                Pattern::Poisson { .. }
                | Pattern::Saturating { .. }
                | Pattern::TokenBucket { .. }
                | Pattern::Trace { .. } => 0,
            };
            if stream.trdp.as_deref().is_some_and(|trdp| trdp.kind.is_message()) {
                found.waiting.insert(StreamId::at(number), VecDeque::new());
            }
            found.by_request.entry((StreamId(answers.stream), NodeId(stream.talker))).or_default().push(
                Answer {
                    stream: StreamId::at(number),
                    after: duration(answers.after_ns),
                    jitter_ps: jitter_ns.saturating_mul(1_000),
                    draws: (jitter_ns > 0)
                        .then(|| Box::new(Draws::new(plan.seed, &format!("stream/{}/jitter", stream.name)))),
                },
            );
        }
        (!found.by_request.is_empty()).then(|| Box::new(found))
    }

    /// Whether frames of a stream are answered at a node.
    pub fn has(&self, request: StreamId, node: NodeId) -> bool {
        self.by_request.contains_key(&(request, node))
    }

    /// The releases that follow a frame of the request which the node has received at `at`.
    pub fn released(
        &mut self,
        request: StreamId,
        node: NodeId,
        at: Instant,
    ) -> impl Iterator<Item = (StreamId, Instant)> + '_ {
        self.by_request.get_mut(&(request, node)).into_iter().flatten().map(move |answer| {
            let jitter =
                answer.draws.as_mut().map_or(0, |draws| draws.below(answer.jitter_ps.saturating_add(1)));
            let after = answer.after + Duration::from_ps(i64::try_from(jitter).unwrap_or(i64::MAX));
            (answer.stream, at + after)
        })
    }

    /// Keeps the number of the request until its answer is released, if the answer is message data.
    pub fn expect(&mut self, answer: StreamId, released: Instant, request: u64) {
        if let Some(waiting) = self.waiting.get_mut(&answer) {
            // Releases at one instant are in the order of their requests.
            let place = waiting.partition_point(|(at, _)| *at <= released);
            waiting.insert(place, (released, request));
        }
    }

    /// The number of the request of the answer that is released now; none if the answer is no message data.
    pub fn take_request(&mut self, answer: StreamId) -> Option<u64> {
        self.waiting.get_mut(&answer)?.pop_front().map(|(_, request)| request)
    }
}
