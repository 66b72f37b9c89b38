//! Bytes of a file become a [`Log`]: whole lines, their pieces, the format's adapter; or one document that spans lines.

use super::{
    Adapter, Continues, Detection, Format, Line, Piece, detect,
    detect::PATIENCE,
    document::{Document, Item, Shape, shape},
    json::Raw,
    pieces,
};
use crate::model::{Context, Flags, Kind, Log, NoteKind, Record};

/// A line longer than this is kept as a place and a length; its bytes are never held whole.
pub const LINE_CAP: usize = 64 << 20;
/// Bytes that wait at most for a line that decides between formats that fit equally well.
const HELD: usize = 8 << 20;
/// Bytes of an oversized line in which its type is searched.
const OVERSIZE_HEAD: usize = 64 << 10;

/// A transcript as far as its bytes were fed.
pub struct Transcript {
    adapter: Option<Box<dyn Adapter>>,
    log: Log,
    detection: Option<Detection>,
    stem: String,
    /// Lines seen before the format was known: offset and bytes.
    early: Vec<(u64, Vec<u8>)>,
    /// Items of a document seen before the format was known.
    early_items: Vec<Item<'static>>,
    /// Lines, or one document; not known before the first line is there.
    shape: Shape,
    document: Document,
    /// Bytes after the last newline.
    partial: Vec<u8>,
    /// Bytes of an oversized line that were dropped, beyond `partial`.
    dropped: u64,
    /// Offset of the next byte.
    offset: u64,
    /// Where the current line starts.
    line_start: u64,
    segment: u16,
    /// The continued file that was fed last. One without a readable line leaves the adapter as it was; it must not be
    /// asked for again for ever.
    fed: Option<Continues>,
}

impl Transcript {
    /// An empty transcript. With `forced` the format is not searched for. `stem` is the file's name without ending.
    pub fn new(forced: Option<Format>, stem: &str) -> Self {
        let mut new = Self {
            adapter: None,
            log: Log::default(),
            detection: None,
            stem: stem.to_string(),
            early: Vec::new(),
            early_items: Vec::new(),
            shape: Shape::Unknown,
            document: Document::default(),
            partial: Vec::new(),
            dropped: 0,
            offset: 0,
            line_start: 0,
            segment: 0,
            fed: None,
        };
        if let Some(format) = forced {
            new.adapter = Some(format.adapter(stem));
            let reasons = vec!["forced by name".to_string()];
            new.detection = Some(Detection { format, reasons, rivals: Vec::new() });
        }
        new
    }

    /// Takes the next bytes of the file, in any chunking.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.shape == Shape::Unknown {
            self.partial.extend_from_slice(bytes);
            self.offset += bytes.len() as u64;
            self.shape = if self.partial.len() > LINE_CAP { Shape::Lines } else { shape(&self.partial) };
            if self.shape == Shape::Unknown {
                return;
            }
            let head = std::mem::take(&mut self.partial);
            self.offset -= head.len() as u64;
            self.feed_known(&head);
        } else {
            self.feed_known(bytes);
        }
    }

    fn feed_known(&mut self, bytes: &[u8]) {
        if self.shape != Shape::Document {
            self.feed_lines(bytes);
            return;
        }
        self.offset += bytes.len() as u64;
        let mut document = std::mem::take(&mut self.document);
        let (torn, trailed) = (document.is_torn(), document.is_trailed());
        document.feed(bytes, &mut |item| self.item(item));
        if torn && !document.is_torn() {
            self.settle_items(false);
        }
        (self.log.lines, self.log.physical) = document.counted();
        if document.is_trailed() && !trailed {
            self.log.damaged += 1;
            self.log.note(NoteKind::Damaged, 0, "Something stands behind the end of the document; it was not read.");
        }
        self.document = document;
    }

    /// Takes one item of a document, or keeps it until the format is known.
    fn item(&mut self, item: &Item<'_>) {
        if self.adapter.is_some() {
            self.take_item(item);
        } else if !self.hopeless() {
            let due = self.is_due(&item.bytes);
            self.early_items.push(item.owned());
            if due || self.is_many() || (self.tie().is_some() && self.is_late()) {
                self.settle_items(false);
            }
        }
    }

    /// Looks what the items are that were seen so far. `last`: no more will follow.
    fn settle_items(&mut self, last: bool) {
        if self.adapter.is_none() {
            let items: Vec<&[u8]> = self.early_items.iter().map(|item| &*item.bytes).collect();
            let Some(detection) = detect(&items) else { return };
            // A later item may tell two formats apart that fit just as well.
            let waits = !detection.rivals.is_empty() && !last && !self.is_late();
            self.adapter = (!waits).then(|| detection.format.adapter(&self.stem));
            self.detection = Some(detection);
            if waits {
                return;
            }
        }
        for item in std::mem::take(&mut self.early_items) {
            self.take_item(&item);
        }
    }

    fn take_item(&mut self, item: &Item<'_>) {
        let Some(adapter) = &mut self.adapter else { return };
        let Item { number, offset, .. } = *item;
        let place = Place { number, offset, segment: 0 };
        let value = Raw::parse(&item.bytes).ok().filter(|value| value.is_object());
        let first = self.log.records.len();
        match value {
            _ if item.oversized => oversized(&mut self.log, place, &item.bytes, item.len),
            Some(value) => {
                let line =
                    Line { number, offset, bytes: &item.bytes, value, segment: 0, salvaged: false, in_document: true };
                adapter.line(&line, &mut self.log);
            }
            None => damaged(&mut self.log, place, &item.bytes, (0, item.bytes.len()), "the item is no JSON object"),
        }
        item.place(self.log.records.get_mut(first..).unwrap_or_default());
    }

    fn feed_lines(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(newline) = memchr::memchr(b'\n', rest) {
            let (line, tail) = rest.split_at(newline);
            self.offset += newline as u64 + 1;
            self.end_line(line);
            self.line_start = self.offset;
            rest = tail.get(1..).unwrap_or_default();
        }
        self.offset += rest.len() as u64;
        let room = LINE_CAP.saturating_sub(self.partial.len());
        let kept = rest.get(..room.min(rest.len())).unwrap_or_default();
        self.partial.extend_from_slice(kept);
        self.dropped += (rest.len() - kept.len()) as u64;
    }

    /// Takes the whole bytes of a file that this one continues, before its own second line.
    /// `segment` numbers such files from 1.
    pub fn feed_segment(&mut self, segment: u16, bytes: &[u8]) {
        self.fed = self.continues();
        let Some(adapter) = &mut self.adapter else { return };
        let mut offset = 0u64;
        for (number, bytes) in (1u32..).zip(bytes.split(|b| *b == b'\n')) {
            let place = Place { number, offset, segment };
            take_line(adapter.as_mut(), &mut self.log, place, bytes);
            offset += bytes.len() as u64 + 1;
        }
    }

    /// Takes the unterminated last line as a whole one, if it is whole JSON; else notes it as torn. What fits formats
    /// equally well is read as the first of them, which its detection says.
    /// For files that nobody writes any more.
    pub fn finish(&mut self) {
        if self.shape == Shape::Unknown {
            self.shape = Shape::Lines;
            let head = std::mem::take(&mut self.partial);
            self.offset -= head.len() as u64;
            self.feed_lines(&head);
        }
        if self.shape == Shape::Document {
            self.finish_document();
            return;
        }
        let line = std::mem::take(&mut self.partial);
        if line.iter().all(u8::is_ascii_whitespace) && self.dropped == 0 {
            self.partial = line;
            self.decide();
            return;
        }
        let whole = self.dropped == 0 && matches!(pieces(&line).as_slice(), [Piece::Value { .. }]);
        if whole {
            self.end_line(&line);
            self.line_start = self.offset;
        }
        self.decide();
        if !whole {
            self.log.lines += 1;
            self.log.note(
                NoteKind::TornTail,
                self.log.physical + 1,
                format!("The last line ({} bytes) has no newline and is not whole.", line.len()),
            );
            self.partial = line;
        }
    }

    fn finish_document(&mut self) {
        if !self.document.is_torn() {
            self.settle_items(true);
            return;
        }
        self.log.note(NoteKind::TornTail, 0, "The document is not whole: it ends inside, or is being written.");
        let document = std::mem::take(&mut self.document);
        if let Some(item) = document.whole_so_far() {
            self.item(&item);
        }
        self.settle_items(true);
        self.document = document;
    }

    fn end_line(&mut self, tail: &[u8]) {
        let dropped = std::mem::take(&mut self.dropped);
        let held = std::mem::take(&mut self.partial);
        let line: std::borrow::Cow<'_, [u8]> =
            if held.is_empty() { tail.into() } else { [held.as_slice(), tail].concat().into() };
        if dropped > 0 || line.len() > LINE_CAP {
            self.decide();
            self.log.physical += 1;
            self.log.lines += 1;
            let place = Place { number: self.log.physical, offset: self.line_start, segment: self.segment };
            oversized(&mut self.log, place, &line, line.len() as u64 + dropped);
            return;
        }
        if self.adapter.is_none() {
            if !self.hopeless() {
                self.early.push((self.line_start, line.into_owned()));
                self.try_detect();
            }
            return;
        }
        self.take(self.line_start, &line);
    }

    fn take(&mut self, offset: u64, line: &[u8]) {
        self.log.physical += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        self.log.lines += 1;
        let place = Place { number: self.log.physical, offset, segment: self.segment };
        if let Some(adapter) = &mut self.adapter {
            take_line(adapter.as_mut(), &mut self.log, place, line);
        }
    }

    fn try_detect(&mut self) {
        if self.early.last().is_some_and(|(_, newest)| self.is_due(newest)) {
            self.look();
        }
        // A later line may tell two formats apart that fit just as well.
        if self.tie().is_none() || self.is_late() {
            self.decide();
        }
    }

    /// True if this line or item, the newest, may change what the format is.
    fn is_due(&self, newest: &[u8]) -> bool {
        let newest = detect(&[newest]);
        match &self.detection {
            // No line before the newest spoke for a format, so they need not be looked at again for every new one.
            None => newest.is_some(),
            // A line that fits the same formats equally well changes nothing between them.
            Some(tie) => newest.is_none_or(|newest| !newest.formats().eq(tie.formats())),
        }
    }

    /// Looks at all lines that wait.
    fn look(&mut self) {
        let lines: Vec<&[u8]> = self.early.iter().map(|(_, line)| line.as_slice()).collect();
        self.detection = detect(&lines).or(self.detection.take());
    }

    /// Takes the format that was found for the one it is, of several that fit equally well the first.
    fn decide(&mut self) {
        if self.adapter.is_none() && self.tie().is_some() {
            self.look();
        }
        let Some(detection) = &self.detection else { return };
        if self.adapter.is_none() {
            self.adapter = Some(detection.format.adapter(&self.stem));
        }
        for (offset, line) in std::mem::take(&mut self.early) {
            self.take(offset, &line);
        }
    }

    /// Enough was seen: what fits formats equally well now is not told apart by more of it.
    fn is_late(&self) -> bool {
        let lines: usize = self.early.iter().map(|(_, line)| line.len()).sum();
        let items: usize = self.early_items.iter().map(|item| item.bytes.len()).sum();
        self.is_many() || lines + items >= HELD
    }

    fn is_many(&self) -> bool {
        self.early.len().max(self.early_items.len()) >= PATIENCE
    }

    /// Formats between which only a person can choose, as far as was read. Nothing is read as one of them before more
    /// lines decide, enough of them were seen, or the end is known.
    pub fn tie(&self) -> Option<&Detection> {
        self.detection.as_ref().filter(|found| !found.rivals.is_empty())
    }

    /// What was read.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The format's adapter, once the format is known.
    pub fn adapter(&self) -> Option<&dyn Adapter> {
        self.adapter.as_deref()
    }

    /// The format with its reasons. While it has rivals a later line may still decide; then nothing is read yet.
    pub fn detection(&self) -> Option<&Detection> {
        self.detection.as_ref()
    }

    /// True if enough was seen to say that this is no transcript.
    pub fn hopeless(&self) -> bool {
        self.adapter.is_none() && self.is_many()
    }

    /// Bytes after the last newline: a line that is still being written, or a torn one.
    pub fn partial(&self) -> &[u8] {
        &self.partial
    }

    /// True while a document that spans lines is not whole, or only its first bytes are there: it is being written, or was
    /// cut.
    pub fn is_torn(&self) -> bool {
        match self.shape {
            Shape::Document => self.document.is_torn(),
            Shape::Unknown => self.partial.trim_ascii_start().first().is_some_and(|byte| matches!(byte, b'[' | b'{')),
            Shape::Lines => false,
        }
    }

    /// True for one document over many lines.
    pub fn is_document(&self) -> bool {
        self.shape == Shape::Document
    }

    /// Bytes fed so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The file that must be fed with [`Transcript::feed_segment`] before anything else. To be asked again after each.
    pub fn continues(&self) -> Option<Continues> {
        self.adapter.as_ref()?.continues().filter(|next| self.fed.as_ref() != Some(next))
    }

    /// The effective context as of the last [`Transcript::context`].
    pub fn current(&self) -> Option<&Context> {
        self.adapter.as_ref().map(|adapter| adapter.current())
    }

    /// Brings the effective context up to date and gives it with the log.
    pub fn context(&mut self) -> Option<(&mut Context, &Log)> {
        let adapter = self.adapter.as_mut()?;
        let context = adapter.context(&mut self.log);
        Some((context, &self.log))
    }
}

#[derive(Clone, Copy)]
struct Place {
    number: u32,
    offset: u64,
    segment: u16,
}

/// Feeds the pieces of one physical line to the adapter; what is no record is counted and noted.
fn take_line(adapter: &mut dyn Adapter, log: &mut Log, place: Place, bytes: &[u8]) {
    let Place { number, offset, segment } = place;
    for piece in pieces(bytes) {
        match piece {
            Piece::Value { value, salvaged } if value.is_object() => {
                if salvaged {
                    log.note(
                        NoteKind::Salvaged,
                        number,
                        "A whole record was recovered from this line; the agent itself does not see it.",
                    );
                }
                adapter.line(&Line { number, offset, bytes, value, segment, salvaged, in_document: false }, log);
            }
            Piece::Value { value, .. } => {
                let (at, len) = value.range();
                damaged(log, place, bytes, (at as usize, len as usize), "the line is JSON but no object");
            }
            Piece::Gap(at, len) => damaged(log, place, bytes, (at, len), "a run of NUL bytes"),
            Piece::Corrupt(at, len, reason) => damaged(log, place, bytes, (at, len), reason),
        }
    }
}

/// A line or an item that was not held whole: kept as a place and a size.
fn oversized(log: &mut Log, place: Place, bytes: &[u8], size: u64) {
    log.damaged += 1;
    let head = bytes.get(..OVERSIZE_HEAD.min(bytes.len())).unwrap_or_default();
    let mut record = Record::new(Kind::Opaque);
    record.offset = place.offset;
    record.line = place.number;
    record.segment = place.segment;
    record.line_len = u32::try_from(size).unwrap_or(u32::MAX);
    record.len = u32::try_from(head.len()).unwrap_or(u32::MAX);
    record.flags = Flags::OVERSIZED;
    log.push(record);
    let text = format!("A line of {size} bytes is larger than cutline reads; it may hold a result.");
    log.note(NoteKind::Damaged, place.number, text);
}

fn damaged(log: &mut Log, place: Place, bytes: &[u8], (at, len): (usize, usize), reason: &str) {
    log.damaged += 1;
    log.note(NoteKind::Damaged, place.number, format!("{len} bytes were not understood: {reason}."));
    let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let mut record = Record::new(Kind::Opaque);
    record.offset = place.offset;
    record.line = place.number;
    record.segment = place.segment;
    record.line_len = clip(bytes.len());
    record.at = clip(at);
    record.len = clip(len);
    log.push(record);
}
