//! Bytes and news of the followed file.

use super::{abandon, commit, movement, which};
use crate::{
    model::{Note, Record},
    plan::Session,
    source::{Change, Feed, Status},
    ui::{State, state::Rebuild},
};

pub(super) fn feed(state: &mut State, feed: Feed) {
    match feed {
        Feed::Chunk { bytes, .. } => {
            state.dirty = true;
            match &mut state.rebuild {
                Some(rebuild) => rebuild.session.feed(&bytes),
                None => state.session.feed(&bytes),
            }
            // No news come with the rest of a document: the follower saw nothing but an append.
            if state.rebuild.as_ref().is_some_and(|rebuild| rebuild.waits && !rebuild.session.is_torn()) {
                swap(state);
            }
        }
        Feed::Reset { keep, reason } => {
            let kept = own(&state.session).filter(|record| record.offset + u64::from(record.line_len) < keep).count();
            let session = state.fresh(state.options.format);
            state.rebuild = Some(Rebuild { session, reason, kept, waits: false });
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
            if status == Status::Ended {
                // Nothing can follow: a last line without a newline counts if it is whole.
                state.session.finish();
                state.dirty = true;
            }
            state.dirty |= state.news.status.as_ref() != Some(&status);
            state.news.status = Some(status);
        }
    }
}

/// Records of the file itself, not of those that it continues: only they can be withdrawn.
fn own(session: &Session) -> impl Iterator<Item = &Record> {
    session.log().records.iter().filter(|record| record.segment == 0)
}

/// The rewritten file is whole: show it and say what was withdrawn. A document that was caught half written is not:
/// until it is, the last whole one stays.
fn swap(state: &mut State) {
    let (shown, document) = (own(&state.session).next().is_some(), state.session.is_document());
    // A document is emptied before it is written anew.
    let half = |session: &Session| session.is_torn() || (document && session.bytes() == 0);
    if let Some(rebuild) = state.rebuild.as_mut().filter(|rebuild| shown && half(&rebuild.session)) {
        rebuild.waits = true;
        return;
    }
    let Some(rebuild) = state.rebuild.take() else { return };
    let (before, now) = (own(&state.session).count(), own(&rebuild.session).count());
    state.session = rebuild.session;
    state.session.refresh();
    state.heads.clear();
    state.body = None;
    state.dirty = true;
    let (gone, new) = (before.saturating_sub(rebuild.kept), now.saturating_sub(rebuild.kept));
    let plural = |n: usize| if n == 1 { "record" } else { "records" };
    let text = format!("file {}: {gone} {} withdrawn, {new} new", rebuild.reason.as_str(), plural(gone));
    // A document is written anew for every message: that it grew is no news.
    let grew = document && now >= before;
    if gone + new > 0 && rebuild.reason != Change::Updated && !grew {
        state.message = Some(text);
    }
}

/// Derives everything once a frame, and keeps the view where it was, or at the tail.
pub(super) fn settle(state: &mut State) {
    if !std::mem::take(&mut state.dirty) {
        return;
    }
    let shift = state.session.refresh();
    which::refresh(state);
    if shift.kept < shift.before {
        state.heads.retain(|position, _| *position < shift.kept);
        state.search.upto = 0;
        if state.body.as_ref().is_some_and(|body| body.position >= shift.kept) {
            state.body = None;
        }
    }
    state.derive();
    abandon::refresh(state);
    commit::refresh(state);
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
