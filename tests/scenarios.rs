//! The worked cases of `scenarios.txt`.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use cutline::{
    budget::Pressure,
    cut::{Demand, Reason, Rules, Target, Verdict, decide, why_illegal},
    format::notation::{self, Scenario},
    ledger::Ledger,
};

fn ledger(scenario: &Scenario) -> Ledger {
    Ledger::of(&scenario.log, &scenario.context, scenario.context.len())
}

fn spell(reasons: &[Reason]) -> String {
    let mut words: Vec<String> = reasons
        .iter()
        .map(|reason| match reason.records.as_slice() {
            [] => reason.kind.name().to_string(),
            [one] => format!("{} {one}", reason.kind.name()),
            many => {
                let members: Vec<String> = many.iter().map(ToString::to_string).collect();
                format!("{} {{{}}}", reason.kind.name(), members.join(","))
            }
        })
        .collect();
    words.sort();
    words.join(", ")
}

fn notes(ledger: &Ledger) -> Vec<String> {
    let orphans = ledger.orphans().iter().map(|at| format!("orphan {at}"));
    let duplicates = ledger.duplicates().iter().map(|(at, _)| format!("duplicate {at}"));
    let shadowed = ledger.shadowed().iter().map(|at| format!("shadowed {at}"));
    orphans.chain(duplicates).chain(shadowed).collect()
}

fn legality(scenario: &Scenario) -> String {
    let ledger = ledger(scenario);
    let reasons = why_illegal(&ledger, &ledger.units(), scenario.start, scenario.cut, Rules::default());
    let verdict = if reasons.is_empty() { "legal".to_string() } else { format!("illegal: {}", spell(&reasons)) };
    let notes = notes(&ledger);
    if notes.is_empty() { verdict } else { format!("{verdict} ; note {}", notes.join(", ")) }
}

fn decision(scenario: &Scenario, pressure: Pressure) -> String {
    let ledger = ledger(scenario);
    let demand = Demand {
        start: 0,
        target: Target::Explicit(scenario.cut),
        pressure,
        min_progress: 0,
        frees: &|a, b| (b - a) as u64,
        prompts: &[],
        ids: &|_| None,
        rules: Rules::default(),
    };
    let answer = decide(&ledger, &demand);
    match answer.verdict {
        Verdict::Compact | Verdict::Defer => format!("{} 0..{}", answer.verdict.name(), answer.cut.unwrap()),
        Verdict::NoOp => "NO-OP".to_string(),
        Verdict::Refuse => {
            let reasons = why_illegal(&ledger, &ledger.units(), 0, scenario.cut, Rules::default());
            let relief = answer.relief.map_or_else(String::new, |relief| format!(" ; relief 0..{}", relief.cut));
            format!("REFUSE {}{relief}", spell(&reasons))
        }
    }
}

/// The order of reasons is not a part of a case.
fn normal(verdict: &str) -> String {
    let (head, tail) = verdict.split_once(" ; ").unwrap_or((verdict, ""));
    let Some((word, reasons)) = head.split_once(' ').filter(|(word, _)| matches!(*word, "illegal:" | "REFUSE")) else {
        return verdict.to_string();
    };
    let mut parts: Vec<&str> = reasons.split(", ").collect();
    parts.sort_unstable();
    format!("{word} {} ; {tail}", parts.join(", "))
}

#[test]
fn every_scenario() {
    let mut wrong = Vec::new();
    let mut cases = 0;
    for (n, line) in include_str!("scenarios.txt").lines().enumerate() {
        let Some((case, want)) = line.split_once("  =>  ").filter(|_| !line.starts_with('#')) else { continue };
        let (kind, text) = match (case.strip_prefix("target!: "), case.strip_prefix("target: ")) {
            (Some(text), _) => (Some(Pressure::Critical), text),
            (_, Some(text)) => (Some(Pressure::Pressed), text),
            _ => (None, case),
        };
        let scenario = notation::parse(text).unwrap_or_else(|| panic!("line {}: {text}", n + 1));
        let got = kind.map_or_else(|| legality(&scenario), |pressure| decision(&scenario, pressure));
        cases += 1;
        if normal(&got) != normal(want) {
            wrong.push(format!("line {}: {case}\n  want {want}\n  got  {got}", n + 1));
        }
    }
    assert!(cases > 70, "{cases}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
