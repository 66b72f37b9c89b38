use jiff::tz::TimeZone;
use rustc_hash::FxHashMap;

use super::{
    Effect, Theme,
    hand::Hand,
    keymap::Waiting,
    layout::{Regions, layout},
    picker::Picker,
    search::Search,
    text::BodyView,
};
use crate::{
    budget::Settings,
    export::{Rails, Symbols},
    format::Format,
    ledger::Obligation,
    model::{Kind, Millis, Note, Record},
    plan::{Draft, Plan, Request, Session, legal_cuts_settled, plan},
    source::{Change, Status},
};

/// Blockers that the decision pane names; the rest is counted. `plan` lists them all.
pub(super) const NAMED_BLOCKERS: usize = 40;

/// Which pane the keys go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Focus {
    /// Records.
    #[default]
    Transcript,
    /// What is owed.
    Obligations,
    /// One record whole.
    Detail,
    /// The verdict.
    Decision,
    /// Tokens by kind.
    Budget,
    /// What was not understood.
    Notes,
}

impl Focus {
    /// In the order of Tab and of the keys 1-6.
    pub const ALL: [Self; 6] =
        [Self::Transcript, Self::Obligations, Self::Detail, Self::Decision, Self::Budget, Self::Notes];

    /// The pane `steps` further.
    pub(super) fn step(self, steps: usize) -> Self {
        let here = Self::ALL.iter().position(|focus| *focus == self).unwrap_or(0);
        Self::ALL.get((here + steps) % Self::ALL.len()).copied().unwrap_or_default()
    }
}

/// A window over the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Popup {
    #[default]
    None,
    /// The keys, scrolled by so many lines.
    Help(usize),
    /// Why one may or may not cut here.
    Why(Vec<String>),
    /// A search is being typed.
    Search(String),
    /// A command is being typed.
    Command(String),
}

/// How a transcript is opened and shown.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the header calls it.
    pub name: String,
    /// File name without ending.
    pub stem: String,
    /// Format, if it was forced.
    pub format: Option<Format>,
    /// Window and marks.
    pub settings: Settings,
    /// Unicode or ASCII.
    pub symbols: Symbols,
    /// Colours.
    pub theme: Theme,
    /// For times of day.
    pub zone: TimeZone,
    /// Who sits here; goes into receipts.
    pub operator: String,
    /// Why nothing may be written here, as a sentence; none if a commit may be asked for.
    pub no_writes: Option<String>,
    /// Name of the summariser command, if one is set.
    pub summariser: Option<String>,
}

/// News of the followed file, for the header.
#[derive(Clone, Debug, Default)]
pub(super) struct News {
    pub(super) status: Option<Status>,
    pub(super) polling: Option<String>,
    pub(super) stray: u64,
    pub(super) progress: Option<(u64, u64)>,
}

/// A rewritten file is read aside and shown when it is whole.
pub(super) struct Rebuild {
    pub(super) session: Session,
    pub(super) reason: Change,
    /// Records of the log that lie in the common prefix.
    pub(super) kept: usize,
    /// The file was read to its end while the document in it was not whole.
    pub(super) waits: bool,
}

/// Everything the screen knows. Changed by [`super::update()`] only.
pub struct State {
    pub(super) options: Options,
    pub(super) session: Session,
    pub(super) rebuild: Option<Rebuild>,
    pub(super) dirty: bool,
    pub(super) size: (u16, u16),
    pub(super) now: Millis,
    pub(super) news: News,
    pub(super) rails: Rails,
    pub(super) cuts: Vec<usize>,
    pub(super) plan: Option<Plan>,
    pub(super) obligations: Vec<Obligation>,
    pub(super) notes: Vec<Note>,
    pub(super) shares: Shares,
    pub(super) heads: FxHashMap<usize, String>,
    pub(super) body: Option<BodyView>,
    pub(super) cursor: usize,
    pub(super) top: usize,
    pub(super) following: bool,
    /// Records of the context when following was paused.
    pub(super) paused_at: usize,
    pub(super) focus: Focus,
    pub(super) zoomed: bool,
    /// Selected row of the obligations pane.
    pub(super) owed_row: usize,
    /// First line of panes that hold text, by pane.
    pub(super) scroll: FxHashMap<Focus, usize>,
    pub(super) waiting: Waiting,
    pub(super) waiting_since: Option<Millis>,
    pub(super) popup: Popup,
    pub(super) search: Search,
    pub(super) message: Option<String>,
    pub(super) picker: Option<Picker>,
    pub(super) loading: bool,
    pub(super) hand: Hand,
}

impl State {
    /// A screen on which nothing was read yet.
    pub fn new(options: Options, size: (u16, u16), now: Millis) -> Self {
        let session = Session::new(options.format, &options.stem, options.settings);
        Self {
            options,
            session,
            rebuild: None,
            dirty: true,
            size,
            now,
            news: News::default(),
            rails: Rails::default(),
            cuts: Vec::new(),
            plan: None,
            obligations: Vec::new(),
            notes: Vec::new(),
            shares: Shares::default(),
            heads: FxHashMap::default(),
            body: None,
            cursor: 0,
            top: 0,
            following: true,
            paused_at: 0,
            focus: Focus::Transcript,
            zoomed: false,
            owed_row: 0,
            scroll: FxHashMap::default(),
            waiting: Waiting::default(),
            waiting_since: None,
            popup: Popup::None,
            search: Search::default(),
            message: None,
            picker: None,
            loading: true,
            hand: Hand::default(),
        }
    }

    /// A session of this transcript of which nothing was read yet.
    pub(super) fn fresh(&self, format: Option<Format>) -> Session {
        Session::new(format, &self.options.stem, self.options.settings)
    }

    /// A screen to choose a session from.
    pub fn choosing(options: Options, picker: Picker, size: (u16, u16), now: Millis) -> Self {
        Self { picker: Some(picker), ..Self::new(options, size, now) }
    }

    /// What was read.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The session that bytes go to: the one being rebuilt aside, if there is one.
    pub fn reading(&self) -> &Session {
        self.rebuild.as_ref().map_or(&self.session, |rebuild| &rebuild.session)
    }

    /// Whether keys are being typed into something, so that a short wait means something.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The draft that the operator looks at.
    pub(super) fn previewed(&self) -> Option<&Draft> {
        self.hand.preview.as_ref()?.draft.as_ref()
    }

    /// Records of the effective context.
    pub(super) fn len(&self) -> usize {
        self.session.context().len()
    }

    pub(super) fn record(&self, position: usize) -> Option<&Record> {
        self.session.record(position)
    }

    pub(super) fn regions(&self) -> Regions {
        layout(self.size.0, self.size.1, self.focus, self.zoomed)
    }

    /// Lines of the transcript that fit.
    pub(super) fn page(&self) -> usize {
        usize::from(self.regions().inner(Focus::Transcript).height).max(1)
    }

    pub(super) fn is_legal(&self, cut: usize) -> bool {
        self.cuts.binary_search(&cut).is_ok()
    }

    /// Derives everything from the session anew.
    pub(super) fn derive(&mut self) {
        self.obligations = self.session.obligations();
        // While a file is being read, what is staged for it may still be to come.
        if !self.loading && self.rebuild.is_none() {
            self.drop_outlived();
        }
        let abandon = self.hand.staged().into_iter().filter(|staged| self.is_open(staged)).collect();
        self.plan = plan(&self.session, &Request { abandon, ..Request::default() }).ok();
        let settled = self.plan.as_ref().map(|plan| plan.settled.as_slice()).unwrap_or_default();
        self.hand.marks = settled.iter().map(|settle| settle.at).collect();
        self.hand.marks.sort_unstable();
        self.cuts = match settled {
            [] => crate::cut::legal_cuts(self.session.ledger()),
            settled => legal_cuts_settled(&self.session, settled, 0),
        };
        self.rails = Rails::without(self.session.ledger(), &self.hand.marks);
        self.notes = self.session.notes();
        self.shares = Shares::of(&self.session);
        self.owed_row = self.owed_row.min(self.obligations.len().saturating_sub(1));
        self.cursor = self.cursor.min(self.len().saturating_sub(1));
    }

    /// Rules that stand before the record at `position`.
    pub(super) fn rules_before(&self, position: usize) -> Vec<Rule> {
        let mut rules = Vec::new();
        let budget = self.session.budget();
        if position < self.len() && budget.and_then(crate::budget::Budget::line_at) == Some(position) {
            rules.push(Rule::Budget);
        }
        let decision = self.plan.as_ref().map(|plan| &plan.decision);
        let open_target = decision.is_some_and(|d| !d.blockers.is_empty() && d.target == position && position > 0);
        let planned = decision.is_some_and(|d| d.cut == Some(position) || d.relief.is_some_and(|r| r.cut == position));
        if open_target {
            rules.push(Rule::Target);
        } else if planned {
            rules.push(Rule::Planned);
        } else if self.is_legal(position) && self.record(position).is_some_and(Record::is_prompt) {
            rules.push(Rule::Legal);
        }
        rules
    }

    /// Lines of the transcript from the record `top` on, at most `height`.
    pub(super) fn lines_from(&self, top: usize, height: usize) -> Vec<Line> {
        let mut lines = Vec::with_capacity(height);
        for position in top..=self.len() {
            lines.extend(self.rules_before(position).into_iter().map(|rule| Line::Rule(position, rule)));
            if position < self.len() {
                lines.push(Line::Record(position));
            }
            if lines.len() >= height {
                break;
            }
        }
        lines.truncate(height);
        lines
    }

    /// Rows of the obligations pane: the first one shown, and how many.
    pub(super) fn owed_rows(&self) -> (usize, usize) {
        let height = usize::from(self.regions().inner(Focus::Obligations).height);
        let selected = if self.focus == Focus::Obligations { self.owed_row + 1 } else { 0 };
        (selected.saturating_sub(height), height)
    }

    /// Words of visible records that are not read yet.
    pub(super) fn missing_heads(&self) -> Vec<usize> {
        let visible = self.lines_from(self.top, self.page());
        let mut wanted: Vec<usize> = visible.iter().filter_map(|line| line.record()).collect();
        let (first, height) = self.owed_rows();
        wanted.extend(self.obligations.iter().skip(first).take(height).map(|owed| self.session.about(owed)));
        if let Some(plan) = &self.plan {
            let named = plan.decision.blockers.iter().take(NAMED_BLOCKERS);
            wanted.extend(named.map(|blocker| self.session.about(&blocker.obligation)));
        }
        if let Some(preview) = &self.hand.preview {
            wanted.extend(preview.visible_old());
        }
        wanted.retain(|position| !self.heads.contains_key(position));
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    /// What has to be read before a frame can be drawn.
    pub(super) fn wanted(&self) -> Vec<Effect> {
        let mut effects = Vec::new();
        let heads = self.missing_heads();
        if !heads.is_empty() {
            effects.push(Effect::LoadHeads(heads));
        }
        let detail = self.regions().of(Focus::Detail).area() > 0;
        if detail && self.len() > 0 && self.body.as_ref().is_none_or(|body| body.position != self.cursor) {
            effects.push(Effect::LoadBody(self.cursor));
        }
        effects
    }
}

/// Tokens by kind of record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shares {
    pub(super) results: u64,
    pub(super) calls: u64,
    pub(super) assistant: u64,
    pub(super) user: u64,
    pub(super) summaries: u64,
    pub(super) other: u64,
}

impl Shares {
    fn of(session: &Session) -> Self {
        let mut shares = Self::default();
        let Some(budget) = session.budget() else { return shares };
        for at in 0..session.context().len() {
            let Some(record) = session.record(at) else { continue };
            let share = match record.kind {
                Kind::Result | Kind::Error | Kind::Abandoned => &mut shares.results,
                Kind::Call => &mut shares.calls,
                Kind::Assistant | Kind::Thinking => &mut shares.assistant,
                Kind::User => &mut shares.user,
                Kind::Summary => &mut shares.summaries,
                _ => &mut shares.other,
            };
            *share += budget.series.at(at);
        }
        shares
    }
}

/// A rule between records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Use crossed the trigger at the record below.
    Budget,
    /// A legal cut at the start of a human turn.
    Legal,
    /// The cut that the decision chose or offers.
    Planned,
    /// The wanted cut, which is illegal.
    Target,
}

/// A line of the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A record.
    Record(usize),
    /// A rule before the record at this position.
    Rule(usize, Rule),
}

impl Line {
    pub(super) fn record(self) -> Option<usize> {
        match self {
            Self::Record(position) => Some(position),
            Self::Rule(..) => None,
        }
    }
}
