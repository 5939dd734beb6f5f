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

struct Capture {
    file: CaptureFile,
    reader: Reader,
    /// The next sighting of this file, when there are several.
    head: Option<CapturedFrame>,
    last_at: i64,
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
            self.last_at = packet.t_ns.unwrap_or(self.last_at);
            *into = CapturedFrame { t_ns: packet.t_ns, at: self.last_at, stream, number, octets };
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
                last_at: 0,
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
