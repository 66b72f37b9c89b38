//! Shell scripts as lists of simple commands: quotes, operators, redirections, here-documents. Not a shell: what a
//! word expands to is not known, so such a word is only marked. One pass, bounded.

use std::{iter::Peekable, str::Chars};

use super::call::head;

/// Bytes of one script, commands and words of it that are looked at.
const SCRIPT: usize = 64 * 1024;
const COMMANDS: usize = 512;
const WORDS: usize = 4_096;

/// One word after quote removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Contains an expansion: its value is not on record.
    pub(super) expands: bool,
}

/// One simple command.
#[derive(Clone, Debug, Default)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    /// Files that it writes by redirection.
    pub(super) writes: Vec<Word>,
    /// Files that it reads by redirection.
    pub(super) reads: Vec<Word>,
    /// Text of its here-documents.
    pub(super) document: String,
    /// Runs in the background.
    pub(super) background: bool,
    /// The innermost subshell around it and the one around that; 0 is the script itself.
    pub(super) group: (u32, u32),
    /// Runs only under a condition, so that it may not have run at all.
    pub(super) perhaps: bool,
    /// Ends a pipe.
    pub(super) piped: bool,
}

/// What the next word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Argument,
    Write,
    Read,
    /// Of a redirection that names no file.
    Skip,
    Document {
        strip: bool,
    },
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    out: Vec<Command>,
    command: Command,
    word: Word,
    /// A word has begun; it may be empty (`""`).
    begun: bool,
    next: Next,
    /// Here-documents whose text begins on the next line.
    documents: Vec<(String, bool)>,
    words: usize,
    /// Subshells around the place, innermost last, and how many there were so far.
    groups: Vec<u32>,
    grouped: u32,
    blocks: u32,
    /// Behind `||` until the list ends.
    either: bool,
    piped: bool,
}

/// The simple commands of `script`.
pub(super) fn commands(script: &str) -> Vec<Command> {
    let mut reader = Reader {
        chars: head(script, SCRIPT).chars().peekable(),
        out: Vec::new(),
        command: Command::default(),
        word: Word::default(),
        begun: false,
        next: Next::Argument,
        documents: Vec::new(),
        words: 0,
        groups: Vec::new(),
        grouped: 0,
        blocks: 0,
        either: false,
        piped: false,
    };
    while let Some(c) = reader.chars.next() {
        reader.take(c);
        if reader.out.len() >= COMMANDS || reader.words >= WORDS {
            break;
        }
    }
    reader.end_command(false);
    reader.out
}

impl Reader<'_> {
    fn take(&mut self, c: char) {
        match c {
            '\\' => self.escape(),
            '\'' => self.single_quotes(),
            '"' => self.double_quotes(),
            '`' => {
                self.skip_until('`');
                self.expand();
            }
            '$' => self.dollar(),
            '\n' => {
                self.end_list();
                self.read_documents();
            }
            c if c.is_whitespace() => self.end_word(),
            '#' if !self.begun => {
                while self.chars.peek().is_some_and(|c| *c != '\n') {
                    self.chars.next();
                }
            }
            ';' => self.end_list(),
            '&' => self.ampersand(),
            '|' => self.pipe(),
            '(' => {
                self.end_command(false);
                self.grouped = self.grouped.saturating_add(1);
                self.groups.push(self.grouped);
            }
            ')' => {
                self.end_command(false);
                self.groups.pop();
            }
            '<' => self.less(),
            '>' => self.greater(),
            c => self.push(c),
        }
    }

    fn push(&mut self, c: char) {
        self.begun = true;
        self.word.text.push(c);
    }

    fn expand(&mut self) {
        self.begun = true;
        self.word.expands = true;
    }

    fn next_is(&mut self, c: char) -> bool {
        self.chars.next_if_eq(&c).is_some()
    }

    fn escape(&mut self) {
        match self.chars.next() {
            // A line that goes on.
            Some('\n') | None => {}
            Some(c) => self.push(c),
        }
    }

    fn single_quotes(&mut self) {
        self.begun = true;
        for c in self.chars.by_ref() {
            if c == '\'' {
                return;
            }
            self.word.text.push(c);
        }
    }

    fn double_quotes(&mut self) {
        self.begun = true;
        while let Some(c) = self.chars.next() {
            match c {
                '"' => return,
                '\\' => match self.chars.next() {
                    Some(c @ ('"' | '\\' | '$' | '`')) => self.word.text.push(c),
                    Some('\n') | None => {}
                    Some(c) => self.word.text.extend(['\\', c]),
                },
                '$' => self.dollar(),
                '`' => {
                    self.skip_until('`');
                    self.word.expands = true;
                }
                c => self.word.text.push(c),
            }
        }
    }

    /// `$NAME`, `${…}`, `$(…)`, `$'…'`: all but the last have a value that is not on record.
    fn dollar(&mut self) {
        match self.chars.peek().copied() {
            Some('(') => {
                self.chars.next();
                self.skip_parentheses();
                self.expand();
            }
            Some('{') => {
                self.skip_until('}');
                self.expand();
            }
            Some('\'') if !self.begun => {}
            Some(c) if c.is_alphanumeric() || matches!(c, '_' | '@' | '*' | '?' | '!' | '$' | '#') => {
                self.chars.next();
                while self.chars.peek().is_some_and(|c| c.is_alphanumeric() || *c == '_') {
                    self.chars.next();
                }
                self.expand();
            }
            _ => self.push('$'),
        }
    }

    fn skip_until(&mut self, end: char) {
        while let Some(c) = self.chars.next() {
            match c {
                '\\' => {
                    self.chars.next();
                }
                c if c == end => return,
                _ => {}
            }
        }
    }

    /// Past the parenthesis that closes the one just read.
    fn skip_parentheses(&mut self) {
        let mut open = 1u32;
        while let Some(c) = self.chars.next() {
            match c {
                '\\' => {
                    self.chars.next();
                }
                '\'' => self.chars.by_ref().take_while(|c| *c != '\'').for_each(drop),
                '(' => open = open.saturating_add(1),
                ')' => open -= 1,
                _ => {}
            }
            if open == 0 {
                return;
            }
        }
    }

    fn ampersand(&mut self) {
        if self.next_is('&') {
            self.end_command(false);
        } else if self.chars.peek() == Some(&'>') {
            self.end_word();
            self.chars.next();
            self.greater();
        } else {
            self.end_command(true);
            self.either = false;
        }
    }

    fn pipe(&mut self) {
        if self.next_is('|') {
            self.end_command(false);
            self.either = true;
        } else {
            self.next_is('&');
            self.end_command(false);
            self.piped = true;
        }
    }

    fn greater(&mut self) {
        self.end_descriptor();
        if self.next_is('&') {
            self.next = Next::Skip;
        } else if self.next_is('(') {
            self.skip_parentheses();
            self.expand();
        } else {
            let _ = self.next_is('>') || self.next_is('|');
            self.next = Next::Write;
        }
    }

    fn less(&mut self) {
        self.end_descriptor();
        if self.next_is('(') {
            self.skip_parentheses();
            self.expand();
        } else if self.next_is('&') {
            self.next = Next::Skip;
        } else if !self.next_is('<') {
            self.next_is('>');
            self.next = Next::Read;
        } else if self.next_is('<') {
            self.next = Next::Skip;
        } else {
            self.next = Next::Document { strip: self.next_is('-') };
        }
    }

    /// A word of digits directly before `<` or `>` is the number of a descriptor.
    fn end_descriptor(&mut self) {
        if self.begun && !self.word.text.is_empty() && self.word.text.bytes().all(|byte| byte.is_ascii_digit()) {
            self.word = Word::default();
            self.begun = false;
        }
        self.end_word();
    }

    fn end_word(&mut self) {
        if !self.begun {
            return;
        }
        self.begun = false;
        self.words += 1;
        let word = std::mem::take(&mut self.word);
        match std::mem::replace(&mut self.next, Next::Argument) {
            Next::Argument => self.command.words.push(word),
            Next::Write => self.command.writes.push(word),
            Next::Read => self.command.reads.push(word),
            Next::Skip => {}
            Next::Document { strip } => self.documents.push((word.text, strip)),
        }
    }

    fn end_list(&mut self) {
        self.end_command(false);
        self.either = false;
    }

    fn end_command(&mut self, background: bool) {
        self.end_word();
        self.next = Next::Argument;
        let mut command = std::mem::take(&mut self.command);
        self.keywords(&mut command);
        command.background = background;
        let mut around = self.groups.iter().rev().copied();
        command.group = (around.next().unwrap_or(0), around.next().unwrap_or(0));
        command.perhaps = self.either || self.blocks > 0;
        command.piped = std::mem::take(&mut self.piped);
        if !command.words.is_empty() || !command.writes.is_empty() {
            self.out.push(command);
        }
    }

    /// Takes words of the shell's own grammar from the start of `command`.
    fn keywords(&mut self, command: &mut Command) {
        let mut taken = 0;
        for word in &command.words {
            match word.text.as_str() {
                // What stands behind `if` and `while` runs; what stands behind `then` and `do` may not.
                "then" | "do" => self.blocks = self.blocks.saturating_add(1),
                "elif" | "fi" | "done" | "esac" => self.blocks = self.blocks.saturating_sub(1),
                "for" | "case" | "select" | "function" => {
                    self.blocks = self.blocks.saturating_add(u32::from(word.text == "case"));
                    taken = command.words.len();
                    break;
                }
                "if" | "while" | "until" | "else" | "{" | "}" | "!" | "time" => {}
                _ => break,
            }
            taken += 1;
        }
        command.words.drain(..taken);
    }

    /// Here-documents begin behind the line that asks for them.
    fn read_documents(&mut self) {
        for (end, strip) in std::mem::take(&mut self.documents) {
            let mut text = String::new();
            loop {
                let mut line = String::new();
                let mut ended = true;
                for c in self.chars.by_ref() {
                    if c == '\n' {
                        ended = false;
                        break;
                    }
                    line.push(c);
                }
                let seen = if strip { line.trim_start_matches('\t') } else { &line };
                if seen == end || (ended && line.is_empty()) {
                    break;
                }
                text.push_str(&line);
                text.push('\n');
                if ended {
                    break;
                }
            }
            if let Some(command) = self.out.last_mut() {
                command.document.push_str(&text);
            }
        }
    }
}
