//! Whether at least one copy of every frame of a stream reaches a listener.
//!
//! IEEE 802.1CB-2017, 7.4.3. A frame arrives if some path loses no copy, and no recovery function on this path discards a
//! number that it has not forwarded. The derivation is in `docs/concepts/bounds.md`.

use crate::curve::{Data, Ps, ps};
use crate::model::member_streams::{always_forwards, entries_with};
use crate::model::numbers::{ALL_NUMBERS, Numbers};
use crate::reason::Reason;
use tsn_plan::{Algorithm, Plan, Recovery, Stream};

/// The copies of a stream at the end of one entry's link.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    /// Least time from the nominal release to the last bit.
    pub earliest: Ps,
    /// Greatest time from the nominal release to the last bit, or why there is none.
    pub latest: Result<Ps, Reason>,
    /// Why the port or the link of the entry may lose frames.
    pub lost: Option<Reason>,
}

/// All paths of one stream.
pub(crate) struct Delivery<'a> {
    pub plan: &'a Plan,
    pub stream: &'a Stream,
    /// None if the talker may send any number of frames at once.
    pub numbers: Option<Numbers>,
    /// By entry of the route.
    pub arrivals: Vec<Arrival>,
}

/// Why nothing is certain behind some entries that merge.
enum Obstacle {
    /// Each of their paths may lose frames.
    Paths,
    /// The recovery function may discard a number that it has not forwarded.
    Recovery(Reason),
}

impl Delivery<'_> {
    /// Why a frame may not arrive at the end of an entry and of those that merge with it, if no frame passes an entry
    /// that is `down`; none if at least one copy of every frame does.
    pub fn lost(&self, end: u32, down: &[bool]) -> Option<Reason> {
        let certain = self.certain(down);
        let entries = entries_with(self.stream, end);
        self.passes(&entries, &certain).err()?;
        let mut seen = vec![false; self.arrivals.len()];
        Some(self.why(&entries, down, &certain, &mut seen).unwrap_or(Reason::Circle))
    }

    /// Whether any path leads to the end of an entry, or of one that merges with it, past all entries that are `down`.
    pub fn leads(&self, end: u32, down: &[bool]) -> bool {
        let some = |entries: &[u32], reached: &[bool]| entries.iter().any(|entry| reached[*entry as usize]);
        let reached = self.reached(|entry| !down[entry], some);
        some(&entries_with(self.stream, end), &reached)
    }

    /// By entry: whether at least one copy of every frame passes.
    fn certain(&self, down: &[bool]) -> Vec<bool> {
        self.reached(
            |entry| !self.is_lossy(entry, down),
            |entries, certain| self.passes(entries, certain).is_ok(),
        )
    }

    /// The entries that are reached from the talker over those that are `open`, if entries that merge are passed where
    /// `passes` holds.
    fn reached(&self, open: impl Fn(usize) -> bool, passes: impl Fn(&[u32], &[bool]) -> bool) -> Vec<bool> {
        let mut reached = vec![false; self.arrivals.len()];
        // One pass suffices if parents come first; where paths merge, parents may come later.
        loop {
            let mut rests = true;
            for entry in 0..reached.len() {
                if reached[entry] || !open(entry) {
                    continue;
                }
                let parent = self.stream.route[entry].parent;
                reached[entry] =
                    parent.is_none_or(|parent| passes(&entries_with(self.stream, parent), &reached));
                rests &= !reached[entry];
            }
            if rests {
                return reached;
            }
        }
    }

    fn is_lossy(&self, entry: usize, down: &[bool]) -> bool {
        down[entry] || self.arrivals[entry].lost.is_some() || !always_forwards(self.plan, self.stream, entry)
    }

    /// Whether at least one copy of every frame is forwarded behind entries that merge.
    fn passes(&self, entries: &[u32], certain: &[bool]) -> Result<(), Obstacle> {
        let mut sure: Vec<usize> =
            entries.iter().map(|entry| *entry as usize).filter(|entry| certain[*entry]).collect();
        // The fastest one needs the shortest history.
        sure.sort_by_key(|entry| self.arrivals[*entry].latest.as_ref().ok().copied().unwrap_or(Ps::MAX));
        let mut first = None;
        for entry in sure {
            match self.accepts_all(entries, entry) {
                Ok(()) => return Ok(()),
                Err(reason) => _ = first.get_or_insert(reason),
            }
        }
        Err(first.map_or(Obstacle::Paths, Obstacle::Recovery))
    }

    /// Whether every number is forwarded behind entries that merge, if all of them come by the entry `sure`.
    fn accepts_all(&self, entries: &[u32], sure: usize) -> Result<(), Reason> {
        let recovery = self.stream.redundancy.as_ref().and_then(|own| own.recovery.as_ref());
        let Some(recovery) = recovery.filter(|_| entries.len() > 1) else { return Ok(()) };
        let arrivals = || entries.iter().map(|entry| &self.arrivals[*entry as usize]);
        // No copy is later than the end of the run.
        let run = ps(self.plan.duration_ns.saturating_add(self.plan.drain_ns));
        let bounded = arrivals().find_map(|arrival| arrival.latest.as_ref().err());
        let last = arrivals().map(|arrival| *arrival.latest.as_ref().unwrap_or(&run)).max().unwrap_or(run);
        let first = arrivals().map(|arrival| arrival.earliest).min().unwrap_or(0);
        let sure = self.arrivals[sure].latest.clone()?;
        // In an individual function, the copies of one path are no further apart than those of all paths here.
        self.accepts(recovery, sure - first, last - first, bounded)
    }

    /// Whether a recovery function forwards every number once at least: of every number one copy comes within `sure`
    /// after the earliest time, and all come within `last`, or have no bound for a reason.
    fn accepts(
        &self,
        recovery: &Recovery,
        sure: Ps,
        last: Ps,
        unbounded: Option<&Reason>,
    ) -> Result<(), Reason> {
        let numbers = self.numbers.as_ref().ok_or(Reason::AnyNumber)?;
        let (near, far) = (numbers.within(sure), numbers.within(last));
        let history = match recovery.algorithm {
            // It discards repetitions of the last number only.
            Algorithm::Match if far < ALL_NUMBERS => return Ok(()),
            Algorithm::Match => return Err(Reason::Repeats { frames: far }),
            Algorithm::Vector { history } => history,
        };
        // The function is not reset before the end of the stream if a frame passes in time after every other.
        let stays = numbers.pause.is_some_and(|pause| ps(recovery.reset_ns) > pause.saturating_add(sure));
        if stays && far + Data::from(history) > ALL_NUMBERS {
            return Err(Reason::Repeats { frames: far });
        }
        if !stays && let Some(why) = unbounded {
            return Err(why.clone());
        }
        let needed = if stays { near + 1 } else { 2 * far };
        if needed > Data::from(history) {
            return Err(Reason::History { needed, history, reset: !stays });
        }
        Ok(())
    }

    /// Why frames may not arrive at the end of entries that merge; none if one copy of each does.
    fn why(&self, entries: &[u32], down: &[bool], certain: &[bool], seen: &mut [bool]) -> Option<Reason> {
        let at = |port: &str, why: Reason| Reason::At { port: port.into(), why: Box::new(why) };
        let port = |entry: usize| &self.plan.ports[self.stream.route[entry].port as usize];
        match self.passes(entries, certain).err()? {
            Obstacle::Recovery(reason) => {
                let node = self.plan.ports[port(entries[0] as usize).peer as usize].node;
                Some(at(&self.plan.nodes[node as usize].name, reason))
            }
            Obstacle::Paths => {
                let mut found: Vec<Reason> = Vec::new();
                for entry in entries.iter().map(|entry| *entry as usize) {
                    // Paths in a cycle have no reasons of their own.
                    if std::mem::replace(&mut seen[entry], true) {
                        continue;
                    }
                    let before = |seen: &mut [bool]| {
                        let parent = self.stream.route[entry].parent?;
                        self.why(&entries_with(self.stream, parent), down, certain, seen)
                    };
                    let own = if let Some(why) = &self.arrivals[entry].lost {
                        // A queue that grows before is the cause of too many frames.
                        let many = matches!(
                            why,
                            Reason::Overflow | Reason::Overload { .. } | Reason::OnClock { .. }
                        );
                        let cause = many.then(|| before(&mut seen.to_vec())).flatten();
                        cause.filter(grows).or_else(|| Some(at(&port(entry).name, why.clone())))
                    } else if down[entry] {
                        Some(at(&port(entry).name, Reason::Down))
                    } else if !always_forwards(self.plan, self.stream, entry) {
                        Some(at(&port(entry).name, Reason::StandsBy))
                    } else {
                        before(seen)
                    };
                    found.extend(own.filter(|own| !found.contains(own)));
                }
                if found.len() > 1 { Some(Reason::EveryPath(found)) } else { found.pop() }
            }
        }
    }
}

/// Whether the queue of a port may grow without end.
fn grows(cause: &Reason) -> bool {
    let Reason::At { why, .. } = cause else { return false };
    matches!(
        **why,
        Reason::Overload { .. }
            | Reason::NoWindow
            | Reason::OnClock { .. }
            | Reason::HigherClass { .. }
            | Reason::Clocks { .. }
    )
}
