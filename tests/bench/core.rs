//! Parse, ledger, cuts and one frame, beside a bare count of lines over the same bytes: read the ratios.

mod generate;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cutline::{
    budget::Settings,
    cut::{legal_cuts, reasons_at_every_cut},
    export::{Rails, Symbols, head_of},
    format::Transcript,
    ledger::Ledger,
    model::Millis,
    plan::Session,
    source::{Feed, Status},
    ui::{Effect, Msg, Options, State, Theme, update, view},
};
use jiff::tz::TimeZone;
use ratatui::{Terminal, backend::TestBackend};

const RECORDS: usize = 20_000;
const LARGE: usize = 50_000;
const NOW: Millis = Millis(1_796_047_200_000);

fn parse(c: &mut Criterion) {
    for (name, bytes) in [("neutral", generate::neutral(RECORDS)), ("claude", generate::claude(RECORDS))] {
        let mut group = c.benchmark_group(format!("parse/{name}"));
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function("count lines", |b| b.iter(|| memchr::memchr_iter(b'\n', &bytes).count()));
        group.bench_function("records", |b| {
            b.iter(|| {
                let mut transcript = Transcript::new(None, "bench");
                transcript.feed(&bytes);
                transcript.log().records.len()
            });
        });
        group.finish();
    }
}

fn answers(c: &mut Criterion) {
    let session = Session::of_bytes(&generate::claude(RECORDS), None, "bench", Settings::default());
    let (log, context) = (session.log(), session.context());
    let mut group = c.benchmark_group("answers");
    group.throughput(Throughput::Elements(context.len() as u64));
    group.bench_function("ledger", |b| b.iter(|| Ledger::of(log, context, context.len()).len()));
    group.bench_function("legal cuts", |b| b.iter(|| legal_cuts(session.ledger()).len()));
    group.bench_function("reasons", |b| b.iter(|| reasons_at_every_cut(session.ledger(), 16).len()));
    group.bench_function("rails", |b| b.iter(|| Rails::of(session.ledger())));
    group.finish();
}

/// A screen of 200×50 with the newest of 50,000 records, driven as the loop does it.
struct Driven {
    state: State,
    bytes: Vec<u8>,
}

impl Driven {
    fn open(bytes: Vec<u8>) -> Self {
        let options = Options {
            name: "bench".to_string(),
            stem: "bench".to_string(),
            format: None,
            settings: Settings::default(),
            symbols: Symbols::Unicode,
            theme: Theme::default(),
            zone: TimeZone::UTC,
            operator: "jo".to_string(),
            no_writes: None,
            summariser: None,
        };
        let mut driven = Self { state: State::new(options, (200, 50), NOW), bytes: bytes.clone() };
        driven.tell(Msg::Feed(Feed::Chunk { offset: 0, bytes }));
        driven.tell(Msg::Feed(Feed::Status(Status::Live)));
        driven.tell(Msg::Settle(NOW));
        driven
    }

    fn tell(&mut self, msg: Msg) {
        for effect in update(&mut self.state, msg) {
            let session = self.state.session();
            match effect {
                Effect::LoadHeads(at) => {
                    let head = |at: usize| (at, head_of(session, &self.bytes, at).unwrap_or_default());
                    let heads = at.into_iter().map(head).collect();
                    self.tell(Msg::Heads(heads));
                }
                Effect::LoadBody(at) => {
                    let body = session.body(at, &self.bytes);
                    self.tell(Msg::Body(at, body));
                }
                _ => {}
            }
        }
    }

    /// The agent writes one more line.
    fn grow(&mut self) {
        let bytes = generate::one_more(self.bytes.len());
        let offset = self.bytes.len() as u64;
        self.bytes.extend_from_slice(&bytes);
        self.tell(Msg::Feed(Feed::Chunk { offset, bytes }));
        self.tell(Msg::Settle(NOW));
    }
}

fn screen(c: &mut Criterion) {
    let mut driven = Driven::open(generate::neutral(LARGE));
    let Ok(mut terminal) = Terminal::new(TestBackend::new(200, 50));
    let mut group = c.benchmark_group("screen 200x50");
    group.bench_function("frame", |b| b.iter(|| terminal.draw(|frame| view(&driven.state, frame)).is_ok()));
    group.bench_function("one more line", |b| b.iter(|| driven.grow()));
    group.finish();
}

criterion_group!(benches, parse, answers, screen);
criterion_main!(benches);
