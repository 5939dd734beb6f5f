//! Checks of streams: patterns, sizes, routes, listeners.

mod answers;
mod redundancy;
mod rewriting;
mod scheduled;
mod token_bucket;
mod trace;

use crate::check::{Check, LARGEST_FRAME, ensure, index, time};
use crate::{Pattern, Plan, Size, Stream, TelegramKind};

/// Smallest frame: 64 octets untagged. IEEE 802.3-2022, 4.2.3.3.
const SMALLEST_FRAME: u32 = 64;
/// Octets around a UDP payload: Ethernet, IPv4, UDP, FCS and a tag.
const HEADERS: u32 = 14 + 20 + 8 + 4;
const TAG: u32 = 4;
/// Largest data unit that a Plan may name.
const LARGEST_UNIT: u32 = 1 << 30;

impl Plan {
    pub(crate) fn check_stream(&self, number: usize, stream: &Stream) -> Check {
        let path = |field: &str| format!("streams[{number}].{field}");
        index(stream.talker, self.nodes.len(), || path("talker"))?;
        ensure(stream.pcp < 8, || path("pcp"), || format!("{} is not 0 to 7", stream.pcp))?;
        if let Some(vid) = stream.vid {
            ensure((1..=4094).contains(&vid), || path("vid"), || format!("{vid} is not 1 to 4094"))?;
        }
        time(stream.start_ns, || path("start_ns"))?;
        time(stream.stop_ns, || path("stop_ns"))?;
        ensure(
            !stream.any_phase || matches!(stream.pattern, Pattern::Periodic { .. }),
            || path("any_phase"),
            || "only periodic streams have a phase".into(),
        )?;
        match stream.pattern {
            Pattern::Trace { ref gaps_ns, cycle_ns, passes } => {
                Self::check_trace(gaps_ns, cycle_ns, passes, &path)?;
            }
            Pattern::Periodic { period_ns, offset_ns, jitter_ns } => {
                ensure(period_ns > 0, || path("pattern.period_ns"), || "must be more than 0".into())?;
                time(period_ns, || path("pattern.period_ns"))?;
                time(offset_ns, || path("pattern.offset_ns"))?;
                time(jitter_ns, || path("pattern.jitter_ns"))?;
            }
            Pattern::Poisson { mean_interval_ps } => {
                ensure(
                    mean_interval_ps >= 1_000,
                    || path("pattern.mean_interval_ps"),
                    || "must be at least 1 ns".into(),
                )?;
                time(mean_interval_ps / 1_000, || path("pattern.mean_interval_ps"))?;
            }
            Pattern::TokenBucket { burst_octets, rate_bps } => {
                Self::check_token_bucket(stream, burst_octets, rate_bps, &path)?;
            }
            Pattern::Saturating { backlog } => {
                ensure(backlog > 0, || path("pattern.backlog"), || "must be more than 0".into())?;
            }
        }
        let frame = |octets: u32, field: &str| {
            ensure(
                (SMALLEST_FRAME..=LARGEST_FRAME).contains(&octets),
                || path(field),
                || format!("a frame of {octets} octets is not between {SMALLEST_FRAME} and {LARGEST_FRAME}"),
            )
        };
        match &stream.size {
            Size::Frame { octets } => frame(*octets, "size.octets")?,
            Size::List { octets } => {
                Self::check_list(octets, &path)?;
                octets.iter().try_for_each(|octets| frame(*octets, "size.octets"))?;
            }
            Size::Units { octets, most_per_frame, overhead } => {
                ensure(!octets.is_empty(), || path("size.octets"), || "is empty".into())?;
                ensure(
                    octets.iter().all(|unit| *unit <= LARGEST_UNIT),
                    || path("size.octets"),
                    || format!("a data unit is larger than {LARGEST_UNIT} octets"),
                )?;
                ensure(*most_per_frame > 0, || path("size.most_per_frame"), || "must be more than 0".into())?;
                frame(most_per_frame.saturating_add(*overhead), "size.most_per_frame")?;
            }
        }
        self.check_survival(&stream.requirements.survives, path)?;
        Self::check_trdp(stream, path)?;
        self.check_scheduled(stream, path)?;
        self.check_answers(stream, path)?;
        self.check_session(stream, path)?;
        self.check_route(stream, path)
    }

    /// A telegram must have a valid header size, and frames that it fits.
    fn check_trdp(stream: &Stream, path: impl Fn(&str) -> String) -> Check {
        let Some(trdp) = stream.trdp.as_deref() else { return Ok(()) };
        ensure(
            matches!(trdp.header_octets, 40 | 20 | 16 | 116),
            || path("trdp.header_octets"),
            || format!("{} is not 40, 20, 16 or 116", trdp.header_octets),
        )?;
        ensure(
            trdp.kind.is_message() == (trdp.header_octets == 116),
            || path("trdp.kind"),
            || "message data, and no other telegram, has a header of 116 octets".into(),
        )?;
        ensure(
            trdp.data_set_octets <= trdp.longest(),
            || path("trdp.data_set_octets"),
            || format!("{} is more than {}", trdp.data_set_octets, trdp.longest()),
        )?;
        ensure(
            trdp.kind == TelegramKind::Push || trdp.header_octets >= 40,
            || path("trdp.kind"),
            || "version 2 has no requests and no replies".into(),
        )?;
        time(trdp.time_out_ns, || path("trdp.time_out_ns"))?;
        let around = HEADERS + if stream.vid.is_some() { TAG } else { 0 };
        let octets = (trdp.payload_octets() + around).max(SMALLEST_FRAME);
        ensure(
            stream.size == Size::Frame { octets },
            || path("size"),
            || format!("a telegram of TRDP needs frames of {octets} octets"),
        )
    }

    fn check_route(&self, stream: &Stream, path: impl Fn(&str) -> String) -> Check {
        ensure(!stream.route.is_empty(), || path("route"), || "is empty".into())?;
        for (place, hop) in stream.route.iter().enumerate() {
            index(hop.port, self.ports.len(), || path(&format!("route[{place}].port")))?;
            let from = match hop.parent {
                None => stream.talker,
                Some(parent) => {
                    index(parent, place, || path(&format!("route[{place}].parent")))?;
                    let arrival = self.ports[stream.route[parent as usize].port as usize].peer;
                    self.ports[arrival as usize].node
                }
            };
            ensure(
                self.ports[hop.port as usize].node == from,
                || path(&format!("route[{place}]")),
                || "its port is on another node than the one where the frame then is".into(),
            )?;
        }
        ensure(!stream.listeners.is_empty(), || path("listeners"), || "is empty".into())?;
        for (place, listener) in stream.listeners.iter().enumerate() {
            index(listener.route, stream.route.len(), || path(&format!("listeners[{place}].route")))?;
            let last = &self.ports[stream.route[listener.route as usize].port as usize];
            ensure(
                self.ports[last.peer as usize].node == listener.node,
                || path(&format!("listeners[{place}].node")),
                || "its route ends at another node".into(),
            )?;
        }
        if let Some(redundancy) = &stream.redundancy {
            self.check_redundancy(stream, redundancy, &path)?;
            self.check_rewriting(stream, redundancy, &path)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::check::broken::{plan, refuses};
    use serde_json::json;

    #[test]
    fn telegrams_are_checked() {
        let mut holds = plan();
        holds["streams"][0]["trdp"] =
            json!({"com_id": 1000, "header_octets": 40, "data_set_octets": 61, "time_out_ns": 5});
        let tag = if holds["streams"][0]["vid"].is_null() { 0 } else { 4 };
        holds["streams"][0]["size"] = json!({"kind": "frame", "octets": 46 + tag + 40 + 64});
        let other =
            format!("streams[0].size: a telegram of TRDP needs frames of {} octets", 46 + tag + 40 + 68);
        refuses(
            &holds,
            &[
                (
                    "/streams/0/trdp/header_octets",
                    json!(24),
                    "streams[0].trdp.header_octets: 24 is not 40, 20, 16 or 116",
                ),
                (
                    "/streams/0/trdp/data_set_octets",
                    json!(1_433),
                    "streams[0].trdp.data_set_octets: 1433 is more than 1432",
                ),
                ("/streams/0/trdp/data_set_octets", json!(65), &other),
                (
                    "/streams/0/trdp",
                    json!({"com_id": 1, "kind": "reply", "header_octets": 20, "data_set_octets": 61, "time_out_ns": 5}),
                    "streams[0].trdp.kind: version 2 has no requests and no replies",
                ),
                (
                    "/streams/0/trdp/header_octets",
                    json!(116),
                    "streams[0].trdp.kind: message data, and no other telegram, has a header of 116 octets",
                ),
                (
                    "/streams/0/trdp",
                    json!({"com_id": 1, "kind": "message-notify", "header_octets": 40, "data_set_octets": 61, "time_out_ns": 0}),
                    "streams[0].trdp.kind: message data, and no other telegram, has a header of 116 octets",
                ),
                (
                    "/streams/0/trdp",
                    json!({"com_id": 1, "kind": "message-notify", "header_octets": 116, "data_set_octets": 1_357, "time_out_ns": 0}),
                    "streams[0].trdp.data_set_octets: 1357 is more than 1356",
                ),
                (
                    "/streams/0/trdp/time_out_ns",
                    json!(864_000_000_000_001_u64),
                    "streams[0].trdp.time_out_ns: 864000000000001 ns is more than ten days",
                ),
            ],
        );
    }

    #[test]
    fn streams_are_checked() {
        let holds = plan();
        refuses(
            &holds,
            &[
                ("/streams/0/talker", json!(4), "streams[0].talker: 4 is not the index of one of 4"),
                ("/streams/0/pcp", json!(8), "streams[0].pcp: 8 is not 0 to 7"),
                ("/streams/0/vid", json!(4_095), "streams[0].vid: 4095 is not 1 to 4094"),
                (
                    "/streams/0/start_ns",
                    json!(864_000_000_000_001_u64),
                    "streams[0].start_ns: 864000000000001 ns is more than ten days",
                ),
                (
                    "/streams/0/stop_ns",
                    json!(864_000_000_000_001_u64),
                    "streams[0].stop_ns: 864000000000001 ns is more than ten days",
                ),
                (
                    "/streams/0/pattern/period_ns",
                    json!(0),
                    "streams[0].pattern.period_ns: must be more than 0",
                ),
                (
                    "/streams/0/pattern",
                    json!({"kind": "poisson", "mean_interval_ps": 999}),
                    "streams[0].pattern.mean_interval_ps: must be at least 1 ns",
                ),
                (
                    "/streams/0/pattern",
                    json!({"kind": "saturating", "backlog": 0}),
                    "streams[0].pattern.backlog: must be more than 0",
                ),
                (
                    "/streams/0/size/octets",
                    json!(63),
                    "streams[0].size.octets: a frame of 63 octets is not between 64 and 65535",
                ),
                (
                    "/streams/0/size",
                    json!({"kind": "units", "octets": [], "most_per_frame": 1_000, "overhead": 46}),
                    "streams[0].size.octets: is empty",
                ),
                (
                    "/streams/0/size",
                    json!({"kind": "units", "octets": [1_073_741_825], "most_per_frame": 1_000, "overhead": 46}),
                    "streams[0].size.octets: a data unit is larger than 1073741824 octets",
                ),
                (
                    "/streams/0/size",
                    json!({"kind": "units", "octets": [1], "most_per_frame": 0, "overhead": 46}),
                    "streams[0].size.most_per_frame: must be more than 0",
                ),
                (
                    "/streams/0/size",
                    json!({"kind": "units", "octets": [1], "most_per_frame": 65_500, "overhead": 46}),
                    "streams[0].size.most_per_frame: a frame of 65546 octets is not between 64 and 65535",
                ),
                ("/streams/0/route", json!([]), "streams[0].route: is empty"),
                (
                    "/streams/0/route/1/port",
                    json!(8),
                    "streams[0].route[1].port: 8 is not the index of one of 8",
                ),
                (
                    "/streams/0/route/1/parent",
                    json!(1),
                    "streams[0].route[1].parent: 1 is not the index of one of 1",
                ),
                (
                    "/streams/0/route/1/port",
                    json!(6),
                    "streams[0].route[1]: its port is on another node than the one where the frame then is",
                ),
                ("/streams/0/listeners", json!([]), "streams[0].listeners: is empty"),
                (
                    "/streams/0/listeners/0/route",
                    json!(2),
                    "streams[0].listeners[0].route: 2 is not the index of one of 2",
                ),
                (
                    "/streams/0/listeners/0/route",
                    json!(0),
                    "streams[0].listeners[0].node: its route ends at another node",
                ),
            ],
        );
    }
}
