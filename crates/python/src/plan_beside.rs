//! A plan beside an earlier one: what differs is found by comparing both documents, object by object.

use crate::bounds::{BoundsMemory, bounds_of_streams};
use crate::canonical::{Keys, content, quote, write};
use crate::resident::{About, Chain, Difference, Hash, Moved, Part, Texts, Version, Whole};
use crate::schedule::Delays;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use tsn_bounds::{FlowBounds, PortBounds};
use tsn_plan::{ContentHash, Plan, Port, Stream, Tap};
use tsn_verify::{Changed, Known, Passing, Proof};

/// Where a plan differs from the earlier one.
pub(crate) struct Differs {
    /// The number of the earlier one.
    pub from: u64,
    /// Ports with other gates.
    pub ports: Vec<usize>,
    /// The places of the streams that left.
    pub gone: Vec<usize>,
    /// The places of those that joined.
    pub joined: Vec<usize>,
}

/// A piece of the canonical text of a plan.
enum Piece {
    Text(String),
    Nodes,
    Ports,
    Streams,
    Taps,
}

fn refuse(error: &dyn std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn text_of(own: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut text = String::new();
    write(&mut text, own, Keys::Sorted)?;
    Ok(text)
}

fn texts_of(own: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    own.cast::<PyList>()?.iter().map(|one| text_of(&one)).collect()
}

fn read<T: DeserializeOwned>(text: String) -> PyResult<Part<T>> {
    let read =
        serde_json::from_str(&text).map_err(|error| refuse(&format!("the plan cannot be read: {error}")))?;
    Ok(Part { text, read })
}

/// The member of a document.
fn member<'py>(document: &Bound<'py, PyDict>, key: &str) -> PyResult<Bound<'py, PyAny>> {
    document.get_item(key)?.ok_or_else(|| refuse(&format!("the plan cannot be read: no {key}")))
}

/// The places of the objects that left a list, and of those that joined it. None if others have another order.
fn moved(earlier: &Bound<'_, PyList>, own: &Bound<'_, PyList>) -> Option<(Vec<usize>, Vec<usize>)> {
    let same = earlier.iter().zip(own.iter()).take_while(|(one, other)| one.is(other)).count();
    let rest = |list: &Bound<'_, PyList>| -> Vec<usize> {
        list.iter().skip(same).map(|one| one.as_ptr() as usize).collect()
    };
    let (was, now) = (rest(earlier), rest(own));
    let (before, after): (HashSet<&usize>, HashSet<&usize>) = (was.iter().collect(), now.iter().collect());
    let only = |list: &[usize], other: &HashSet<&usize>| -> Vec<usize> {
        (same..).zip(list).filter(|(_, one)| !other.contains(one)).map(|(place, _)| place).collect()
    };
    let stay = was.iter().filter(|one| after.contains(one)).eq(now.iter().filter(|one| before.contains(one)));
    stay.then(|| (only(&was, &after), only(&now, &before)))
}

/// What left a list, and what joined it. None if others have another order.
fn parts<T: DeserializeOwned>(
    earlier: &Bound<'_, PyAny>,
    own: &Bound<'_, PyAny>,
) -> PyResult<Option<Moved<T>>> {
    let own = own.cast::<PyList>()?;
    let Some((gone, joined)) = moved(earlier.cast::<PyList>()?, own) else { return Ok(None) };
    let part = |place: usize| Ok((place, read(text_of(&own.get_item(place)?)?)?));
    Ok(Some(Moved { gone, joined: joined.into_iter().map(part).collect::<PyResult<_>>()? }))
}

/// What differs in a document, and the pieces of its text. None if that is more than a [`Difference`] can say.
fn difference(
    earlier: &Bound<'_, PyDict>,
    document: &Bound<'_, PyDict>,
) -> PyResult<Option<(Difference, Vec<Piece>)>> {
    let mut found = Difference::default();
    let mut pieces = Vec::new();
    let members = content(document)?;
    if content(earlier)?.len() != members.len() {
        return Ok(None);
    }
    for (place, (key, value)) in members.iter().enumerate() {
        let Some(before) = earlier.get_item(key)? else { return Ok(None) };
        let mut text = String::from(if place > 0 { "," } else { "{" });
        quote(&mut text, key);
        text.push(':');
        let piece = match key.as_str() {
            "ports" => {
                let (was, now) = (before.cast::<PyList>()?, value.cast::<PyList>()?);
                if was.len() != now.len() {
                    return Ok(None);
                }
                for (number, (was, now)) in was.iter().zip(now.iter()).enumerate() {
                    if !was.is(&now) {
                        found.ports.push((number, read(text_of(&now)?)?));
                    }
                }
                Piece::Ports
            }
            "streams" => {
                let Some(streams) = parts(&before, value)? else { return Ok(None) };
                found.streams = streams;
                Piece::Streams
            }
            "taps" => {
                if !before.is(value) {
                    let Some(taps) = parts(&before, value)? else { return Ok(None) };
                    found.taps = taps;
                }
                Piece::Taps
            }
            _ if !before.is(value) => return Ok(None),
            "nodes" => Piece::Nodes,
            _ => Piece::Text(text_of(value)?),
        };
        pieces.extend([Piece::Text(text), piece]);
    }
    pieces.push(Piece::Text("}".into()));
    Ok(Some((found, pieces)))
}

/// The hash of a plan whose text has these pieces.
fn hash_of(pieces: &[Piece], texts: &Texts) -> String {
    let mut hash = ContentHash::default();
    for piece in pieces {
        match piece {
            Piece::Text(text) => hash.add(text),
            Piece::Nodes => hash.add(&texts.nodes),
            Piece::Ports => Whole::add(&mut hash, &texts.ports),
            Piece::Streams => Whole::add(&mut hash, &texts.streams),
            Piece::Taps => Whole::add(&mut hash, &texts.taps),
        }
    }
    hash.end()
}

/// A plan that was checked and proved beside another one.
pub(crate) struct Made {
    pub hash: Hash,
    pub version: Version,
    pub proof: OnceLock<Proof>,
    pub differs: Differs,
    /// Where the flows of streams that left were among all flows; none if everything was proved again.
    pub gone: Option<Vec<usize>>,
}

/// The plan of a document beside another plan, whose proof is made if there is none.
pub(crate) fn beside(
    (own, proof): (&Version, &OnceLock<Proof>),
    py: Python<'_>,
    earlier: &Bound<'_, PyDict>,
    document: &Bound<'_, PyDict>,
) -> PyResult<Option<Made>> {
    let Some((difference, pieces)) = difference(earlier, document)? else { return Ok(None) };
    let number = own.number;
    let known = py.detach(|| !own.lock().at(number).texts.nodes.is_empty());
    let texts = (!known).then(|| {
        Ok::<_, PyErr>(Texts {
            nodes: text_of(&member(earlier, "nodes")?)?,
            ports: texts_of(&member(earlier, "ports")?)?,
            streams: texts_of(&member(earlier, "streams")?)?,
            taps: texts_of(&member(earlier, "taps")?)?,
        })
    });
    let texts = texts.transpose()?;
    py.detach(|| {
        let mut chain = own.lock();
        let whole = chain.at(number);
        whole.prepare(texts);
        let bare = |port: &Port| Port { gates: None, ..port.clone() };
        if difference.ports.iter().any(|(port, part)| bare(&part.read) != bare(&whole.plan.ports[*port])) {
            return Ok(None);
        }
        let proof = proof.get_or_init(|| Proof::of(&whole.plan, &Known::default()));
        let gone = flows_at(&difference.streams.gone, &whole.about);
        let differs = Differs {
            from: number,
            ports: difference.ports.iter().map(|(port, _)| *port).collect(),
            gone: difference.streams.gone.clone(),
            joined: difference.streams.places(),
        };
        let (number, made) = added(&mut chain, &differs, difference, pieces, proof);
        drop(chain);
        let version = Version { chain: Arc::clone(&own.chain), number };
        let (hash, proof, known) = made?;
        let (proof, gone) = (OnceLock::from(proof), known.then_some(gone));
        Ok(Some(Made { hash, version, proof, differs, gone }))
    })
}

/// Where the flows of streams with these places are among all flows.
fn flows_at(gone: &[usize], about: &[About]) -> Vec<usize> {
    let mut first = 0;
    let mut found = Vec::new();
    let mut left = gone.iter().peekable();
    for (place, own) in about.iter().enumerate() {
        if left.peek().is_none() {
            break;
        }
        if left.next_if(|own| **own == place).is_some() {
            found.extend(first..first + own.flows);
        }
        first += own.flows;
    }
    found
}

/// Adds a plan to a chain that has another one in memory, with the `proof` of that one. Its number; its hash, its proof,
/// and whether the proof says which delays differ.
fn added(
    chain: &mut Chain,
    differs: &Differs,
    difference: Difference,
    pieces: Vec<Piece>,
    proof: &Proof,
) -> (u64, PyResult<(Hash, Proof, bool)>) {
    let Differs { ports, joined, .. } = differs;
    let number = chain.add(difference);
    let hash = chain.hash(move |texts| hash_of(&pieces, texts));
    let Some((whole, back)) = chain.last(differs.from) else {
        return (number, Err(refuse(&"no plan before")));
    };
    let plan = &whole.plan;
    let alone = whole.about.iter().all(|own| own.alone);
    if let Err(error) = plan.check_beside(ports, joined, alone, |name| whole.is_unique(name)) {
        return (number, Err(refuse(&error)));
    }
    let left = back.streams.joined.iter().map(|(place, part)| (*place, &part.read));
    let taps = back.taps.joined.iter().map(|(_, part)| &part.read);
    let joined_taps = back.taps.gone.iter().map(|place| &plan.taps[*place]);
    let (left, taps): (Vec<_>, Vec<_>) = (left.collect(), taps.chain(joined_taps).collect());
    let changed = Changed { gates: ports, left: &left, joined, taps: &taps, at: &whole.at };
    let found = proof.after(plan, &changed);
    let known = found.is_some();
    let proof = found.unwrap_or_else(|| Proof::of(plan, &Known::default()));
    (number, Ok((hash, proof, known)))
}

/// The flows of the streams of a plan that are analysed, by their names.
#[derive(Default)]
pub(crate) struct Analysed {
    of: HashMap<String, Arc<Own>>,
    /// The coarsest tick of all taps, ns.
    tick: u32,
}

/// The flows of one stream, by the analysis and by the proof of windows, which calls every stream 0 here.
#[derive(PartialEq)]
struct Own {
    flows: Vec<FlowBounds>,
    windows: Vec<Passing>,
}

/// What is found beside the bounds of an earlier plan.
#[derive(Serialize)]
pub(crate) struct Beside {
    flows: Vec<FlowBounds>,
    analysed: Vec<FlowBounds>,
    windows: Vec<Passing>,
    ports: Vec<PortBounds>,
    places: Vec<usize>,
    joined: Vec<usize>,
    gone: Vec<usize>,
    #[serde(flatten)]
    delays: Delays,
}

/// A plan with these streams alone, and the links that they pass.
fn with_streams(plan: &Plan, mut streams: Vec<Stream>) -> Plan {
    let passed = streams.iter().flat_map(|own| own.route.iter().chain(&own.flood)).map(|hop| hop.port);
    let both: BTreeSet<u32> = passed.flat_map(|port| [port, plan.ports[port as usize].peer]).collect();
    let numbers: HashMap<u32, u32> = both.iter().copied().zip(0..).collect();
    for hop in streams.iter_mut().flat_map(|own| own.route.iter_mut().chain(&mut own.flood)) {
        hop.port = numbers[&hop.port];
    }
    let ports = both.iter().map(|number| {
        let port = &plan.ports[*number as usize];
        Port { peer: numbers[&port.peer], ..port.clone() }
    });
    let taps = plan.taps.iter().filter_map(|tap| {
        let port = *numbers.get(&tap.port)?;
        Some(Tap { port, ..tap.clone() })
    });
    Plan {
        duration_ns: plan.duration_ns,
        drain_ns: plan.drain_ns,
        nodes: plan.nodes.clone(),
        ports: ports.collect(),
        streams,
        taps: taps.collect(),
        ..Plan::default()
    }
}

/// What the bounds of the earlier plan do not say, and what was analysed; none if some depend on those of others.
/// `known`: what was analysed of the earlier plan.
pub(crate) fn bounds(
    (whole, proof): (&Whole, &Proof),
    (differs, gone): (&Differs, &[usize]),
    known: Option<&Analysed>,
    memory: &BoundsMemory,
) -> Option<(Beside, Analysed)> {
    let (plan, streams) = (&whole.plan, &whole.plan.streams);
    if whole.about.iter().any(|own| own.answers) {
        return None;
    }
    let others: HashSet<u32> = (0..).zip(&whole.about).filter(|own| !own.1.exact).map(|own| own.0).collect();
    let near = whole.streams_at(differs.ports.iter().copied());
    // Frames that all have the same delay have no other lower bound, whatever the gates. Nor may gates drop other
    // frames: both proofs have found them open for each frame. Of several paths, a lost one may matter.
    let mut own: Vec<u32> = near.iter().copied().filter(|number| proof.varies(*number)).collect();
    own.extend(near.iter().filter(|number| streams[**number as usize].redundancy.is_some()));
    own.extend(proof.others());
    own.sort_unstable();
    own.dedup();
    own.retain(|number| !others.contains(number));
    let part = own.iter().map(|number| streams[*number as usize].clone()).collect();
    let flows =
        if own.is_empty() { Vec::new() } else { tsn_bounds::lower_bounds(&with_streams(plan, part)).flows };
    let analysed = (!others.is_empty()).then(|| bounds_of_streams(plan, &others, memory));
    let (all, ports) = analysed.map_or((Vec::new(), Vec::new()), |found| (found.flows, found.ports));
    let mut others: Vec<u32> = others.into_iter().collect();
    others.sort_unstable();
    let mut passing: HashMap<u32, Vec<Passing>> = HashMap::new();
    for own in if others.is_empty() { Vec::new() } else { tsn_verify::windows(plan).flows } {
        passing.entry(own.stream).or_default().push(Passing { stream: 0, ..own });
    }
    let tick = plan.taps.iter().map(|tap| tap.granularity_ns).max().unwrap_or(1);
    let (mut now, mut all) = (Analysed { of: HashMap::new(), tick }, all.into_iter());
    let (mut analysed, mut windows) = (Vec::new(), Vec::new());
    let known = known.filter(|known| known.tick == tick);
    others.retain(|number| {
        let stream = &streams[*number as usize];
        let flows = all.by_ref().take(stream.listeners.len()).collect();
        let own = Own { flows, windows: passing.remove(number).unwrap_or_default() };
        // Those of scheduled streams also follow from the proof, and one that joined may have replaced another one.
        let stayed = stream.scheduled.is_none() && !differs.joined.contains(&(*number as usize));
        let was = known.and_then(|known| known.of.get(&stream.name)).filter(|_| stayed);
        let same = was.filter(|was| ***was == own).map(Arc::clone);
        let is_told = same.is_none();
        let own = same.unwrap_or_else(|| {
            analysed.extend(own.flows.iter().cloned());
            windows.extend(own.windows.iter().map(|one| Passing { stream: *number, ..*one }));
            Arc::new(own)
        });
        now.of.insert(stream.name.clone(), own);
        is_told
    });
    let mut first = Vec::with_capacity(streams.len() + 1);
    first.push(0);
    for own in &whole.about {
        first.push(first[first.len() - 1] + own.flows);
    }
    let both = own.iter().chain(&others);
    let flows_of = |number: &u32| first[*number as usize]..first[*number as usize + 1];
    let delays = proof.delays(plan, both.clone().copied());
    let found = Beside {
        flows,
        analysed,
        windows,
        ports,
        places: both.clone().flat_map(flows_of).collect(),
        joined: both
            .filter(|number| differs.joined.contains(&(**number as usize)))
            .flat_map(flows_of)
            .collect(),
        gone: gone.to_vec(),
        delays: Delays { delays, margins_assumed: proof.report.margins_assumed },
    };
    Some((found, now))
}
