//! What happens when something happens: one message in, a changed state and effects out. No IO.

pub(super) mod feed;
mod jump;
pub(super) mod keys;
mod movement;
mod panes;
mod picking;

use super::{Effect, Msg, State, state::Popup, text::BodyView};

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
            state.wanted()
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
        Msg::Resumed => state.wanted(),
        Msg::NotSuspended => {
            state.message = Some("not suspended: there is no shell that could continue cutline".to_string());
            Vec::new()
        }
    }
}

/// Closes the topmost window; true if there was one.
fn close_top(state: &mut State) -> bool {
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
