//! Sound files with bytes and lines flipped, lost, doubled, swapped and spliced.

use std::ops::Range;

use cutline::{
    budget::Settings,
    cut::{legal_cuts, orphan_results_at, pending_calls_at},
    export::{Rails, Symbols, head_of, row},
    model::{Millis, Record},
    plan::{Request, Session, plan},
    source::{Feed, Status},
    ui::{Background, Depth, Effect, Msg, Options, State, Theme, update, view},
};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use ratatui::{Terminal, backend::TestBackend};

const FILES: [&[u8]; 14] = [
    include_bytes!("../claude/abandoned-mid.jsonl"),
    include_bytes!("../claude/background.jsonl"),
    include_bytes!("../claude/bridged.jsonl"),
    include_bytes!("../claude/copied-tail.jsonl"),
    include_bytes!("../claude/id-used-twice.jsonl"),
    include_bytes!("../claude/kept-list.jsonl"),
    include_bytes!("../claude/killed.jsonl"),
    include_bytes!("../claude/partly-compacted.jsonl"),
    include_bytes!("../claude/pinned-then-branch.jsonl"),
    include_bytes!("../claude/rewound.jsonl"),
    include_bytes!("../codex/g1_0.39_calls.jsonl"),
    include_bytes!("../codex/g2_0.63_interrupted.jsonl"),
    include_bytes!("../codex/g3_0.144_killed.jsonl"),
    include_bytes!("../codex/g4_0.171_sessions.jsonl"),
];

/// What is done to a file: which act, and two numbers that say where.
type Act = (u8, usize, usize);

fn mutated(file: usize, acts: &[Act]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = FILES[file].split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    for (act, a, b) in acts {
        if lines.is_empty() {
            break;
        }
        let (x, y) = (a % lines.len(), b % lines.len());
        let inside = b % lines[x].len().max(1);
        match act % 14 {
            0 => lines.swap(x, y),
            1 => drop(lines.remove(x)),
            2 => lines.insert(y, lines[x].clone()),
            3 => lines[x].truncate(inside),
            4 => {
                if let Some(byte) = lines[x].get_mut(inside) {
                    *byte ^= 1 << (a % 8);
                }
            }
            5 => {
                let head = lines[x][..inside].to_vec();
                lines[y].splice(0..0, head);
            }
            6 => {
                let other: Vec<&[u8]> = FILES[b % FILES.len()].split_inclusive(|b| *b == b'\n').collect();
                lines.insert(x, other[a % other.len()].to_vec());
            }
            7 => drop(lines[x].pop()),
            8 => lines[x].splice(inside..inside, std::iter::repeat_n(0, 1 + a % 9)).for_each(drop),
            9 => {
                if inside < lines[x].len() {
                    lines[x].remove(inside);
                }
            }
            // What hurts most: a parent, a uuid, an id or a type that belongs to another line.
            _ => {
                let (here, there) = (quoted(&lines[x]), quoted(&lines[y]));
                if let (Some(to), Some(from)) = (pick(&here, *a), pick(&there, b / 7)) {
                    let value = lines[y][from].to_vec();
                    lines[x].splice(to, value);
                }
            }
        }
    }
    lines.concat()
}

/// Places of the strings of a line that are no keys.
fn quoted(line: &[u8]) -> Vec<Range<usize>> {
    let quotes: Vec<usize> = line.iter().enumerate().filter(|(_, b)| **b == b'"').map(|(at, _)| at).collect();
    let pairs = quotes.chunks_exact(2).map(|pair| pair[0] + 1..pair[1]);
    pairs.filter(|place| line.get(place.end + 1) != Some(&b':')).collect()
}

fn pick(places: &[Range<usize>], n: usize) -> Option<Range<usize>> {
    places.get(n % places.len().max(1)).cloned()
}

fn session() -> Session {
    Session::new(None, "sample", Settings::default())
}

/// Everything that must not depend on how the bytes came.
fn facts(session: &Session) -> impl PartialEq + std::fmt::Debug {
    let ledger = session.ledger();
    let tally = session.tally();
    // Symbols are numbered as they came, which a context that was asked for earlier may change: compare names.
    let named = |record: &Record| {
        let name = |sym| session.name(sym).to_string();
        (record.kind, record.line, record.flags, name(record.id), name(record.response), record.tokens)
    };
    let context: Vec<_> = (0..session.context().len()).map(|at| session.record(at).map(named)).collect();
    let sent: Vec<bool> = session.context().slots().iter().map(|slot| slot.sent).collect();
    let owed: Vec<_> = session.obligations().iter().map(|o| (o.kind, o.at, o.state, o.remedy)).collect();
    (
        (context, sent, owed),
        (
            legal_cuts(ledger),
            ledger.pending().collect::<Vec<_>>(),
            ledger.unread(),
            ledger.live_from(),
            ledger.frontier(),
        ),
        (tally.calls, tally.results, tally.duplicates, tally.orphans, tally.shadowed, tally.late, tally.open().len()),
        (session.budget().map(|budget| (budget.used(), budget.line_at())), session.log().damaged, session.log().lines),
    )
}

/// The screen of `bytes`, as the real one is driven.
fn drawn(bytes: &[u8]) {
    let theme = Theme { depth: Depth::Sixteen, background: Background::Dark };
    let options = Options {
        name: "sample".to_string(),
        stem: "sample".to_string(),
        format: None,
        settings: Settings::default(),
        symbols: Symbols::Unicode,
        theme,
        zone: TimeZone::UTC,
        operator: "jo".to_string(),
        no_writes: None,
        summariser: None,
    };
    let now = Millis(1_796_047_200_000);
    let mut state = State::new(options, (80, 24), now);
    let chunk = Feed::Chunk { offset: 0, bytes: bytes.to_vec() };
    for msg in [Msg::Feed(chunk), Msg::Feed(Feed::Status(Status::Live)), Msg::Settle(now)] {
        for effect in update(&mut state, msg) {
            match effect {
                Effect::LoadHeads(at) => {
                    let words = |at: &usize| (*at, head_of(state.session(), &bytes.to_vec(), *at).unwrap_or_default());
                    let heads = at.iter().map(words).collect();
                    update(&mut state, Msg::Heads(heads));
                }
                Effect::LoadBody(at) => {
                    let body = state.session().body(at, &bytes.to_vec());
                    update(&mut state, Msg::Body(at, body));
                }
                _ => {}
            }
        }
    }
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    terminal.draw(|frame| view(&state, frame)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_depends_on_how_the_bytes_came(
        file in 0..FILES.len(),
        acts in prop::collection::vec(any::<Act>(), 0..7),
        chunks in prop::collection::vec(1..700usize, 1..9),
    ) {
        let bytes = mutated(file, &acts);
        let whole = Session::of_bytes(&bytes, None, "sample", Settings::default());

        let (mut pieced, mut rest) = (session(), bytes.as_slice());
        for chunk in chunks.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (now, later) = rest.split_at((*chunk).min(rest.len()));
            pieced.feed(now);
            rest = later;
        }
        pieced.finish();
        prop_assert_eq!(facts(&pieced), facts(&whole));

        let mut watched = session();
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            watched.feed(line);
            watched.refresh();
        }
        watched.finish();
        prop_assert_eq!(facts(&watched), facts(&whole));
    }

    #[test]
    fn a_legal_cut_leaves_nothing_owed_and_nothing_lost(
        file in 0..FILES.len(),
        acts in prop::collection::vec(any::<Act>(), 0..7),
    ) {
        let bytes = mutated(file, &acts);
        let whole = Session::of_bytes(&bytes, None, "sample", Settings::default());
        let (ledger, rails) = (whole.ledger(), Rails::of(whole.ledger()));
        for cut in legal_cuts(ledger) {
            prop_assert_eq!(pending_calls_at(ledger, cut), Vec::<usize>::new());
            prop_assert_eq!(orphan_results_at(ledger, cut), Vec::<usize>::new());
        }
        for at in 0..whole.context().len() {
            let head = head_of(&whole, &bytes, at).unwrap_or_default();
            prop_assert!(row(&whole, &rails, at, head, Millis(0)).is_some());
        }
        for to in [None, Some(whole.context().len())] {
            if let Ok(planned) = plan(&whole, &Request { to, ..Request::default() }) {
                prop_assert!(planned.decision.cut.is_none_or(|cut| legal_cuts(ledger).contains(&cut)));
            }
        }
        drawn(&bytes);
    }
}
