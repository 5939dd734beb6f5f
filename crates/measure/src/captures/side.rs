//! One side's files, read as one in order of their stamps.

use super::End;
use super::capture_file::CaptureFile;
use super::captured_frame::CapturedFrame;
use super::streams::Streams;
use crate::Error;
use crate::report::Source;
use std::collections::VecDeque;
use tsn_capture::{CapturedInterface, InterfaceCounts, Packet, Reader};
use tsn_wire::dissect::{Dissected, dissect_for};

/// Looks at frames while they are read.
pub(super) trait Look {
    /// A frame as the file has it.
    #[inline]
    fn packet(&mut self, _: &Packet<'_>) {}

    /// A frame that can be taken apart.
    #[inline]
    fn frame(&mut self, _: &Dissected<'_>, _t_ns: Option<i64>) {}
}

impl Look for () {}

/// A clock that is set back by more than this was stepped: frames of a file are in order but for much less.
pub(super) const STEP_NS: i64 = 1_000_000_000;

/// The order of a file's frames in time, also if its clock is set back meanwhile: the time goes on from there.
///
/// Otherwise the side whose clock is set back first would be read to its end before the other one.
#[derive(Copy, Clone, Debug)]
struct SteppedClock {
    last_at: i64,
    /// What is added to stamps since the clock was set back.
    set_back_ns: i64,
    /// The stamp from which on nothing is added any more: a single wrong stamp sets no clock back.
    until: i64,
    stepped: bool,
}

impl SteppedClock {
    const fn new() -> Self {
        Self { last_at: i64::MIN, set_back_ns: 0, until: 0, stepped: false }
    }

    /// The place in time of a frame with this stamp; the one of the frame before, without a stamp.
    #[inline]
    fn at(&mut self, stamp: Option<i64>) -> i64 {
        if let Some(stamp) = stamp {
            let at = stamp.saturating_add(self.set_back_ns);
            let falls = at < self.last_at.saturating_sub(STEP_NS);
            self.last_at = if falls || self.set_back_ns != 0 { self.step(stamp, at, falls) } else { at };
        }
        self.last_at
    }

    #[cold]
    fn step(&mut self, stamp: i64, at: i64, falls: bool) -> i64 {
        if falls {
            self.until = if self.set_back_ns == 0 { self.last_at } else { self.until };
            self.set_back_ns = self.last_at.saturating_sub(stamp);
            self.stepped = true;
            self.last_at
        } else if stamp >= self.until {
            self.set_back_ns = 0;
            stamp
        } else {
            at
        }
    }
}

struct Capture {
    file: CaptureFile,
    reader: Reader,
    /// The next sighting of this file, when there are several.
    head: Option<CapturedFrame>,
    clock: SteppedClock,
    unreadable: u64,
    /// Further messages of the last frame.
    further: VecDeque<CapturedFrame>,
}

impl Capture {
    /// Whether there is a next frame that can be identified, and the frame.
    #[inline]
    fn next(
        &mut self,
        end: End,
        streams: &mut Streams,
        look: &mut impl Look,
        into: &mut CapturedFrame,
    ) -> Result<bool, Error> {
        if let Some(further) = self.further.pop_front() {
            *into = further;
            return Ok(true);
        }
        loop {
            let packet = match self.reader.read() {
                Ok(Some(packet)) => packet,
                Ok(None) => return Ok(false),
                Err(error) => return Err(self.file.failed(error)),
            };
            look.packet(&packet);
            let identified = dissect_for(packet.link, packet.octets, packet.original, |frame| {
                look.frame(frame, packet.t_ns);
                (streams.identify(frame, end), frame.octets)
            });
            let Ok(((stream, number), octets)) = identified else {
                self.unreadable += 1;
                continue;
            };
            let at = self.clock.at(packet.t_ns);
            *into = CapturedFrame { t_ns: packet.t_ns, at, stream, number, octets };
            if streams.has_further() {
                self.keep_further(into, streams);
            }
            return Ok(true);
        }
    }

    /// The next frame of one of several files.
    fn head_of(&mut self, end: End, streams: &mut Streams) -> Result<Option<CapturedFrame>, Error> {
        let mut head = CapturedFrame::default();
        Ok(self.next(end, streams, &mut (), &mut head)?.then_some(head))
    }

    /// Keeps the further messages of a frame.
    #[cold]
    fn keep_further(&mut self, frame: &CapturedFrame, streams: &mut Streams) {
        let further = streams.further();
        self.further.extend(further.map(|(stream, number)| CapturedFrame { stream, number, ..*frame }));
    }
}

/// One side.
pub(super) struct Side {
    end: End,
    captures: Vec<Capture>,
    begun: bool,
}

impl Side {
    pub(super) fn open(files: &[CaptureFile], end: End) -> Result<Self, Error> {
        let mut captures = Vec::with_capacity(files.len());
        for file in files {
            let reader = file.open()?;
            captures.push(Capture {
                file: file.clone(),
                reader,
                head: None,
                clock: SteppedClock::new(),
                unreadable: 0,
                further: VecDeque::new(),
            });
        }
        Ok(Self { end, captures, begun: false })
    }

    /// Whether there is a next sighting, and the sighting; `look` sees every frame before. The frame is written where it
    /// is needed, because this is millions of times.
    #[inline(always)]
    pub(super) fn next(
        &mut self,
        streams: &mut Streams,
        look: &mut impl Look,
        into: &mut CapturedFrame,
    ) -> Result<bool, Error> {
        if let [only] = self.captures.as_mut_slice() {
            return only.next(self.end, streams, look, into);
        }
        match self.next_of_many(streams)? {
            Some(next) => *into = next,
            None => return Ok(false),
        }
        Ok(true)
    }

    fn next_of_many(&mut self, streams: &mut Streams) -> Result<Option<CapturedFrame>, Error> {
        if !self.begun {
            self.begun = true;
            for capture in &mut self.captures {
                capture.head = capture.head_of(self.end, streams)?;
            }
        }
        let heads = self.captures.iter_mut().filter(|capture| capture.head.is_some());
        let Some(first) = heads.min_by_key(|capture| capture.head.map(|head| head.at)) else {
            return Ok(None);
        };
        let next = first.head_of(self.end, streams)?;
        Ok(std::mem::replace(&mut first.head, next))
    }

    /// Whether the clock of a file was set back so far.
    pub(super) fn is_stepped(&self) -> bool {
        self.captures.iter().any(|capture| capture.clock.stepped)
    }

    /// The first file, if no file of the side has a frame.
    pub(super) fn empty(&self) -> Option<&CaptureFile> {
        let empty = self.captures.iter().all(|capture| capture.reader.frames() == 0);
        self.captures.first().filter(|_| empty).map(|capture| &capture.file)
    }

    pub(super) fn end(&self) -> End {
        self.end
    }

    /// The files, for messages.
    pub(super) fn files(&self) -> String {
        let names: Vec<String> = self.captures.iter().map(|capture| capture.file.to_string()).collect();
        names.join(", ")
    }

    /// The interfaces of the only file, of which every frame was counted.
    ///
    /// # Errors
    /// There are too many.
    pub(super) fn interfaces(&self, counts: InterfaceCounts) -> Result<Vec<CapturedInterface>, Error> {
        let Some(Capture { file, reader, .. }) = self.captures.first() else { return Ok(Vec::new()) };
        counts.list(reader).map_err(|error| file.failed(error))
    }

    pub(super) fn unreadable(&self) -> u64 {
        self.captures.iter().map(|capture| capture.unreadable).sum()
    }

    /// The name of the clock of these timestamps: as the files name it, or else the files themselves.
    pub(super) fn clock(&self) -> String {
        let named = self.captures.iter().find_map(|capture| capture.reader.clock());
        named.map_or_else(
            || match self.end {
                End::Tx => "of the sending capture".into(),
                End::Rx => "of the receiving capture".into(),
            },
            str::to_owned,
        )
    }

    /// The files as those of one place, with the reason why one was not read to its end.
    pub(super) fn describe_one(&self, source: &mut Source) {
        for Capture { file, reader, unreadable, .. } in &self.captures {
            source.warnings.extend(reader.warning().map(|warning| format!("{file}: {warning}")));
            source.ignored.unreadable_frames += unreadable;
            source.files.push(file.source("one", reader.frames()));
        }
    }

    pub(super) fn describe(&self, source: &mut Source) {
        let side = match self.end {
            End::Tx => "tx",
            End::Rx => "rx",
        };
        for Capture { file, reader, unreadable, .. } in &self.captures {
            if let Some(warning) = reader.warning() {
                source.warnings.push(format!("{file}: {warning}"));
            }
            if reader.frames() == 0 {
                source.warnings.push(format!("{file} has no frame"));
            }
            if reader.dropped() > 0 {
                source.warnings.push(format!(
                    "{file}: the capture itself dropped {} frames (isb_ifdrop, isb_osdrop): as many of the missing \
                     frames may be its own",
                    reader.dropped()
                ));
            }
            if *unreadable > 0 {
                source.warnings.push(format!("{file}: {unreadable} frames end inside their link layer"));
            }
            source.files.push(file.source(side, reader.frames()));
        }
    }
}
