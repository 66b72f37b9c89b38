//! Properties of legality and of the decision, against a brute-force implementation that is deliberately plain:
//! quadratic, one rule at a time, nothing shared with the product. Wrong selectors must each be caught.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that fails says where")]

#[path = "properties/brute.rs"]
mod brute;
#[path = "properties/mutants.rs"]
mod mutants;

use cutline::{
    budget::Pressure,
    cut::{
        Demand, Rules, Target, Verdict, decide, is_legal_cut, is_obligation_closed, legal_cuts, legal_ends,
        orphan_results_at, pending_calls_at, reasons_at_every_cut, select_legal_cut, why_illegal,
    },
    format::notation::{self, Scenario},
    ledger::Ledger,
};
use proptest::prelude::*;

fn ledger(scenario: &Scenario) -> Ledger {
    Ledger::of(&scenario.log, &scenario.context, scenario.context.len())
}

/// Ids come from a small set, so that reuse, shadowing, orphans and duplicates occur.
fn symbol() -> impl Strategy<Value = String> {
    let id = 1..4u8;
    prop_oneof![
        6 => Just("U".to_string()),
        8 => Just("A".to_string()),
        2 => Just("H".to_string()),
        9 => id.clone().prop_map(|n| format!("C{n}")),
        9 => id.clone().prop_map(|n| format!("R{n}")),
        2 => id.clone().prop_map(|n| format!("E{n}")),
        2 => id.clone().prop_map(|n| format!("X{n}")),
        1 => Just("S".to_string()),
        2 => Just("N".to_string()),
        1 => id.clone().prop_map(|n| format!("P{n}")),
        1 => id.clone().prop_map(|n| format!("Q{n}")),
        1 => (id.clone(), any::<bool>()).prop_map(|(n, on)| format!("B{}{n}", if on { '+' } else { '-' })),
        1 => (id.clone(), any::<bool>()).prop_map(|(n, on)| format!("Y{}{n}", if on { '+' } else { '-' })),
        1 => id.clone().prop_map(|n| format!("!C{n}")),
        3 => id.clone().prop_map(|n| format!("C{n}+C{}", n % 3 + 1)),
        3 => (7..9u8, id.clone()).prop_map(|(r, n)| format!("r{r}:C{n}")),
        1 => (7..9u8).prop_map(|r| format!("r{r}:A")),
        2 => id.prop_map(|n| format!("(R{n},U)")),
    ]
}

fn log(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(symbol(), 1..most).prop_map(|symbols| symbols.join(" "))
}

fn demand(target: usize, pressure: Pressure, frees: &dyn Fn(usize, usize) -> u64) -> Demand<'_> {
    Demand {
        start: 0,
        target: Target::Explicit(target),
        pressure,
        min_progress: 0,
        frees,
        prompts: &[],
        ids: &|_| None,
        rules: Rules::default(),
    }
}

fn count(a: usize, b: usize) -> u64 {
    (b - a) as u64
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn equals_brute_force(text in log(14)) {
        let scenario = notation::parse(&text).unwrap();
        let (ledger, plain) = (ledger(&scenario), brute::Log::of(&scenario));
        let n = ledger.len();
        prop_assert_eq!(ledger.live_from(), plain.live_from());
        let every = reasons_at_every_cut(&ledger, 99);
        let few = reasons_at_every_cut(&ledger, 1);
        let units = ledger.units();
        for cut in 0..=n {
            prop_assert_eq!(pending_calls_at(&ledger, cut), plain.pending_at(cut));
            prop_assert_eq!(orphan_results_at(&ledger, cut), plain.orphaned_by(cut));
            prop_assert_eq!(is_legal_cut(&ledger, cut), plain.is_legal(0, cut, true), "{} at {}", text, cut);
            if cut > 0 {
                let mut listed = every[cut - 1].listed.clone();
                let mut asked = why_illegal(&ledger, &units, 0, cut, Rules::default());
                listed.sort();
                asked.sort();
                prop_assert_eq!(listed, asked, "{} at {}", text, cut);
                let (short, more) = (few[cut - 1].listed.len(), few[cut - 1].more);
                prop_assert_eq!(short + more, every[cut - 1].listed.len());
                prop_assert_eq!(short == 0, is_legal_cut(&ledger, cut));
            }
        }
        for start in 0..n {
            for strict in [true, false] {
                let rules = Rules { strict, live: true, carried: false };
                let ends = legal_ends(&ledger, start, rules);
                let units = ledger.units();
                for (end, legal) in ends.iter().enumerate().skip(start + 1) {
                    let want = plain.is_legal(start, end, strict);
                    prop_assert_eq!(*legal, want, "{} {}..{} strict {}", text, start, end, strict);
                    prop_assert_eq!(why_illegal(&ledger, &units, start, end, rules).is_empty(), want);
                }
            }
        }
    }

    #[test]
    fn incremental_is_batch_at_every_prefix(text in log(16)) {
        let scenario = notation::parse(&text).unwrap();
        let mut growing = Ledger::default();
        for len in 0..=scenario.context.len() {
            growing.extend(&scenario.log, &scenario.context, len);
            let fresh = Ledger::of(&scenario.log, &scenario.context, len);
            prop_assert_eq!(legal_cuts(&growing), legal_cuts(&fresh));
            prop_assert_eq!(growing.live_from(), fresh.live_from());
            prop_assert_eq!(growing.unread(), fresh.unread());
            prop_assert_eq!(growing.pending().collect::<Vec<_>>(), fresh.pending().collect::<Vec<_>>());
        }
    }

    #[test]
    fn select_is_monotone_and_idempotent(text in log(16)) {
        let ledger = ledger(&notation::parse(&text).unwrap());
        let mut before = 0;
        for target in 0..=ledger.len() {
            if let Ok(cut) = select_legal_cut(&ledger, target) {
                prop_assert!(cut >= before && cut <= target);
                prop_assert_eq!(select_legal_cut(&ledger, cut).unwrap(), cut);
                before = cut;
            } else {
                prop_assert_eq!(before, 0, "a larger target lost a legal cut");
            }
        }
    }

    #[test]
    fn a_legal_head_cut_leaves_nothing_owed_and_no_orphan(text in log(16)) {
        let scenario = notation::parse(&text).unwrap();
        let ledger = ledger(&scenario);
        for cut in legal_cuts(&ledger) {
            prop_assert!(pending_calls_at(&ledger, cut).is_empty());
            prop_assert!(orphan_results_at(&ledger, cut).is_empty());
            prop_assert!(is_obligation_closed(&ledger, 0, cut).is_ok());
        }
    }

    #[test]
    fn strict_is_a_part_of_bracketed(text in log(12)) {
        let ledger = ledger(&notation::parse(&text).unwrap());
        for start in 0..ledger.len() {
            let strict = legal_ends(&ledger, start, Rules::default());
            let bracketed = legal_ends(&ledger, start, Rules { strict: false, live: true, carried: false });
            prop_assert!(strict.iter().zip(&bracketed).all(|(s, b)| !s || *b));
        }
    }

    #[test]
    fn adjacent_legal_spans_concatenate(text in log(12)) {
        let ledger = ledger(&notation::parse(&text).unwrap());
        let rules = Rules::default();
        let first = legal_ends(&ledger, 0, rules);
        for middle in (1..ledger.len()).filter(|at| first[*at]) {
            let second = legal_ends(&ledger, middle, rules);
            for end in (middle + 1..=ledger.len()).filter(|at| second[*at]) {
                prop_assert!(first[end], "{} 0..{} and {}..{}", text, middle, middle, end);
            }
        }
    }

    #[test]
    fn verdicts_do_not_depend_on_names(text in log(14)) {
        let renamed: String = text.chars().map(|c| match c { '1' => 'k', '2' => 'q', '3' => 'w', c => c }).collect();
        let (a, b) = (notation::parse(&text).unwrap(), notation::parse(&renamed).unwrap());
        prop_assert_eq!(legal_cuts(&ledger(&a)), legal_cuts(&ledger(&b)));
    }

    #[test]
    fn an_append_never_undoes_a_legal_cut_but_by_an_answer(text in log(12), more in symbol()) {
        let answers = more.contains(['R', 'E', 'X', 'Q']) || more.starts_with('r') || more.contains('-');
        // A call that takes the id of an orphan before it is kept together with it, so it too can undo a cut.
        let orphans = !ledger(&notation::parse(&text).unwrap()).orphans().is_empty();
        let answers = answers || (orphans && more.contains('C'));
        let before = legal_cuts(&ledger(&notation::parse(&text).unwrap()));
        let after = legal_cuts(&ledger(&notation::parse(&format!("{text} {more}")).unwrap()));
        prop_assert!(answers || before.iter().all(|cut| after.contains(cut)), "{} + {}", text, more);
    }

    #[test]
    fn notices_change_nothing(text in log(12), at in any::<prop::sample::Index>()) {
        let mut symbols: Vec<&str> = text.split(' ').collect();
        let place = at.index(symbols.len());
        let before: usize = symbols[..place].iter().map(|s| notation::parse(s).unwrap().context.len()).sum();
        symbols.insert(place, "N");
        let plain = legal_cuts(&ledger(&notation::parse(&text).unwrap()));
        let noisy = legal_cuts(&ledger(&notation::parse(&symbols.join(" ")).unwrap()));
        let mut back: Vec<usize> = noisy.into_iter().map(|cut| if cut > before { cut - 1 } else { cut }).filter(|cut| *cut > 0).collect();
        back.dedup();
        prop_assert_eq!(plain, back);
    }

    #[test]
    fn a_refusal_names_what_blocks(text in log(12)) {
        let ledger = ledger(&notation::parse(&text).unwrap());
        for target in 1..=ledger.len() {
            for pressure in [Pressure::Pressed, Pressure::Critical] {
                let answer = decide(&ledger, &demand(target, pressure, &count));
                let legal = is_legal_cut(&ledger, target);
                prop_assert_eq!(answer.verdict == Verdict::Compact, legal);
                prop_assert_eq!(answer.blockers.is_empty(), legal);
                prop_assert!(answer.blockers.iter().all(|blocker| !blocker.remedy().name().is_empty()));
                let older = select_legal_cut(&ledger, target.saturating_sub(1)).ok();
                match (legal, older, pressure) {
                    (true, ..) => prop_assert_eq!(answer.cut, Some(target)),
                    (_, Some(cut), Pressure::Pressed) => prop_assert_eq!((answer.verdict, answer.cut), (Verdict::Defer, Some(cut))),
                    (_, cut, _) => {
                        prop_assert_eq!(answer.verdict, Verdict::Refuse);
                        prop_assert_eq!(answer.relief.map(|relief| relief.cut), cut);
                    }
                }
            }
        }
    }

    #[test]
    fn an_adjacent_abandonment_never_makes_a_legal_cut_illegal(text in log(10)) {
        let scenario = notation::parse(&text).unwrap();
        let ledger = ledger(&scenario);
        for call in ledger.pending().filter(|at| scenario.log.records[*at].kind == cutline::model::Kind::Call) {
            let run = ledger.response_start(call);
            let end = (call..ledger.len()).take_while(|at| ledger.response_start(*at) == run && ledger.kind(*at).unwrap().is_response_part()).last().unwrap() + 1;
            let mut log = scenario.log.clone();
            let mut answer = cutline::model::Record::new(cutline::model::Kind::Abandoned);
            answer.id = log.records[call].id;
            let shadowed = ledger.shadowed().contains(&u32::try_from(call).unwrap());
            if shadowed || ledger.pending().any(|other| other > call && other < end && log.records[other].id == answer.id) {
                continue;
            }
            log.records.insert(end, answer);
            log.events.iter_mut().filter(|(at, _)| *at as usize >= end).for_each(|(at, _)| *at += 1);
            let mut context = cutline::model::Context::default();
            (0..log.next_id()).for_each(|id| context.push(cutline::model::Slot::record(id)));
            let after = legal_cuts(&Ledger::of(&log, &context, context.len()));
            for cut in legal_cuts(&ledger) {
                let moved = if cut > end { cut + 1 } else { cut };
                prop_assert!(after.contains(&moved), "{} call {} cut {}", text, call, cut);
            }
        }
    }
}

/// Every wrong selector allows something that the rules forbid, or forbids what they allow.
#[test]
fn the_mutants_die() {
    for (name, selector) in mutants::ALL {
        let dead = mutants::LOGS.iter().any(|text| {
            let scenario = notation::parse(text).unwrap();
            let plain = brute::Log::of(&scenario);
            let ledger = ledger(&scenario);
            (1..=ledger.len()).any(|cut| {
                let right = is_legal_cut(&ledger, cut);
                assert_eq!(right, plain.is_legal(0, cut, true), "{text} at {cut}");
                selector(&plain, cut) != right
            })
        });
        assert!(dead, "the mutant `{name}` survives");
    }
}
