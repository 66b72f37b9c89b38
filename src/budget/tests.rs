use super::*;
use crate::format::Transcript;

fn budget(text: &str, settings: &Settings) -> (Budget, usize) {
    let mut transcript = Transcript::new(None, "test");
    transcript.feed(text.as_bytes());
    let facts = transcript.adapter().unwrap().session();
    let (context, log) = transcript.context().unwrap();
    (Budget::of(log, context, &facts, settings), context.len())
}

const MEASURED: &str = r#"{"cutline":1,"window":10000}
{"kind":"user","text":"go","tokens":10}
{"kind":"assistant","text":"one","tokens":10}
{"kind":"usage","input_tokens":5000,"output_tokens":100}
{"kind":"user","text":"on","tokens":30}
{"kind":"assistant","text":"two","tokens":10}
{"kind":"usage","input_tokens":7000,"output_tokens":100}
{"kind":"user","text":"later","tokens":50}
"#;

#[test]
fn measured_then_estimated() {
    let (budget, len) = budget(MEASURED, &Settings::default());
    assert_eq!(len, 5);
    assert_eq!(budget.window.tokens, 10_000);
    assert_eq!(budget.window.basis, WindowBasis::File);
    assert_eq!(budget.series.measured(), Some((7_000, 3)));
    assert_eq!(budget.series.basis(), Basis::Measured);
    assert_eq!(budget.series.base(), 5_080, "what the transcript does not hold");
    assert_eq!(budget.series.after(2), 5_100);
    assert_eq!(budget.series.after(4), 7_100);
    assert_eq!(budget.used(), 7_150);
    assert_eq!(budget.series.later(), 150);
    assert_eq!(budget.frees(2, 4), 2_000, "an interval sums to what was measured");
}

#[test]
fn marks_and_the_line() {
    let (budget, _) = budget(MEASURED, &Settings::default());
    assert_eq!((budget.trigger, budget.critical), (7_000, 9_000));
    assert_eq!(budget.pressure(), Pressure::Pressed);
    assert_eq!(budget.line_at(), Some(3));
}

#[test]
fn usage_is_not_carried_over_a_compaction() {
    let text = format!(
        "{MEASURED}{}\n{}\n",
        r#"{"kind":"summary","text":"s","tokens":20}"#, r#"{"kind":"user","text":"x","tokens":5}"#
    );
    let (budget, len) = budget(&text, &Settings::default());
    assert_eq!(len, 7);
    assert_eq!(budget.series.basis(), Basis::Estimated);
    assert_eq!(budget.series.measured(), None);
}

#[test]
fn limits_are_read() {
    assert_eq!("70%".parse::<Limit>().unwrap().of(1_000), 700);
    assert_eq!("0.5".parse::<Limit>().unwrap().of(1_000), 500);
    assert_eq!("140k".parse::<Limit>().unwrap().of(1), 140_000);
    assert!("x".parse::<Limit>().is_err());
    assert!("120%".parse::<Limit>().is_err());
    assert_eq!(parse_tokens("1M"), Some(1_000_000));
    assert_eq!(parse_tokens("200_000"), Some(200_000));
}

#[test]
fn the_target_lands_at_half() {
    let record = |n| format!("{{\"kind\":\"user\",\"text\":\"{n}\",\"tokens\":10}}\n");
    let records: Vec<String> = (0..100).map(record).collect();
    let text = format!("{{\"cutline\":1,\"window\":1000}}\n{}", records.concat());
    let (budget, _) = budget(&text, &Settings::default());
    let target = budget.target(0);
    assert!(budget.after_cut(0, target) <= 500);
    assert!(budget.after_cut(0, target - 1) > 500);
    let (kept, _) = self::budget(&text, &Settings { keep: Some(200), ..Settings::default() });
    assert_eq!(kept.target(0), 80);
}

#[test]
fn figures_that_cannot_be_right_do_no_harm() {
    for input in ["18446744073709551615", "1e400", "-5", "\"many\""] {
        let text = format!(
            "{{\"cutline\":1,\"window\":18446744073709551615}}\n{}\n{{\"kind\":\"usage\",\"input_tokens\":{input},\"output_tokens\":{input}}}\n{}\n",
            r#"{"kind":"user","text":"x","tokens":4294967295}"#, r#"{"kind":"user","text":"y","tokens":4294967295}"#,
        );
        let (budget, len) = budget(&text, &Settings::default());
        assert!(budget.window.tokens <= 1 << 41 && len == 2, "{input}: {}", budget.window.tokens);
        assert!(budget.target(0) <= len && budget.after_cut(0, len) > 0);
    }
}

#[test]
fn a_target_is_found_where_the_context_shrank() {
    let text = r#"{"cutline":1,"window":10000}
{"kind":"user","text":"a","tokens":10}
{"kind":"assistant","text":"b","tokens":10}
{"kind":"usage","input_tokens":9000}
{"kind":"assistant","text":"c","tokens":10}
{"kind":"usage","input_tokens":3000}
{"kind":"user","text":"d","tokens":10}
{"kind":"assistant","text":"e","tokens":10}
{"kind":"usage","input_tokens":9500}
"#;
    let (budget, len) = budget(text, &Settings { keep: Some(7_000), ..Settings::default() });
    let target = budget.target(0);
    assert!(target < len && budget.frees(target, len) <= 7_000);
    assert!((0..target).all(|cut| budget.frees(cut, len) > 7_000), "the first that fits");
}

#[test]
fn the_95th_percentile_is_the_nearest_rank() {
    // Twenty steps of 100 to 2,000 tokens: the 19th is the 95th percentile, the largest one is not.
    let mut text = "{\"cutline\":1,\"window\":1000000}\n".to_string();
    let mut used = 1_000;
    for step in 0..=20u64 {
        used += step * 100;
        text.push_str("{\"kind\":\"assistant\",\"text\":\"x\",\"tokens\":10}\n");
        text += &["{\"kind\":\"usage\",\"input_tokens\":", &used.to_string(), "}\n"].concat();
    }
    let (budget, _) = budget(&text, &Settings::default());
    assert_eq!(budget.series.step_p95(), 1_900);
}
