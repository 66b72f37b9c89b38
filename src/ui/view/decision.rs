//! The live verdict: what would be done now, what stands in the way, how far it walked back.

use ratatui::buffer::Buffer;

use super::{obligations::what, pane, put, row_of, thousands};
use crate::{
    cut::{Blocker, Verdict},
    export::tokens,
    model::{Shown, age},
    ui::{Focus, Regions, State, state::NAMED_BLOCKERS, text::wrap},
};

pub(super) fn draw(state: &State, regions: &Regions, buf: &mut Buffer) {
    if regions.decision.area() == 0 {
        return;
    }
    let inner = pane(state, regions, Focus::Decision, "Decision", "i why here", buf);
    let theme = state.options.theme;
    let Some(plan) = &state.plan else {
        put(buf, inner.x + 1, inner.y, inner.width, "no verdict yet", theme.quiet());
        return;
    };
    let width = usize::from(inner.width.saturating_sub(2));
    let verdict = plan.decision.verdict;
    let mut lines = vec![(format!(" {}", verdict.name()), theme.verdict(verdict))];
    let mut say = |text: String, style| {
        for piece in wrap(&text, width) {
            lines.push((format!(" {piece}"), style));
        }
    };
    say(plan.decision.because.to_string(), theme.text());
    for blocker in plan.decision.blockers.iter().take(NAMED_BLOCKERS) {
        say(sentence(state, blocker), theme.open());
        say(format!("    → {}", blocker.remedy().name()), theme.quiet());
    }
    let unnamed = plan.decision.blockers.len().saturating_sub(NAMED_BLOCKERS);
    if unnamed > 0 {
        say(format!("… and {unnamed} more; `cutline plan` lists them all"), theme.open());
    }
    if let Some(cut) = plan.decision.cut {
        let start = plan.decision.start;
        let frees = plan.before.saturating_sub(plan.after);
        say(
            format!("would compact #{start}–#{}: frees about {}", cut.saturating_sub(1), thousands(frees)),
            theme.good(),
        );
    }
    if let (Some(relief), Some(budget)) = (plan.decision.relief, state.session.budget()) {
        let after = budget.after_cut(plan.decision.start, relief.cut);
        say(format!("relief: cut at {} leaves about {}", relief.cut, thousands(after)), theme.good());
    }
    if let Some(budget) = state.session.budget() {
        let share = plan.after * 100 / budget.window.tokens.max(1);
        let word = if verdict == Verdict::NoOp || plan.decision.cut.is_none() { "now" } else { "after" };
        say(format!("{word} {} / {}  {share}%", thousands(plan.after), thousands(budget.window.tokens)), theme.text());
    }
    if !plan.candidates.is_empty() {
        lines.push((String::new(), theme.text()));
        lines.push((" candidates".to_string(), theme.strong()));
        for candidate in &plan.candidates {
            let chosen = plan.decision.cut == Some(candidate.cut);
            let mark = if chosen { state.options.symbols.cut() } else { " " };
            let ahead = if candidate.forward { "  forward, never chosen by itself" } else { "" };
            let text = format!(
                " {mark} #{}–#{}  frees {}{ahead}",
                plan.decision.start,
                candidate.cut - 1,
                tokens(candidate.frees)
            );
            lines.push((text, if chosen { theme.good() } else { theme.quiet() }));
        }
    }
    let height = usize::from(inner.height);
    let scroll = state.scroll.get(&Focus::Decision).copied().unwrap_or(0).min(lines.len().saturating_sub(height));
    for (n, (line, style)) in lines.iter().skip(scroll).take(height).enumerate() {
        let Some(area) = row_of(inner, n) else { break };
        put(buf, area.x, area.y, area.width, line, *style);
    }
}

/// `✗ call #203 Bash cargo test: no result yet, 4m12s`.
fn sentence(state: &State, blocker: &Blocker) -> String {
    let obligation = &blocker.obligation;
    let mark = if state.options.symbols == crate::export::Symbols::Unicode { "✗" } else { "x" };
    let since = state.record(obligation.at).and_then(|record| record.time.age_s(state.now));
    let since = since.map_or_else(String::new, |s| format!(", {}", age(s)));
    let what = Shown::cut(&what(state, obligation), 60).into_string();
    let kind = obligation.kind.short();
    format!("{mark} {kind} #{} {what}: {}{since}", obligation.at, blocker.state_sentence())
}
