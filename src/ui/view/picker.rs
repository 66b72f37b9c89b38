//! The list of sessions found on this machine.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    text::{Line, Span},
};

use super::{edges, put, put_line};
use crate::{
    model::{Shown, age},
    ui::{Choice, State},
};

pub(super) fn draw(state: &State, area: Rect, buf: &mut Buffer) {
    let (Some(picker), theme) = (&state.picker, state.options.theme) else { return };
    put(buf, area.x, area.y, area.width, " cutline", theme.strong());
    if picker.choices.is_empty() {
        nothing(state, area, buf);
        return;
    }
    let count = format!(" {} sessions on this machine, newest first", picker.choices.len());
    put(buf, area.x, area.y + 1, area.width, &count, theme.quiet());
    let height = usize::from(area.height.saturating_sub(4));
    let first = (picker.cursor + 1).saturating_sub(height.max(1));
    for (n, choice) in picker.choices.iter().skip(first).take(height).enumerate() {
        let y = area.y + 3 + u16::try_from(n).unwrap_or(0);
        put_line(buf, area.x, y, area.width, &line(state, choice, area.width));
        if first + n == picker.cursor {
            buf.set_style(Rect { y, height: 1, ..area }, theme.cursor());
        }
    }
    let foot = " j/k move  Enter open  ? help  q quit";
    put(buf, area.x, area.y + area.height.saturating_sub(1), area.width, foot, theme.quiet());
}

fn line(state: &State, choice: &Choice, width: u16) -> Line<'static> {
    let theme = state.options.theme;
    let when = choice.modified.age_s(state.now).map_or_else(String::new, age);
    let size = match choice.bytes {
        // A store does not say what one of its sessions takes.
        0 => String::new(),
        1..10_000 => format!("{} B", choice.bytes),
        10_000..10_000_000 => format!("{} kB", choice.bytes / 1_000),
        _ => format!("{} MB", choice.bytes / 1_000_000),
    };
    let mut left =
        vec![Span::raw(format!(" {:<8} ", choice.runtime)), Span::styled(format!("{when:>7} ago "), theme.quiet())];
    let right = vec![Span::styled(format!(" {size:>8} "), theme.quiet())];
    let used: usize = left.iter().chain(&right).map(Span::width).sum();
    let room = usize::from(width).saturating_sub(used + 1);
    let file = choice.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let folder =
        choice.path.parent().and_then(std::path::Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let place = format!("{}/{file}", folder.unwrap_or_default());
    let text = choice.title.as_ref().map_or(place.clone(), |title| format!("{title}  {place}"));
    left.push(Span::raw(Shown::cut(&text, room).into_string()));
    edges(left, right, width)
}

fn nothing(state: &State, area: Rect, buf: &mut Buffer) {
    let theme = state.options.theme;
    let mut lines = vec![
        " No sessions of Claude Code, Codex, pi or OpenCode were found here.".to_string(),
        " Searched:".to_string(),
    ];
    if let Some(picker) = &state.picker {
        lines.extend(picker.searched.iter().map(|path| format!("   {}", Shown::cut(&path.display().to_string(), 100))));
    }
    lines.push(String::new());
    lines.push(" Press Enter to watch the bundled demo, q to leave.".to_string());
    lines.push(" Or name a transcript: cutline FILE".to_string());
    for (n, line) in lines.iter().enumerate() {
        let y = area.y + 2 + u16::try_from(n).unwrap_or(0);
        if y < area.y + area.height {
            put(buf, area.x, y, area.width, line, theme.text());
        }
    }
}
