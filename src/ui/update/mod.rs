//! What happens when something happens: one message in, a changed state and effects out. No IO.

mod abandon;
mod commit;
mod dialog;
pub(super) mod feed;
mod jump;
pub(super) mod keys;
mod movement;
mod panes;
mod picking;
mod preview;
mod stage;
mod which;

use super::{Effect, Msg, ReadAgain, State, state::Popup, text::BodyView};

/// Takes one message.
pub fn update(state: &mut State, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Key(key) => keys::key(state, key),
        Msg::Paste(text) => {
            keys::paste(state, &text);
            Vec::new()
        }
        Msg::Resize(width, height) => {
            state.size = (width, height);
            movement::keep_visible(state);
            state.wanted()
        }
        Msg::Feed(feed) => {
            feed::feed(state, feed);
            Vec::new()
        }
        Msg::Segment(segment, bytes) => {
            match &mut state.rebuild {
                Some(rebuild) => rebuild.session.feed_segment(segment, &bytes),
                None => state.session.feed_segment(segment, &bytes),
            }
            Vec::new()
        }
        Msg::Settle(now) => {
            state.now = now;
            feed::settle(state);
            let mut effects = preview::settle(state);
            effects.extend(state.wanted());
            effects
        }
        Msg::Tick(now) => {
            state.now = now;
            keys::tick(state)
        }
        Msg::Heads(heads) => {
            state.heads.extend(heads);
            Vec::new()
        }
        Msg::Body(position, body) => {
            state.body = Some(BodyView::of(position, body.as_ref()));
            Vec::new()
        }
        Msg::Found(found) => {
            jump::found(state, found);
            state.wanted()
        }
        Msg::ReadAgain(ReadAgain(format, read)) => {
            which::read_again(state, format, read.map(|session| *session));
            Vec::new()
        }
        Msg::Staged(staged) => {
            stage::restored(state, staged);
            Vec::new()
        }
        answer => by_hand(state, answer),
    }
}

/// Answers to what the operator did by hand.
fn by_hand(state: &mut State, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Drafted(drafted) => {
            let mut effects = preview::drafted(state, drafted.0.map(|draft| *draft));
            effects.extend(state.wanted());
            effects
        }
        Msg::Stored(Err(why)) => {
            state.message = Some(format!("staged, but it would not survive a crash: {why}"));
            Vec::new()
        }
        Msg::Writer(writer) => {
            state.hand.writer = Some(writer);
            abandon::refresh(state);
            commit::refresh(state);
            Vec::new()
        }
        Msg::Committed(committed) => commit::committed(state, committed),
        Msg::Undone(undone) => stage::undone(state, undone),
        Msg::Copied(copied) => {
            state.message = Some(match copied {
                Ok(bytes) => format!("copied {bytes} bytes to the terminal's clipboard"),
                Err(why) => why,
            });
            Vec::new()
        }
        Msg::Progress(words) => {
            preview::progress(state, words);
            Vec::new()
        }
        Msg::Summarised(answer) => {
            preview::summarised(state, answer);
            Vec::new()
        }
        Msg::Edited(edited) => {
            preview::edited(state, edited);
            Vec::new()
        }
        Msg::Resumed => state.wanted(),
        Msg::NotSuspended => {
            state.message = Some("not suspended: there is no shell that could continue cutline".to_string());
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Closes the topmost window; true if there was one.
fn close_top(state: &mut State) -> bool {
    if state.hand.dialog.take().is_some() {
        return true;
    }
    if state.popup != Popup::None {
        state.popup = Popup::None;
        return true;
    }
    if state.zoomed {
        state.zoomed = false;
        movement::keep_visible(state);
        return true;
    }
    false
}
