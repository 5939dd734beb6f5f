//! Checks of streams that answer others.

use crate::check::{Check, ensure, index, time};
use crate::{Pattern, Plan, Redundancy, Size, Stream, TelegramKind};

/// Longest chain of streams that answer each other.
const LONGEST_CHAIN: usize = 64;

impl Plan {
    pub(crate) fn check_answers(&self, stream: &Stream, path: impl Fn(&str) -> String) -> Check {
        let Some(own) = stream.answers else { return Ok(()) };
        let requested = || path("answers.stream");
        index(own.stream, self.streams.len(), requested)?;
        time(own.after_ns, || path("answers.after_ns"))?;
        let request = &self.streams[own.stream as usize];
        ensure(request.listeners.iter().any(|listener| listener.node == stream.talker), requested, || {
            format!("{} is not sent to the talker", request.name)
        })?;
        let period = |of: &Stream| match of.pattern {
            Pattern::Periodic { period_ns, .. } => Some(period_ns),
            _ => None,
        };
        ensure(
            period(stream).is_some() && period(stream) == period(request),
            || path("pattern"),
            || format!("is not periodic with the period of {}", request.name),
        )?;
        ensure(
            stream.any_phase == request.any_phase,
            || path("any_phase"),
            || format!("differs from that of {}", request.name),
        )?;
        let whole = match &request.size {
            Size::Frame { .. } | Size::List { .. } => true,
            Size::Units { octets, most_per_frame, .. } => octets.iter().all(|unit| unit <= most_per_frame),
        };
        ensure(whole, requested, || format!("data units of {} have several frames", request.name))?;
        let eliminated = |redundancy: &Redundancy| {
            redundancy.recovery.is_some() || redundancy.copies.iter().all(|copy| *copy == 0)
        };
        ensure(request.redundancy.as_deref().is_none_or(eliminated), requested, || {
            format!("copies of {} are not eliminated", request.name)
        })?;
        ensure(
            stream.scheduled.is_none(),
            || path("scheduled"),
            || "a stream that answers has no schedule".into(),
        )?;
        let mut at = own.stream;
        for _ in 0..LONGEST_CHAIN {
            match self.streams.get(at as usize).and_then(|stream| stream.answers) {
                None => return Ok(()),
                Some(next) => at = next.stream,
            }
        }
        ensure(false, requested, || format!("is a circle, or a chain of more than {LONGEST_CHAIN} answers"))
    }

    /// A reply, an error or a confirmation of message data belongs to the session of the telegram that it answers.
    pub(crate) fn check_session(&self, stream: &Stream, path: impl Fn(&str) -> String) -> Check {
        let Some(needed) = stream.trdp.as_deref().and_then(|trdp| trdp.kind.answers()) else { return Ok(()) };
        let request = stream.answers.and_then(|own| self.streams.get(own.stream as usize));
        let found = request.and_then(|request| request.trdp.as_deref()).map(|trdp| trdp.kind);
        ensure(
            found == Some(needed),
            || path("trdp.kind"),
            || {
                let what =
                    if needed == TelegramKind::MessageRequest { "a request" } else { "a reply to confirm" };
                format!("it answers no stream of message data that is {what}")
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::check::broken::{refuses, with};
    use serde_json::json;

    /// Adds a stream that answers one of the Plan, on the same links.
    fn answering(plan: &mut serde_json::Value, request: usize) {
        let mut answer = plan["streams"][request].clone();
        let (talker, listener) = (answer["talker"].clone(), answer["listeners"][0]["node"].clone());
        // The way back: the other direction of the same links.
        let back: Vec<_> = answer["route"]
            .as_array()
            .unwrap()
            .iter()
            .rev()
            .zip(0_u32..)
            .map(|(hop, place)| {
                let port = plan["ports"][hop["port"].as_u64().unwrap() as usize]["peer"].clone();
                if place == 0 { json!({"port": port}) } else { json!({"port": port, "parent": place - 1}) }
            })
            .collect();
        let number = plan["streams"].as_array().unwrap().len();
        answer["name"] = json!(format!("answer {number}"));
        answer["talker"] = listener;
        answer["listeners"] = json!([{"node": talker, "route": back.len() - 1}]);
        answer["route"] = json!(back);
        answer["answers"] = json!({"stream": request, "after_ns": 5});
        plan["streams"].as_array_mut().unwrap().push(answer);
    }

    #[test]
    fn answers_are_checked() {
        let plan = with(&[]);
        let mut holds = plan;
        answering(&mut holds, 0);
        let last = holds["streams"].as_array().unwrap().len() - 1;
        let path = |field: &str| format!("/streams/{last}/{field}");
        let says = |field: &str, what: &str| format!("streams[{last}].{field}: {what}");
        let name = holds["streams"][0]["name"].as_str().unwrap().to_owned();
        let period = holds["streams"][0]["pattern"]["period_ns"].as_u64().unwrap();
        let count = last + 1;
        refuses(
            &holds,
            &[
                (
                    &path("answers/stream"),
                    json!(99),
                    &says("answers.stream", &format!("99 is not the index of one of {count}")),
                ),
                (
                    &path("answers/stream"),
                    json!(last),
                    &says("answers.stream", &format!("answer {last} is not sent to the talker")),
                ),
                (
                    &path("answers/after_ns"),
                    json!(864_000_000_000_001_u64),
                    &says("answers.after_ns", "864000000000001 ns is more than ten days"),
                ),
                (
                    &path("pattern/period_ns"),
                    json!(period + 1),
                    &says("pattern", &format!("is not periodic with the period of {name}")),
                ),
                (
                    "/streams/0/any_phase",
                    json!(true),
                    &says("any_phase", &format!("differs from that of {name}")),
                ),
                (
                    "/streams/0/size",
                    json!({"kind": "units", "octets": [1_001], "most_per_frame": 1_000, "overhead": 46}),
                    &says("answers.stream", &format!("data units of {name} have several frames")),
                ),
                (
                    &path("scheduled"),
                    json!({"starts_ps": [[0], [0]]}),
                    &says("scheduled", "a stream that answers has no schedule"),
                ),
                (
                    "/streams/0/answers",
                    json!({"stream": last, "after_ns": 0}),
                    "streams[0].answers.stream: is a circle, or a chain of more than 64 answers",
                ),
            ],
        );
    }
    /// A request of message data, a reply that wants a confirmation, and the confirmation.
    fn session() -> serde_json::Value {
        let mut plan = with(&[]);
        let vlan = if plan["streams"][0]["vid"].is_null() { 0 } else { 4 };
        let telegram = |plan: &mut serde_json::Value, number: usize, kind: &str, octets: u32| {
            plan["streams"][number]["trdp"] = json!({"com_id": 1, "kind": kind, "header_octets": 116,
                "data_set_octets": octets, "time_out_ns": 5_000});
            plan["streams"][number]["size"] =
                json!({"kind": "frame", "octets": 46 + vlan + 116 + octets.next_multiple_of(4)});
        };
        answering(&mut plan, 0);
        let last = plan["streams"].as_array().unwrap().len() - 1;
        answering(&mut plan, last);
        telegram(&mut plan, 0, "message-request", 14);
        telegram(&mut plan, last, "message-reply-query", 30);
        telegram(&mut plan, last + 1, "message-confirm", 0);
        plan
    }

    #[test]
    fn a_telegram_of_message_data_answers_one_of_its_session() {
        let holds = session();
        let last = holds["streams"].as_array().unwrap().len() - 1;
        let kind = |number: usize| format!("/streams/{number}/trdp/kind");
        let says = |number: usize, what: &str| {
            format!("streams[{number}].trdp.kind: it answers no stream of message data that is {what}")
        };
        refuses(
            &holds,
            &[
                (&kind(0), json!("message-notify"), &says(last - 1, "a request")),
                (&kind(0), json!("message-reply"), &says(0, "a request")),
                (&kind(last), json!("message-reply"), &says(last, "a request")),
                (&kind(last - 1), json!("message-reply"), &says(last, "a reply to confirm")),
                (&kind(last - 1), json!("message-error"), &says(last, "a reply to confirm")),
            ],
        );
    }
}
