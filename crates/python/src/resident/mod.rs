//! Plans that differ little from each other: one of them is in memory, and of each other one what differs.
//!
//! Whoever asks for another one gets it in place of the first, by these differences (Baker's trick of persistent
//! arrays).

pub(crate) mod placing;

use placing::Placing;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Builder;
use tsn_plan::{ContentHash, Plan, Port, Stream, Tap};
use tsn_schedule::Problem;

/// A part of a plan with its canonical text.
pub(crate) struct Part<T> {
    pub text: String,
    pub read: T,
}

/// The canonical texts of a plan's parts.
#[derive(Clone, Default)]
pub(crate) struct Texts {
    /// Of all of them.
    pub nodes: String,
    pub ports: Vec<String>,
    pub streams: Vec<String>,
    pub taps: Vec<String>,
}

/// Parts of a list that leave it, and others that join it.
pub(crate) struct Moved<T> {
    /// Places of those that leave, ascending.
    pub gone: Vec<usize>,
    /// Those that join, with their places afterwards, ascending.
    pub joined: Vec<(usize, Part<T>)>,
}

impl<T> Default for Moved<T> {
    fn default() -> Self {
        Self { gone: Vec::new(), joined: Vec::new() }
    }
}

impl<T> Moved<T> {
    /// Where the parts that join are afterwards.
    pub fn places(&self) -> Vec<usize> {
        self.joined.iter().map(|(place, _)| *place).collect()
    }

    /// Applies it to a list and to its texts, and returns what takes it back.
    fn apply(self, list: &mut Vec<T>, texts: &mut Vec<String>) -> Self {
        let places = self.places();
        let parts = self.joined.into_iter();
        let (joined, written): (Vec<_>, Vec<_>) =
            parts.map(|(place, part)| ((place, part.read), (place, part.text))).unzip();
        let left = spliced(list, &self.gone, joined).into_iter();
        let left = left.zip(spliced(texts, &self.gone, written));
        let left = left.map(|((place, read), (_, text))| (place, Part { text, read }));
        Self { gone: places, joined: left.collect() }
    }
}

/// What makes a plan of another one.
#[derive(Default)]
pub(crate) struct Difference {
    /// Ports by their numbers.
    pub ports: Vec<(usize, Part<Port>)>,
    pub streams: Moved<Stream>,
    pub taps: Moved<Tap>,
    pub hash: Option<String>,
}

/// What is asked of all streams.
#[derive(Copy, Clone)]
pub(crate) struct About {
    pub flows: usize,
    /// Whether no bound is lower than what the proof of the schedule says: the instant at which each frame arrives.
    pub exact: bool,
    pub answers: bool,
    /// Of a scheduled stream, its priority.
    pub pcp: Option<u8>,
    /// Whether its check needs no other stream.
    pub alone: bool,
}

impl About {
    fn of(own: &Stream) -> Self {
        Self {
            flows: own.listeners.len(),
            exact: own.scheduled.as_ref().is_some_and(|own| own.margin_ps == 0)
                && own.requirements.survives.is_empty(),
            answers: own.answers.is_some(),
            pcp: own.scheduled.as_ref().map(|_| own.pcp),
            alone: own.answers.is_none() && own.redundancy.is_none() && own.flood.is_empty(),
        }
    }
}

/// A plan with what is known of it.
pub(crate) struct Whole {
    pub plan: Plan,
    /// Empty until it is compared with another one.
    pub texts: Arc<Texts>,
    /// By port the places of the streams that pass it.
    pub at: Vec<Vec<u32>>,
    /// Of each stream.
    pub about: Vec<About>,
    /// How often each name of a stream occurs.
    names: HashMap<String, usize>,
    /// Where its scheduled streams are; none until somebody asks.
    placing: Option<Placing>,
    /// Queues with which they cannot be kept.
    unfit: Vec<u8>,
    /// The hash of these texts, while another thread may still compute it.
    hashing: Option<Hash>,
}

/// A content hash; empty until it is computed.
pub(crate) type Hash = Arc<OnceLock<String>>;

impl Whole {
    fn of(plan: Plan) -> Self {
        let about = plan.streams.iter().map(About::of).collect();
        let (texts, at, names) = (Arc::default(), Vec::new(), HashMap::new());
        Self { plan, texts, at, about, names, placing: None, unfit: Vec::new(), hashing: None }
    }

    /// Fills what other plans are compared with.
    pub fn prepare(&mut self, texts: Option<Texts>) {
        if let Some(texts) = texts {
            self.texts = Arc::new(texts);
        }
        if self.at.is_empty() {
            self.at = vec![Vec::new(); self.plan.ports.len()];
            for (number, stream) in self.plan.streams.iter().enumerate() {
                enter(&mut self.at, number as u32, stream);
                *self.names.entry(stream.name.clone()).or_default() += 1;
            }
        }
    }

    /// The schedule of the plan, with these queues, on the links of a problem; none if it cannot be kept so.
    pub fn placing(&mut self, problem: &Problem, queues: &[u8]) -> Option<&mut Placing> {
        if self.unfit != queues && self.placing.as_ref().is_none_or(|own| own.queues != queues) {
            self.placing = Placing::of(problem, queues, &self.plan.streams);
            if self.placing.is_none() {
                self.unfit = queues.to_vec();
            }
        }
        self.placing.as_mut().filter(|own| own.queues == queues)
    }

    /// Streams have left the schedule and joined it.
    fn replace(&mut self, gone: &[usize], joined: &[usize]) {
        if !gone.is_empty() {
            self.unfit.clear();
        }
        let Some(mut own) = self.placing.take() else { return };
        gone.iter().for_each(|place| own.leave(*place));
        let join = |place: &usize| Some((*place, own.join(&self.plan.streams[*place])?));
        let numbers: Option<Vec<_>> = joined.iter().map(join).collect();
        if let Some(numbers) = numbers {
            spliced(&mut own.numbers, gone, numbers);
            self.placing = Some(own);
        }
    }

    /// Whether one stream alone has this name.
    pub fn is_unique(&self, name: &str) -> bool {
        self.names.get(name) == Some(&1)
    }

    /// Begins to compute the hash of the texts, by another thread if there can be one.
    fn hash(&mut self, hash_of: impl Fn(&Texts) -> String + Send + Sync + 'static) -> Hash {
        let (hash, texts, hash_of) = (Hash::default(), Arc::clone(&self.texts), Arc::new(hash_of));
        let (own, work) = (Arc::clone(&hash), Arc::clone(&hash_of));
        let thread = Builder::new().name("plan-hash".into()).spawn(move || {
            let found = work(&texts);
            // Whoever waits for the hash may change the texts then.
            drop(texts);
            let _ = own.set(found);
        });
        if thread.is_err() {
            hash.get_or_init(|| hash_of(&self.texts));
        }
        self.hashing = Some(Arc::clone(&hash));
        hash
    }

    /// Applies a difference, and returns the one that takes it back.
    pub fn apply(&mut self, difference: Difference) -> Difference {
        let Difference { ports, streams, taps, hash } = difference;
        let (places, gone) = (streams.places(), streams.gone.clone());
        let old = self.plan.streams.len();
        let about = streams.joined.iter().map(|(place, own)| (*place, About::of(&own.read))).collect();
        spliced(&mut self.about, &gone, about);
        // Whoever computes the hash of the texts reads them.
        if let Some(hash) = self.hashing.take() {
            hash.wait();
        }
        let texts = Arc::make_mut(&mut self.texts);
        let streams = streams.apply(&mut self.plan.streams, &mut texts.streams);
        let taps = taps.apply(&mut self.plan.taps, &mut texts.taps);
        let ports = ports.into_iter().map(|(number, part)| {
            let read = std::mem::replace(&mut self.plan.ports[number], part.read);
            (number, Part { text: std::mem::replace(&mut texts.ports[number], part.text), read })
        });
        let ports = ports.collect();
        for (_, own) in &streams.joined {
            match self.names.get_mut(&own.read.name) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(self.names.remove(&own.read.name)),
            }
        }
        for place in &places {
            *self.names.entry(self.plan.streams[*place].name.clone()).or_default() += 1;
        }
        self.replace(&gone, &places);
        if gone.is_empty() && places.first().is_none_or(|first| *first >= old) {
            places.iter().for_each(|place| {
                enter(&mut self.at, *place as u32, &self.plan.streams[*place]);
            });
        } else {
            self.renumber(old, &gone, &places);
        }
        let hash = std::mem::replace(&mut self.plan.hash, hash);
        Difference { ports, streams, taps, hash }
    }

    /// Gives streams their new places in `at`.
    fn renumber(&mut self, old: usize, gone: &[usize], joined: &[usize]) {
        let mut now = vec![None; old];
        let (mut gone, mut joined_places) = (gone.iter().peekable(), joined.iter().peekable());
        let mut next = 0;
        for (place, now) in now.iter_mut().enumerate() {
            if gone.next_if(|own| **own == place).is_some() {
                continue;
            }
            while joined_places.next_if(|own| **own == next).is_some() {
                next += 1;
            }
            *now = Some(next as u32);
            next += 1;
        }
        for own in &mut self.at {
            *own = own.iter().filter_map(|place| now[*place as usize]).collect();
        }
        for place in joined {
            enter(&mut self.at, *place as u32, &self.plan.streams[*place]);
        }
        for place in joined {
            for hop in ports_of(&self.plan.streams[*place]) {
                self.at[hop].sort_unstable();
            }
        }
    }

    /// The streams that pass one of these ports, by their places, ascending.
    pub fn streams_at(&self, ports: impl IntoIterator<Item = usize>) -> Vec<u32> {
        let mut found: Vec<u32> =
            ports.into_iter().filter_map(|port| self.at.get(port)).flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Adds the text of a list of parts to a hash.
    pub fn add(hash: &mut ContentHash, parts: &[String]) {
        hash.add("[");
        for (place, text) in parts.iter().enumerate() {
            if place > 0 {
                hash.add(",");
            }
            hash.add(text);
        }
        hash.add("]");
    }
}

fn ports_of(stream: &Stream) -> impl Iterator<Item = usize> {
    stream.route.iter().chain(&stream.flood).map(|hop| hop.port as usize)
}

fn enter(at: &mut [Vec<u32>], place: u32, stream: &Stream) {
    for port in ports_of(stream) {
        if at[port].last() != Some(&place) {
            at[port].push(place);
        }
    }
}

/// Removes parts of a list, and inserts others at their places; returns those that were removed, with theirs.
fn spliced<T>(list: &mut Vec<T>, gone: &[usize], joined: Vec<(usize, T)>) -> Vec<(usize, T)> {
    let ends = gone.first().into_iter().chain(joined.first().map(|(place, _)| place));
    let first = ends.min().copied().unwrap_or(list.len()).min(list.len());
    let rest = list.split_off(first);
    let (mut gone, mut joined) = (gone.iter().peekable(), joined.into_iter().peekable());
    let mut left = Vec::new();
    for (place, own) in (first..).zip(rest) {
        if gone.next_if(|gone| **gone == place).is_some() {
            left.push((place, own));
            continue;
        }
        while let Some((_, new)) = joined.next_if(|(place, _)| *place == list.len()) {
            list.push(new);
        }
        list.push(own);
    }
    list.extend(joined.map(|(_, new)| new));
    left
}

/// Plans of one network by their numbers, one of them in memory.
pub(crate) struct Chain {
    whole: Whole,
    /// The one in memory.
    now: u64,
    /// How many there were.
    count: u64,
    /// Of each other one the next one on the way to the one in memory, and what makes it of that.
    away: HashMap<u64, (u64, Difference)>,
    /// Those that nobody needs any more.
    unused: HashSet<u64>,
}

impl Chain {
    /// The plan with this number.
    pub fn at(&mut self, number: u64) -> &mut Whole {
        let mut path = Vec::new();
        let mut next = number;
        while let Some((towards, _)) = self.away.get(&next) {
            path.push(next);
            next = *towards;
        }
        for number in path.into_iter().rev() {
            if let Some((_, difference)) = self.away.remove(&number) {
                let back = self.whole.apply(difference);
                self.away.insert(self.now, (number, back));
                self.now = number;
            }
        }
        self.forget();
        &mut self.whole
    }

    /// Makes another plan of the one in memory; returns its number.
    pub fn add(&mut self, difference: Difference) -> u64 {
        let back = self.whole.apply(difference);
        let before = std::mem::replace(&mut self.now, self.count);
        self.count += 1;
        self.away.insert(before, (self.now, back));
        self.now
    }

    /// Begins to compute the hash of the plan in memory.
    pub fn hash(&mut self, hash_of: impl Fn(&Texts) -> String + Send + Sync + 'static) -> Hash {
        self.whole.hash(hash_of)
    }

    /// The plan in memory, and what makes another one of it.
    pub fn last(&self, before: u64) -> Option<(&Whole, &Difference)> {
        self.away.get(&before).map(|(_, difference)| (&self.whole, difference))
    }

    /// Removes the plans that nobody needs, and that are on no way to others.
    fn forget(&mut self) {
        loop {
            let passed: HashSet<u64> = self.away.values().map(|(next, _)| *next).collect();
            let before = self.away.len();
            self.away.retain(|number, _| !self.unused.contains(number) || passed.contains(number));
            if self.away.len() == before {
                break;
            }
        }
        self.unused.retain(|number| *number == self.now || self.away.contains_key(number));
    }
}

/// One plan of a chain.
pub(crate) struct Version {
    pub chain: Arc<Mutex<Chain>>,
    pub number: u64,
}

impl Version {
    /// The first one of a chain.
    pub fn of(plan: Plan) -> Self {
        let chain =
            Chain { whole: Whole::of(plan), now: 0, count: 1, away: HashMap::new(), unused: HashSet::new() };
        Self { chain: Arc::new(Mutex::new(chain)), number: 0 }
    }

    /// Nobody who has it may wait for Python.
    pub fn lock(&self) -> MutexGuard<'_, Chain> {
        self.chain.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Version {
    fn drop(&mut self) {
        let mut chain = self.lock();
        chain.unused.insert(self.number);
        chain.forget();
    }
}
