//! Sends periodic telegrams, each at its time.

use super::counters::Published;
use super::device::{Device, Pattern};
use super::now_ns;
use super::publisher::Publisher;
use super::subscriptions::Echoes;
use crate::Error;
use crate::system::{clock, process};
use tsn_trdp::process_data::Kind;

/// Least time from now to the first telegram.
const LEAD_NS: i64 = 50_000_000;
/// Interval at which the end is checked while there is nothing to send.
const LOOK_NS: i64 = 20_000_000;
/// Time for which a finished publisher waits for its listeners.
const LINGER_NS: i64 = 300_000_000;

/// A publication and when its next telegram is due.
struct PendingPublication {
    publisher: Publisher,
    next_ns: i64,
}

impl PendingPublication {
    /// When the program has to wake for this publication.
    fn wake_ns(&self) -> i64 {
        self.next_ns.saturating_sub(self.publisher.what().launch_ahead_ns.unwrap_or(0))
    }
}

/// Sends until `end_ns`, until all telegrams are sent and `others_done`, or until a signal requests the end; returns
/// the counters of publications and of requests.
pub fn run(
    device: &Device,
    end_ns: Option<i64>,
    echoes: &Echoes,
    others_done: impl Fn() -> bool,
) -> Result<(Vec<Published>, Vec<Published>), Error> {
    let begin = now_ns()?.saturating_add(LEAD_NS);
    let mut due = Vec::new();
    let cyclic = device.publish.iter().zip(0..).filter(|(what, _)| what.pattern != Pattern::Pull);
    let cyclic = cyclic.map(|(what, stream)| (what, Kind::Push, stream));
    let requests = device
        .request
        .iter()
        .zip(device.publish.len()..)
        .filter_map(|(what, stream)| Some((what, Kind::Request, u32::try_from(stream).ok()?)));
    for (what, kind, stream) in cyclic.chain(requests) {
        if what.period_ns <= 0 {
            return Err(Error::Usage(format!("comId {}: a period is missing", what.com_id)));
        }
        let ahead = begin.saturating_add(what.launch_ahead_ns.unwrap_or(0));
        let first = ahead.div_euclid(what.period_ns).saturating_add(1).saturating_mul(what.period_ns);
        let next_ns = first.saturating_add(what.offset_ns);
        due.push((
            kind,
            PendingPublication { publisher: Publisher::open(device, what, kind, stream)?, next_ns },
        ));
    }
    let failed = |error| Error::System("CLOCK_TAI", error);
    let mut done_at = None;
    loop {
        let now = now_ns()?;
        if process::end_requested() || end_ns.is_some_and(|end| now >= end) {
            break;
        }
        let next =
            due.iter_mut().filter(|(_, one)| !one.publisher.done()).min_by_key(|(_, one)| one.wake_ns());
        let Some((_, next)) = next else {
            let since = *done_at.get_or_insert(now);
            if end_ns.is_none() && others_done() && (due.is_empty() || now - since >= LINGER_NS) {
                break;
            }
            clock::sleep_until(now.saturating_add(LOOK_NS)).map_err(failed)?;
            continue;
        };
        let wake = next.wake_ns();
        if wake > now {
            clock::sleep_until(wake.min(end_ns.unwrap_or(i64::MAX))).map_err(failed)?;
            if end_ns.is_some_and(|end| wake > end) || process::end_requested() {
                continue;
            }
        }
        let echo = next.publisher.what().echo.and_then(|from| echoes.last(from));
        next.publisher.send(next.next_ns, now_ns()?, echo.as_deref(), None)?;
        next.next_ns = next.next_ns.saturating_add(next.publisher.what().period_ns);
    }
    let (mut published, mut requested) = (Vec::new(), Vec::new());
    for (kind, one) in due {
        let list = if kind == Kind::Push { &mut published } else { &mut requested };
        list.push(one.publisher.finish());
    }
    Ok((published, requested))
}
