//! The decision table, row by row: the target span closed or open, an older closed span or none, pressed or critical;
//! and the soft wishes that choose among legal cuts.
#![expect(clippy::unwrap_used, reason = "tests")]

use cutline::{
    budget::{Pressure, Settings},
    cut::{Decision, Demand, ReasonKind, Rules, Target, Verdict, decide},
    format::notation,
    ledger::{CallState, Ledger, ObligationKind, Remedy},
    model::{Flags, Kind, Record},
    plan::{Request, Session, plan},
};

/// The decision about `text`, whose target is its `|` and whose span begins at its `[`. Every record is one token.
fn asked(text: &str, derived: bool, pressure: Pressure, min_progress: u64) -> Decision {
    let scenario = notation::parse(text).unwrap();
    let ledger = Ledger::of(&scenario.log, &scenario.context, scenario.context.len());
    let prompt = |at: &usize| scenario.context.get(&scenario.log, *at).is_some_and(Record::is_prompt);
    let prompts: Vec<usize> = (0..scenario.context.len()).filter(prompt).collect();
    decide(
        &ledger,
        &Demand {
            start: scenario.start,
            target: if derived { Target::Derived(scenario.cut) } else { Target::Explicit(scenario.cut) },
            pressure,
            min_progress,
            frees: &|a, b| (b - a) as u64,
            prompts: &prompts,
            ids: &|at| scenario.context.get(&scenario.log, at).and_then(|record| record.id),
            rules: Rules::default(),
        },
    )
}

fn explicit(text: &str, pressure: Pressure) -> Decision {
    asked(text, false, pressure, 0)
}

fn derived(text: &str, min_progress: u64) -> Decision {
    asked(text, true, Pressure::Pressed, min_progress)
}

const BOTH: [Pressure; 2] = [Pressure::Pressed, Pressure::Critical];

#[test]
fn a_closed_span_is_compacted_pressed_or_critical() {
    for pressure in BOTH {
        let answer = explicit("U C1 R1 A | U", pressure);
        assert_eq!((answer.verdict, answer.cut), (Verdict::Compact, Some(4)));
        assert!(answer.blockers.is_empty() && answer.relief.is_none());
    }
}

#[test]
fn an_open_span_with_an_older_one_is_deferred_or_refused_with_relief() {
    let text = "U A U C1 A |";
    let pressed = explicit(text, Pressure::Pressed);
    assert_eq!((pressed.verdict, pressed.cut, pressed.relief), (Verdict::Defer, Some(3), None));
    let critical = explicit(text, Pressure::Critical);
    assert_eq!((critical.verdict, critical.cut), (Verdict::Refuse, None));
    assert_eq!(critical.relief.map(|relief| (relief.cut, relief.frees)), Some((3, 3)));
    for answer in [pressed, critical] {
        let [blocker] = answer.blockers.as_slice() else { panic!("{answer:?}") };
        assert_eq!((blocker.obligation.at, blocker.obligation.state), (3, CallState::Lost));
        assert_eq!((blocker.reason.kind, blocker.remedy()), (ReasonKind::Pending, Remedy::Abandon));
    }
}

#[test]
fn an_open_span_without_an_older_one_is_refused() {
    for pressure in BOTH {
        let answer = explicit("C1 A U |", pressure);
        assert_eq!((answer.verdict, answer.cut, answer.relief), (Verdict::Refuse, None, None));
        assert_eq!(answer.blockers.len(), 1);
        assert!(answer.because.to_string().contains("nothing older is closed"), "{}", answer.because);
    }
}

#[test]
fn an_older_span_that_frees_too_little_is_none() {
    for pressure in BOTH {
        let answer = asked("U A U C1 |", true, pressure, 9);
        assert_eq!((answer.verdict, answer.cut, answer.relief), (Verdict::Refuse, None, None));
    }
}

#[test]
fn below_the_trigger_or_without_gain_there_is_nothing_to_do() {
    assert_eq!(explicit("U C1 |", Pressure::Below).verdict, Verdict::NoOp);
    let little = derived("U A U A |", 9);
    assert_eq!((little.verdict, little.blockers.len()), (Verdict::NoOp, 0));
    for pressure in BOTH {
        let all_kept = asked("| U A", true, pressure, 0);
        assert_eq!((all_kept.verdict, all_kept.blockers.len()), (Verdict::NoOp, 0), "{}", all_kept.because);
    }
    assert_eq!(explicit("| U A", Pressure::Pressed).verdict, Verdict::Refuse, "an empty span that was asked for");
}

#[test]
fn an_explicit_target_gets_the_greatest_legal_cut_and_no_wish() {
    let answer = explicit("U A U A A A A A A A A | A", Pressure::Pressed);
    assert_eq!((answer.verdict, answer.cut), (Verdict::Compact, Some(11)));
    let severed = explicit("U A U C1 | R1 A", Pressure::Pressed);
    assert_eq!((severed.verdict, severed.cut), (Verdict::Defer, Some(3)));
    assert_eq!(severed.blockers[0].remedy(), Remedy::MoveCut, "nothing is owed: {:?}", severed.blockers);
}

#[test]
fn a_derived_target_prefers_a_turn_start_within_a_tenth() {
    let near = "U A A A A A A A A A A A A A A A A A U A | A A U A";
    assert_eq!(derived(near, 0).cut, Some(18));
    let far = "U A A A A A A A A A A A A A U A A A A A | A A U A";
    assert_eq!(derived(far, 0).cut, Some(20), "six records back is more than a tenth");
}

#[test]
fn the_newest_prompt_is_kept_where_that_frees_enough() {
    let text = "U A A A A A A A U A A A A A A A A A A A A A A |";
    assert_eq!(derived(text, 5).cut, Some(8));
    assert_eq!(derived(text, 12).cut, Some(23), "a wish, no rule");
}

#[test]
fn a_closed_unit_across_a_derived_target_is_stepped_over() {
    let answer = derived("U A A A C1 | R1 A U A", 0);
    assert_eq!((answer.verdict, answer.cut), (Verdict::Compact, Some(4)));
}

#[test]
fn a_settled_transaction_or_retry_across_a_derived_target_is_not_owed() {
    for (begin, end) in [("B+1", "B-1"), ("Y+1", "Y-1")] {
        for pressure in BOTH {
            let answer = asked(&format!("U A A A {begin} A | A {end} A U A"), true, pressure, 0);
            assert_eq!((answer.verdict, answer.cut), (Verdict::Compact, Some(4)), "{begin} {pressure:?}");
            let open = asked(&format!("U A A A {begin} A | A A U A"), true, pressure, 0);
            assert_ne!(open.verdict, Verdict::Compact, "{begin}");
        }
        let named = explicit(&format!("U A A A {begin} A | A {end} A U A"), Pressure::Pressed);
        assert_eq!((named.verdict, named.blockers[0].remedy()), (Verdict::Defer, Remedy::MoveCut));
    }
}

#[test]
fn every_blocker_names_the_remedy_of_its_kind() {
    for (text, kind, remedy) in [
        ("U A C1 |", ObligationKind::Call, Remedy::WaitOrAbandon),
        ("U A C1 A |", ObligationKind::Call, Remedy::Abandon),
        ("U A C1 R1 |", ObligationKind::Call, Remedy::Wait),
        ("U A P1 |", ObligationKind::Approval, Remedy::Answer),
        ("U A B+1 A |", ObligationKind::Transaction, Remedy::Close),
        ("U A Y+1 A |", ObligationKind::Retry, Remedy::Reset),
        ("U A C1 [ R1 A U |", ObligationKind::Unit, Remedy::MoveCut),
        ("U B+1 A [ A B-1 A U |", ObligationKind::Unit, Remedy::MoveCut),
        ("U C1 A [ A A U |", ObligationKind::Call, Remedy::Abandon),
    ] {
        let answer = explicit(text, Pressure::Pressed);
        assert!(
            answer.blockers.iter().any(|b| (b.obligation.kind, b.remedy()) == (kind, remedy)),
            "{text}: {answer:?}"
        );
        assert!(answer.blockers.iter().all(|b| !b.state_sentence().is_empty()));
    }
    let open = explicit("U A B+7 A |", Pressure::Pressed);
    assert!(open.blockers[0].obligation.id.is_some(), "the transaction is named");
}

#[test]
fn a_clients_own_error_text_makes_no_result_late() {
    let mut ledger = Ledger::default();
    let call = Record::new(Kind::Call);
    ledger.push(&call);
    ledger.push(&Record { flags: Flags::LOCAL, ..Record::new(Kind::Assistant) });
    ledger.push(&Record::new(Kind::Result));
    assert_eq!(ledger.call_state(0), Some(CallState::Result));
    let mut ledger = Ledger::default();
    ledger.push(&call);
    ledger.push(&Record::new(Kind::Assistant));
    ledger.push(&Record::new(Kind::Result));
    assert_eq!(ledger.call_state(0), Some(CallState::LateResult));
}

/// A session of `turns` turns of 1,000 tokens each in a window of 10,000.
fn session(turns: usize, rest: &str) -> Session {
    let turn =
        "{\"kind\":\"user\",\"text\":\"x\",\"tokens\":500}\n{\"kind\":\"assistant\",\"text\":\"y\",\"tokens\":500}\n";
    let text = format!("{{\"cutline\":1,\"window\":10000}}\n{}{rest}", turn.repeat(turns));
    Session::of_bytes(text.as_bytes(), None, "test", Settings::default())
}

#[test]
fn the_budget_decides_when_and_where() {
    let planned = |turns: usize, rest: &str| plan(&session(turns, rest), &Request::default()).unwrap();
    assert_eq!(planned(6, "").decision.verdict, Verdict::NoOp, "60 % is below the trigger");
    let pressed = planned(8, "");
    assert_eq!(pressed.decision.verdict, Verdict::Compact);
    assert!(pressed.after <= 5_000 && pressed.before == 8_000, "{pressed:?}");
    let open = "{\"kind\":\"call\",\"id\":\"c\",\"tool\":\"t\",\"tokens\":10}\n";
    assert_eq!(planned(8, open).decision.verdict, Verdict::Compact, "what is open lies behind the target");
    let critical = planned(10, open);
    assert_eq!(critical.decision.verdict, Verdict::Compact);
}
