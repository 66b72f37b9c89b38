//! Parse, ledger, cuts and one frame, beside a bare count of lines over the same bytes: read the ratios.

mod generate;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cutline::{
    budget::Settings,
    cut::{legal_cuts, reasons_at_every_cut},
    export::{Rails, Symbols},
    format::Transcript,
    ledger::Ledger,
    model::Millis,
    plan::Session,
    source::{Feed, Status},
    ui::{Msg, Options, State, Theme, update, view},
};
use jiff::tz::TimeZone;
use ratatui::{Terminal, backend::TestBackend};

const RECORDS: usize = 20_000;

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

fn frame(c: &mut Criterion) {
    let options = Options {
        name: "bench".to_string(),
        stem: "bench".to_string(),
        format: None,
        settings: Settings::default(),
        symbols: Symbols::Unicode,
        theme: Theme::default(),
        zone: TimeZone::UTC,
        demo: false,
    };
    let mut state = State::new(options, (200, 50), Millis(0));
    update(&mut state, Msg::Feed(Feed::Chunk { offset: 0, bytes: generate::claude(RECORDS) }));
    update(&mut state, Msg::Feed(Feed::Status(Status::Live)));
    update(&mut state, Msg::Settle(Millis(0)));
    let Ok(mut terminal) = Terminal::new(TestBackend::new(200, 50));
    c.bench_function("frame/200x50", |b| b.iter(|| terminal.draw(|frame| view(&state, frame)).is_ok()));
}

criterion_group!(benches, parse, answers, frame);
criterion_main!(benches);
