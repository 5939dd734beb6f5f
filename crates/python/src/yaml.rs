//! YAML text as flat events, for the reader of scenarios.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};
use std::collections::HashMap;

/// Numbers of each event: its kind, line and column from 1, anchor (0: none), and text.
const NUMBERS: usize = 5;

const PLAIN: u32 = 0;
const QUOTED: u32 = 1;
const SEQUENCE: u32 = 2;
const MAPPING: u32 = 3;
const END: u32 = 4;
const ALIAS: u32 = 5;
/// A mapping of a shape. It has no anchor; the numbers of anchor and text are its own place among the events, and its
/// shape.
const REPEATED: u32 = 6;

/// Why a text is left to the slower parser: line and column from 1, and the text found there.
type Refusal = (usize, usize, String);

fn refuse<T>(mark: Marker, found: &str) -> Result<T, Refusal> {
    Err((mark.line(), mark.col() + 1, found.to_owned()))
}

/// Characters that YAML forbids, or that YAML 1.1 and 1.2 treat differently.
fn unusual(letter: char) -> bool {
    match letter {
        ' '..='~' => false,
        '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => true,
        '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}' => false,
        _ => true,
    }
}

/// Texts without quotes that YAML libraries read differently: over several lines, or beginning with an indicator.
fn odd(text: &str, span: Span) -> bool {
    // A minus sign before a digit begins a number, not an item of a list.
    let text =
        text.strip_prefix('-').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())).unwrap_or(text);
    span.start.line() != span.end.line() || text.starts_with(|first| "-?:,[]{}#&*!|>'\"%@`".contains(first))
}

/// An open mapping or sequence.
struct Open {
    /// Whether it is written with braces or brackets.
    flow: bool,
    mapping: bool,
    /// Keys and values so far.
    parts: usize,
    /// The line in which the last part began.
    line: usize,
    /// The place of its event.
    begin: usize,
}

impl Open {
    /// Counts one more part. A value within braces must begin in the line of its key: libraries differ on others.
    fn take(&mut self, mark: Marker) -> Result<(), Refusal> {
        let value = self.mapping && self.parts % 2 == 1;
        if self.flow && value && mark.line() != self.line {
            return refuse(mark, "a value in another line than its key");
        }
        self.parts += 1;
        self.line = mark.line();
        Ok(())
    }
}

/// The number of events of the mappings of a shape after their begin, their weight (scalars and mappings within them,
/// and one), and the places of the keys of their ends, counted from their begin.
type Shape = (usize, usize, Vec<usize>);

/// Mappings within braces that have the same texts, but for the values of a few keys: the streams of large scenarios.
#[derive(Default)]
struct Shapes {
    /// The keys whose values may differ.
    ends: Vec<String>,
    /// The keys whose values have to be equal. A mapping with another key has no shape.
    shared: Vec<String>,
    /// What stands for the brace of a parameter; a text with it has another value in each run.
    brace: char,
    /// What each text may be.
    words: Vec<Word>,
    known: HashMap<Vec<u32>, usize>,
    found: Vec<Shape>,
}

/// What a text may be.
#[derive(Copy, Clone, Default)]
struct Word {
    end: bool,
    shared: bool,
    /// The key of a mapping with further keys.
    requires: bool,
    blank: bool,
    /// It depends on a parameter.
    varies: bool,
    /// Among requirements it has a meaning of its own: it is empty, a merge key, or names a class.
    special: bool,
}

impl Shapes {
    /// Notes the possible kinds of the next text.
    fn text(&mut self, text: &str) {
        self.words.push(Word {
            end: self.ends.iter().any(|end| end == text),
            shared: self.shared.iter().any(|shared| shared == text),
            requires: text == "requires",
            blank: text.trim().is_empty(),
            varies: text.contains(self.brace),
            special: text.is_empty() || text == "<<" || text.contains("class"),
        });
    }

    /// The shape of a mapping with these events; none if it has to be read alone.
    fn of(&mut self, events: &[u32]) -> Option<usize> {
        let scalar = |event: &[u32; NUMBERS]| {
            let word = *self.words.get(usize::try_from(event[4]).ok()?)?;
            (event[0] <= QUOTED && event[3] == 0).then_some(word)
        };
        let (all, _) = events.as_chunks::<NUMBERS>();
        let mut written: Vec<u32> = Vec::with_capacity(3 * all.len());
        let mut keys: Vec<u32> = Vec::new();
        let mut ends = Vec::new();
        let mut weight = 1;
        let mut left = all.iter().enumerate().skip(1);
        if all.first().is_none_or(|begin| begin[3] != 0) {
            return None;
        }
        loop {
            let (place, key) = left.next()?;
            if key[0] == END {
                break;
            }
            let name = scalar(key).filter(|_| !keys.contains(&key[4]))?;
            keys.push(key[4]);
            written.push(key[4]);
            let (_, value) = left.next()?;
            weight += 2;
            if value[0] == MAPPING && name.requires && value[3] == 0 {
                let mut inner: Vec<u32> = Vec::new();
                loop {
                    let (_, key) = left.next()?;
                    if key[0] == END {
                        break;
                    }
                    let (_, value) = left.next()?;
                    let plain = |event| scalar(event).is_some_and(|word| !word.special && !word.varies);
                    if !plain(key) || !plain(value) || inner.contains(&key[4]) {
                        return None;
                    }
                    inner.push(key[4]);
                    written.extend([key[4], value[0], value[4]]);
                    weight += 2;
                }
                written.push(MAPPING);
                continue;
            }
            let text = scalar(value)?;
            if name.end && !text.blank && !text.varies {
                ends.push(place);
                written.push(u32::MAX);
            } else if name.shared && !text.varies {
                written.extend([value[0], value[4]]);
            } else {
                return None;
            }
        }
        if ends.is_empty() {
            return None;
        }
        let number = self.found.len();
        let shape = *self.known.entry(written).or_insert(number);
        if shape == number {
            self.found.push((all.len() - 1, weight, ends));
        }
        Some(shape)
    }
}

/// The events of a YAML document and the texts of its scalars. Each event is five unsigned integers of four octets in
/// the machine's byte order: kind (0 plain scalar, 1 quoted scalar, 2 sequence, 3 mapping, 4 end of either, 5 alias),
/// line and column from 1, number of the anchor or 0, and the place of the scalar's text in the list.
///
/// Mappings within braces whose texts are equal but for the values of the keys `ends` are of one shape (kind 6, with
/// the place of the event and the number of the shape instead of anchor and text); they have no keys but `ends` and
/// `shared`, and no text with the letter `brace`. The third value has for each shape the number of events after the
/// mapping's own, its weight, and the places of the keys `ends`, counted from the mapping's own event.
///
/// Raises ValueError (line, column, text found there) for everything that is rare in scenarios: mistakes, tags,
/// several documents, directives, tabs and control characters, more than `deepest` levels of nesting. A slower parser
/// then decides the meaning of these texts.
#[pyfunction]
fn yaml_events<'py>(
    py: Python<'py>,
    text: &str,
    deepest: usize,
    brace: char,
    ends: Vec<String>,
    shared: Vec<String>,
) -> PyResult<(Bound<'py, PyBytes>, Vec<String>, Vec<Shape>)> {
    let mut shapes = Shapes { ends, shared, brace, ..Shapes::default() };
    let (numbers, texts) = py.detach(|| events(text, deepest, &mut shapes)).map_err(PyValueError::new_err)?;
    let octets: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    Ok((PyBytes::new(py, &octets), texts, shapes.found))
}

fn events(text: &str, deepest: usize, shapes: &mut Shapes) -> Result<(Vec<u32>, Vec<String>), Refusal> {
    // `lines` would remove a carriage return, and libraries differ on carriage returns without a line feed.
    for (number, line) in text.split('\n').enumerate() {
        let explicit = line.trim_start().strip_prefix(['?', ':']);
        let explicit = explicit.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        if line.starts_with("...") || line.starts_with('%') || explicit {
            return Err((number + 1, 1, "the end of a document, a directive or an explicit key".into()));
        }
        if let Some(column) = line.chars().position(unusual) {
            let found = match line.chars().nth(column) {
                Some('\t') => "a tab".to_owned(),
                letter => format!("the character U+{:04X}", letter.map_or(0, u32::from)),
            };
            return Err((number + 1, column + 1, found));
        }
    }
    let mut numbers: Vec<u32> = Vec::with_capacity(text.len() / 8 * NUMBERS);
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut texts: Vec<String> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = event
            .map_err(|error| (error.marker().line(), error.marker().col() + 1, error.info().to_owned()))?;
        let start = span.start;
        let begins = matches!(
            event,
            Event::Alias(_) | Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..)
        );
        if begins && let Some(within) = open.last_mut() {
            within.take(start)?;
        }
        let number = |value: usize| u32::try_from(value).or_else(|_| refuse(start, "too long a text"));
        let place = [number(start.line())?, number(start.col() + 1)?];
        let begin = numbers.len();
        let mut push = |kind: u32, anchor: usize, text: u32| -> Result<(), Refusal> {
            numbers.extend([kind, place[0], place[1], number(anchor)?, text]);
            Ok(())
        };
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return refuse(start, "a second document");
                }
            }
            Event::Alias(anchor) => push(ALIAS, anchor, 0)?,
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => {
                return refuse(start, "a tag");
            }
            Event::Scalar(_, ScalarStyle::Literal | ScalarStyle::Folded, _, None) => {
                return refuse(start, "a block of text");
            }
            Event::Scalar(value, ScalarStyle::Plain, _, None)
                if odd(&value, span) || value.is_empty() && open.last().is_some_and(|within| within.flow) =>
            {
                return refuse(start, "a text that should have quotes");
            }
            Event::Scalar(value, style, anchor, None) => {
                let place = match known.get(&*value) {
                    Some(place) => *place,
                    None => {
                        let place = number(texts.len())?;
                        texts.push(value.clone().into_owned());
                        shapes.text(&value);
                        known.insert(value.into_owned(), place);
                        place
                    }
                };
                push(if style == ScalarStyle::Plain { PLAIN } else { QUOTED }, anchor, place)?;
            }
            Event::SequenceStart(anchor, None) | Event::MappingStart(anchor, None) => {
                if open.len() >= deepest {
                    return refuse(start, "too deep");
                }
                let (flow, mapping) =
                    (span.start.index() != span.end.index(), matches!(event, Event::MappingStart(..)));
                if !flow && open.last().is_some_and(|within| within.flow) {
                    return refuse(start, "a pair without braces in a list");
                }
                // The search covers only lines with few characters before the dash: a search from the begin of the
                // line for every brace would be quadratic.
                let dash = || {
                    lines.get(start.line() - 1).is_some_and(|line| line.chars().nth(start.col()) == Some('-'))
                };
                if !flow && !mapping && !dash() {
                    return refuse(start, "a list whose place is not that of its first dash");
                }
                open.push(Open { flow, mapping, parts: 0, line: 0, begin });
                push(if mapping { MAPPING } else { SEQUENCE }, anchor, 0)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                push(END, 0, 0)?;
                if let Some(ended) = open.pop()
                    && ended.flow
                    && ended.mapping
                    && open.last().is_some_and(|within| within.mapping)
                    && let Some(shape) = shapes.of(&numbers[ended.begin..])
                {
                    let place = number(ended.begin / NUMBERS)?;
                    numbers[ended.begin] = REPEATED;
                    numbers[ended.begin + 3] = place;
                    numbers[ended.begin + 4] = number(shape)?;
                }
            }
        }
    }
    if numbers.is_empty() {
        return Err((1, 1, "an empty document".into()));
    }
    Ok((numbers, texts))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(yaml_events, module)?)
}
