//! Frames that wait at bridges for their planned instant.
//!
//! While a frame waits, no other time-triggered frame may enter its queue. So the order of frames does not depend on
//! whether a frame is late or lost.

use crate::engine::Engine;
use crate::problem::{Link, Stream, TreeEntry};
use crate::shape::Shape;

/// The search for one release gives up after this many steps.
const STEPS: u32 = 400;

/// The next tick of the link's gates at or after `point`, ps.
fn tick(link: &Link, point: i64) -> i64 {
    let step = link.limits.granularity_ns * 1_000;
    (point + step - 1).div_euclid(step) * step
}

impl Engine {
    /// The first release from `from` (ps) on for which all links are free, with frames that may wait at bridges.
    /// Returns the release and the shape.
    pub(crate) fn fit_waiting(
        &self,
        stream: &Stream,
        tree: &[TreeEntry],
        queue: u8,
        from: i64,
        steps: &mut u64,
    ) -> Option<(i64, Shape)> {
        let class = self.class(stream)?;
        let (latest, deadline) = (stream.latest_ns * 1_000, stream.deadline_ns * 1_000);
        let mut release = self.up(from);
        // The earliest first bit out at each entry. As the release, it is an absolute instant; it is a whole tick of
        // the gate that opens then.
        let mut floors = vec![i64::MIN; tree.len()];
        for _ in 0..STEPS {
            if release > latest {
                return None;
            }
            *steps += 2 * tree.len() as u64;
            let relative: Vec<i64> = floors.iter().map(|floor| floor.saturating_sub(release)).collect();
            let shape = Shape::new(self.problem(), stream, tree, &relative, &[]);
            let Some((place, late, comes)) = self.first_clash(class, queue, release, &shape)? else {
                if shape.delay + shape.late <= deadline {
                    return Some((release, shape));
                }
                // A frame that waits on its path can wait at the talker instead, which shortens its delay.
                release = self.up(release + shape.delay + shape.late - deadline);
                continue;
            };
            let parent = tree[place].parent;
            let waiting = |place: usize| self.problem().links[tree[place].link as usize].limits.waiting;
            match (comes, parent) {
                // The link is not free when the frame would start: the frame waits in the queue before this link.
                (false, Some(_)) if waiting(place) => {
                    let link = &self.problem().links[tree[place].link as usize];
                    floors[place] = tick(link, release + shape.uses[place].at + link.margin_ps + late);
                }
                // The queue is not free when the frame arrives: the frame leaves the previous node later.
                (true, Some(before))
                    if tree[before as usize].parent.is_some() && waiting(before as usize) =>
                {
                    let before = before as usize;
                    let link = &self.problem().links[tree[before].link as usize];
                    floors[before] = tick(link, release + shape.uses[before].at + link.margin_ps + late);
                }
                _ => release = self.up(release + late),
            }
        }
        None
    }

    /// The first entry that does not fit, by how much it is too early, and whether its arrival (true) or its start
    /// (false) is too early.
    #[allow(clippy::type_complexity)]
    fn first_clash(
        &self,
        class: usize,
        queue: u8,
        release: i64,
        shape: &Shape,
    ) -> Option<Option<(usize, i64, bool)>> {
        for (place, part) in shape.uses.iter().enumerate() {
            let line = self.line(part.link);
            let start = release + part.at;
            if let late @ 1.. = line.wire_free_in(class, start, part.len)? {
                return Some(Some((place, late, false)));
            }
            if let late @ 1.. = line.queue_free_in(class, queue, start - part.held, part.len + part.held)? {
                return Some(Some((place, late, true)));
            }
        }
        Some(None)
    }
}
