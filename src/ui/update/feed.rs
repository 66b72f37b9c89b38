//! Bytes and news of the followed file.

use super::movement;
use crate::{
    model::Note,
    plan::Session,
    source::{Feed, Status},
    ui::{State, state::Rebuild},
};

pub(super) fn feed(state: &mut State, feed: Feed) {
    match feed {
        Feed::Chunk { bytes, .. } => {
            state.dirty = true;
            state.news.last_growth = Some(state.now);
            match &mut state.rebuild {
                Some(rebuild) => rebuild.session.feed(&bytes),
                None => state.session.feed(&bytes),
            }
        }
        Feed::Reset { keep, reason } => {
            let records = &state.session.log().records;
            let kept = records.partition_point(|record| record.offset + u64::from(record.line_len) < keep);
            let (format, settings) = (state.options.format, state.options.settings);
            let session = Session::new(format, &state.options.stem, settings);
            state.rebuild = Some(Rebuild { session, reason, kept });
        }
        Feed::Progress { read, total } => state.news.progress = (read < total).then_some((read, total)),
        Feed::Stray { .. } | Feed::Verified { .. } => {}
        Feed::Status(status) => news(state, status),
    }
}

fn news(state: &mut State, status: Status) {
    match status {
        Status::Polling(reason) => state.news.polling = Some(reason),
        Status::Watching => state.news.polling = None,
        Status::StrayWriter { bytes } => state.news.stray = bytes,
        status => {
            if matches!(status, Status::Live | Status::Torn { .. } | Status::Ended) {
                state.loading = false;
                state.news.progress = None;
                swap(state);
            }
            state.dirty |= state.news.status.as_ref() != Some(&status);
            state.news.status = Some(status);
        }
    }
}

/// The rewritten file is whole: show it and say what was withdrawn.
fn swap(state: &mut State) {
    let Some(rebuild) = state.rebuild.take() else { return };
    let before = state.session.log().records.len();
    let now = rebuild.session.log().records.len();
    state.session = rebuild.session;
    state.session.refresh();
    state.heads.clear();
    state.body = None;
    state.dirty = true;
    let (gone, new) = (before.saturating_sub(rebuild.kept), now.saturating_sub(rebuild.kept));
    let plural = |n: usize| if n == 1 { "record" } else { "records" };
    let text = format!("file {}: {gone} {} withdrawn, {new} new", rebuild.reason.as_str(), plural(gone));
    if gone + new > 0 {
        state.message = Some(text);
    }
}

/// Derives everything once a frame, and keeps the view where it was, or at the tail.
pub(super) fn settle(state: &mut State) {
    if !std::mem::take(&mut state.dirty) {
        return;
    }
    let shift = state.session.refresh();
    if shift.kept < shift.before {
        state.heads.retain(|position, _| *position < shift.kept);
        if state.body.as_ref().is_some_and(|body| body.position >= shift.kept) {
            state.body = None;
        }
    }
    state.derive();
    if state.following {
        movement::to_tail(state);
    } else {
        movement::keep_visible(state);
    }
}

/// Oddities that a person is told of in the header.
pub(in crate::ui) fn not_understood(notes: &[Note]) -> usize {
    use crate::model::NoteKind;
    notes
        .iter()
        .filter(|note| matches!(note.kind, NoteKind::Damaged | NoteKind::NotUnderstood | NoteKind::TornTail))
        .count()
}
