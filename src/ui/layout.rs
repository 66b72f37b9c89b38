//! Where the regions stand. Pure, and used by update (page sizes) and view alike.

use ratatui::layout::Rect;

use super::{preview::View, state::Focus};

/// Below this nothing but one line and a list is drawn.
pub(super) const SMALLEST: (u16, u16) = (60, 15);

/// The regions of one frame. A region that is not drawn has no area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Regions {
    /// Two lines at the top; one when small.
    pub header: Rect,
    /// Records.
    pub transcript: Rect,
    /// What is owed.
    pub obligations: Rect,
    /// One record whole.
    pub detail: Rect,
    /// The verdict.
    pub decision: Rect,
    /// Tokens by kind.
    pub budget: Rect,
    /// What was not understood.
    pub notes: Rect,
    /// Message line and keys.
    pub footer: Rect,
    /// Panes have borders.
    pub boxed: bool,
}

/// The regions for `width` × `height`. `zoomed`: the focused pane takes everything.
pub fn layout(width: u16, height: u16, focus: Focus, zoomed: bool) -> Regions {
    let small = width < SMALLEST.0 || height < SMALLEST.1;
    let header_height = if small { 1 } else { 2 }.min(height);
    let footer_height = if small { 0 } else { 2 };
    let mut regions = Regions {
        header: Rect::new(0, 0, width, header_height),
        footer: Rect::new(0, height.saturating_sub(footer_height), width, footer_height),
        boxed: width >= 100 && !small,
        ..Regions::default()
    };
    let body = Rect::new(0, header_height, width, height.saturating_sub(header_height + footer_height));
    if zoomed || small {
        let whole = if small && !zoomed { Focus::Transcript } else { focus };
        *regions.of_mut(whole) = body;
    } else if width < 100 {
        stacked(&mut regions, body, focus);
    } else if width < 160 {
        two_columns(&mut regions, body, focus);
    } else {
        three_columns(&mut regions, body);
    }
    regions
}

/// Transcript above, one other pane below in at most a quarter (a third for text).
fn stacked(regions: &mut Regions, body: Rect, focus: Focus) {
    let lower = if focus == Focus::Transcript { Focus::Obligations } else { focus };
    let share = if lower == Focus::Obligations { body.height / 4 } else { body.height * 2 / 5 };
    let share = share.max(4).min(body.height.saturating_sub(4));
    let upper = body.height - share;
    regions.transcript = Rect { height: upper, ..body };
    *regions.of_mut(lower) = Rect { y: body.y + upper, height: share, ..body };
}

fn two_columns(regions: &mut Regions, body: Rect, focus: Focus) {
    let right = (body.width * 45 / 100).min(60);
    let left = body.width - right;
    regions.transcript = Rect { width: left, ..body };
    let column = Rect { x: body.x + left, width: right, ..body };
    let owed = (column.height / 4).max(4);
    let verdict = (column.height * 2 / 5).max(8).min(column.height.saturating_sub(owed + 4));
    regions.obligations = Rect { height: owed, ..column };
    let middle = Rect { y: column.y + owed, height: column.height - owed - verdict, ..column };
    let lower = Rect { y: middle.y + middle.height, height: verdict, ..column };
    match focus {
        Focus::Budget => regions.budget = middle,
        Focus::Notes => regions.notes = middle,
        _ => regions.detail = middle,
    }
    regions.decision = lower;
}

fn three_columns(regions: &mut Regions, body: Rect) {
    let third = (body.width / 4).min(52);
    let second = (body.width * 28 / 100).min(60);
    let first = body.width - second - third;
    regions.transcript = Rect { width: first, ..body };
    let half = body.height / 2;
    let column = |x: u16, width: u16| {
        (
            Rect { x: body.x + x, width, height: half, ..body },
            Rect { x: body.x + x, y: body.y + half, width, height: body.height - half },
        )
    };
    (regions.detail, regions.decision) = column(first, second);
    let (upper, lower) = column(first + second, third);
    let owed = (upper.height * 3 / 5).max(4).min(upper.height);
    regions.obligations = Rect { height: owed, ..upper };
    regions.budget = Rect { y: upper.y + owed, height: upper.height - owed, ..upper };
    regions.notes = lower;
}

impl Regions {
    /// The region of a pane.
    pub fn of(&self, focus: Focus) -> Rect {
        match focus {
            Focus::Transcript => self.transcript,
            Focus::Obligations => self.obligations,
            Focus::Detail => self.detail,
            Focus::Decision => self.decision,
            Focus::Budget => self.budget,
            Focus::Notes => self.notes,
        }
    }

    fn of_mut(&mut self, focus: Focus) -> &mut Rect {
        match focus {
            Focus::Transcript => &mut self.transcript,
            Focus::Obligations => &mut self.obligations,
            Focus::Detail => &mut self.detail,
            Focus::Decision => &mut self.decision,
            Focus::Budget => &mut self.budget,
            Focus::Notes => &mut self.notes,
        }
    }

    /// The area inside a pane's title line or border.
    pub fn inner(&self, focus: Focus) -> Rect {
        let area = self.of(focus);
        if self.boxed {
            let (w, h) = (area.width.saturating_sub(2), area.height.saturating_sub(2));
            Rect { x: area.x + 1.min(area.width), y: area.y + 1.min(area.height), width: w, height: h }
        } else if self.footer.height == 0 {
            area
        } else {
            Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1), ..area }
        }
    }
}

/// Where the parts of the cut preview stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Panes {
    /// Two lines; one when small.
    pub(super) header: Rect,
    /// Before, or everything in one.
    pub(super) left: Rect,
    /// After; no area where one pane shows everything.
    pub(super) right: Rect,
    pub(super) checks: Rect,
    pub(super) footer: Rect,
    /// Panes have borders.
    pub(super) boxed: bool,
    /// Before and after are one list.
    pub(super) unified: bool,
}

impl Panes {
    /// The rows inside the left pane.
    pub(super) fn inner(&self) -> Rect {
        inside(self.left, self.boxed, self.footer.height == 0)
    }

    /// The rows inside the right pane.
    pub(super) fn inner_right(&self) -> Rect {
        inside(self.right, self.boxed, self.footer.height == 0)
    }

    /// The rows inside the pane of checks.
    pub(super) fn inner_checks(&self) -> Rect {
        inside(self.checks, self.boxed, self.footer.height == 0)
    }

    /// Columns for the words of a summary.
    pub(super) fn text_width(&self) -> u16 {
        let pane = if self.right.area() > 0 { self.inner_right() } else { self.inner() };
        pane.width.saturating_sub(8)
    }
}

/// The parts of the cut preview on a screen of `size`, with so many checks.
pub(super) fn panes((width, height): (u16, u16), view: View, checks: usize) -> Panes {
    let small = width < SMALLEST.0 || height < SMALLEST.1;
    let header_height = if small { 1 } else { 2 }.min(height);
    let footer_height = if small { 0 } else { 2 };
    let boxed = width >= 100 && !small;
    let body = Rect::new(0, header_height, width, height.saturating_sub(header_height + footer_height));
    let frame = if boxed { 2 } else { 1 };
    let wanted = u16::try_from(checks).unwrap_or(u16::MAX).saturating_add(frame);
    let share = if small { 0 } else { wanted.min(body.height / 3).max(3) };
    let rows = Rect { height: body.height.saturating_sub(share), ..body };
    let both = view == View::Both && width >= 100 && !small;
    let half = if both { rows.width / 2 } else { rows.width };
    Panes {
        header: Rect::new(0, 0, width, header_height),
        left: Rect { width: half, ..rows },
        right: if both { Rect { x: half, width: rows.width - half, ..rows } } else { Rect::default() },
        checks: Rect { y: rows.y + rows.height, height: share.min(body.height), ..body },
        footer: Rect::new(0, height.saturating_sub(footer_height), width, footer_height),
        boxed,
        unified: view == View::Unified || view == View::Both && !both,
    }
}

/// The area inside a title line or border; `bare`: it has neither.
fn inside(area: Rect, boxed: bool, bare: bool) -> Rect {
    if bare || area.area() == 0 {
        area
    } else if boxed {
        let (w, h) = (area.width.saturating_sub(2), area.height.saturating_sub(2));
        Rect { x: area.x + 1, y: area.y + 1, width: w, height: h }
    } else {
        Rect { y: area.y + 1, height: area.height - 1, ..area }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_never_leave_the_screen_nor_overlap() {
        for width in 0..220 {
            for height in 0..60 {
                for focus in Focus::ALL {
                    for zoomed in [false, true] {
                        let r = layout(width, height, focus, zoomed);
                        let all =
                            [r.header, r.footer, r.transcript, r.obligations, r.detail, r.decision, r.budget, r.notes];
                        let screen = Rect::new(0, 0, width, height);
                        for (n, a) in all.iter().enumerate() {
                            assert!(a.area() == 0 || screen.intersection(*a) == *a, "{width}x{height} {a:?}");
                            for b in all.iter().skip(n + 1) {
                                assert_eq!(a.intersection(*b).area(), 0, "{width}x{height} {a:?} {b:?}");
                            }
                        }
                    }
                }
            }
        }
    }
}
