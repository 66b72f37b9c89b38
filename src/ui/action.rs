//! What an operator can mean. One table feeds keymap, footer, help and the README's key table.

/// Heading under which an action stands in the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// Moving about.
    Move,
    /// Obligations and cuts.
    Owed,
    /// What the operator does by hand; only `C` writes, after a typed word.
    Hand,
    /// Keys of the cut preview alone.
    Preview,
    /// Searching.
    Find,
    /// The living file.
    Live,
    /// The program itself.
    App,
}

impl Group {
    /// Every group in the order of the help.
    pub const ALL: [Self; 7] = [Self::Move, Self::Owed, Self::Hand, Self::Preview, Self::Find, Self::Live, Self::App];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Move => "MOVE",
            Self::Owed => "OBLIGATIONS & CUTS",
            Self::Hand => "BY HAND",
            Self::Preview => "IN THE CUT PREVIEW",
            Self::Find => "FIND",
            Self::Live => "LIVE",
            Self::App => "APP",
        }
    }
}

/// Declares the actions once: name, keys, group, one line of doc.
macro_rules! actions {
    ($($(#[$meta:meta])* $variant:ident $name:literal [$($key:literal),*] $group:ident $doc:literal;)*) => {
        /// Something an operator can mean. The kebab-case name is what configuration and messages use.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Action { $(#[doc = $doc] $variant,)* }

        /// Every action with its default keys, group and one line of doc, in the order of the help.
        pub fn table() -> &'static [(Action, &'static str, &'static [&'static str], Group, &'static str)] {
            &[$((Action::$variant, $name, &[$($key),*], Group::$group, $doc),)*]
        }
    };
}

actions! {
    Down "move-down" ["j", "Down"] Move "next record (or line of the focused pane)";
    Up "move-up" ["k", "Up"] Move "previous record";
    HalfDown "half-page-down" ["Ctrl-d"] Move "half a page down";
    HalfUp "half-page-up" ["Ctrl-u"] Move "half a page up";
    PageDown "page-down" ["PgDn", "Ctrl-f"] Move "a page down";
    PageUp "page-up" ["PgUp"] Move "a page up";
    Top "go-top" ["g", "Home"] Move "first record; with a count, that record";
    Bottom "go-bottom" ["G", "End"] Move "newest record and follow; with a count, that record";
    Centre "view-centre" ["zz"] Move "put the cursor in the middle";
    ViewTop "view-top" ["zt"] Move "put the cursor at the top";
    ViewBottom "view-bottom" ["zb"] Move "put the cursor at the bottom";
    NextPrompt "next-prompt" ["]p"] Move "next prompt of a person";
    PrevPrompt "previous-prompt" ["[p"] Move "previous prompt of a person";

    Pair "pair" ["%"] Owed "from a call to its result and back";
    NextOperation "next-operation" ["o"] Owed "next event of the same operation";
    PrevOperation "previous-operation" ["O"] Owed "previous event of the same operation";
    NextOpen "next-open" ["]o"] Owed "next open obligation";
    PrevOpen "previous-open" ["[o"] Owed "previous open obligation";
    NextCut "next-legal-cut" ["]l"] Owed "next legal cut";
    PrevCut "previous-legal-cut" ["[l"] Owed "previous legal cut";
    NextCompaction "next-compaction" ["]c"] Owed "next compaction";
    PrevCompaction "previous-compaction" ["[c"] Owed "previous compaction";
    Why "why" ["i"] Owed "may one cut here, and why not; in the notes: what the format can tell";

    CutPreview "cut-preview" ["c"] Hand "preview the planner's cut, else one before the cursor; writes nothing";
    Abandon "abandon" ["a"] Hand "give up what is open here (asks, stages only)";
    AbandonLost "abandon-lost" ["A"] Hand "give up everything that is lost (asks, stages only)";
    Commit "commit" ["C"] Hand "write what was previewed into a new file (asks)";
    Undo "undo" ["u"] Hand "take back what was staged last, else the commit (asks)";
    Redo "redo" ["U"] Hand "stage again what was taken back";

    EndBack "end-back" ["h", "Left"] Preview "end of the span one record up";
    EndOn "end-on" ["l", "Right"] Preview "end of the span one record down";
    StartBack "start-back" ["H"] Preview "start of the span one record up";
    StartOn "start-on" ["L"] Preview "start of the span one record down";
    Snap "snap" ["s"] Preview "nearest legal end";
    Summarise "summarise" ["S"] Preview "have the summariser command write the words";
    EditSummary "edit-summary" ["e"] Preview "write the words by hand in $VISUAL or $EDITOR";
    UseExtract "use-extract" ["x"] Preview "back to the built-in extract";
    CopySummary "copy-summary" ["y"] Preview "copy the summary with its ledger";
    ViewBefore "view-before" ["b"] Preview "only the transcript before; again: both";
    ViewAfter "view-after" ["f"] Preview "only the transcript after; again: both";
    ViewUnified "view-unified" ["d"] Preview "one below the other, or side by side";
    Unfold "unfold" ["Space"] Preview "show every record of a long span, or fold it";

    Search "search" ["/"] Find "search for a regular expression, smart case";
    SearchNext "search-next" ["n"] Find "next match";
    SearchPrev "search-previous" ["N"] Find "previous match";
    SearchTool "search-tool" ["*"] Find "next call of this tool";
    NextError "next-error" ["]e"] Find "next failure";
    PrevError "previous-error" ["[e"] Find "previous failure";
    Command "command" [":"] Find "go to a record by number";

    Follow "follow" ["F"] Live "follow the newest record, on or off";
    Look "look" ["R"] Live "look at the file now";

    Open "open-detail" ["Enter"] App "the record whole; again: full screen";
    NextPane "next-pane" ["Tab"] App "next pane";
    PrevPane "previous-pane" ["BackTab"] App "previous pane";
    Pane1 "pane-transcript" ["1"] App "transcript";
    Pane2 "pane-obligations" ["2"] App "open obligations";
    Pane3 "pane-detail" ["3"] App "detail";
    Pane4 "pane-decision" ["4"] App "decision";
    Pane5 "pane-budget" ["5"] App "budget by kind";
    Pane6 "pane-notes" ["6"] App "what was not understood";
    Help "help" ["?", "F1"] App "this help";
    Close "close" ["Esc"] App "close the topmost window, never quits";
    Quit "quit" ["q"] App "back; at the root, quit";
    Interrupt "interrupt" ["Ctrl-c"] App "quit now";
    Suspend "suspend" ["Ctrl-z"] App "suspend";
}

impl Action {
    fn row(self) -> Option<&'static (Self, &'static str, &'static [&'static str], Group, &'static str)> {
        table().iter().find(|(action, ..)| *action == self)
    }

    /// Kebab-case name.
    pub fn name(self) -> &'static str {
        self.row().map_or("", |(_, name, ..)| name)
    }

    /// Default keys, the first is the one shown.
    pub fn keys(self) -> &'static [&'static str] {
        self.row().map_or(&[], |(_, _, keys, ..)| keys)
    }

    /// One line of doc.
    pub fn doc(self) -> &'static str {
        self.row().map_or("", |(.., doc)| doc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_keys_are_unique() {
        let mut names: Vec<&str> = table().iter().map(|(_, name, ..)| *name).collect();
        let all_names = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all_names);
        for preview in [false, true] {
            let of_mode = table().iter().filter(|(_, _, _, group, _)| (*group == Group::Preview) == preview);
            let mut keys: Vec<&str> = of_mode.flat_map(|(_, _, keys, ..)| keys.iter().copied()).collect();
            let all_keys = keys.len();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), all_keys);
        }
    }

    #[test]
    fn keys_that_terminals_and_multiplexers_need_stay_free() {
        for taken in ["Ctrl-a", "Ctrl-b", "Ctrl-s", "Ctrl-q", "Ctrl-i", "Ctrl-m", "Ctrl-h"] {
            assert!(table().iter().all(|(_, _, keys, ..)| !keys.contains(&taken)), "{taken}");
        }
    }
}
