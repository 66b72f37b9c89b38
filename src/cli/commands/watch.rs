//! The screen: a transcript, or the list of sessions found on this machine.

use std::{
    cell::RefCell,
    env, io,
    io::IsTerminal as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use jiff::tz::TimeZone;

use super::hand;
use crate::{
    budget::Settings,
    cli::{
        args::{self, Args, ColorChoice, Screen},
        clock,
        config::Config,
        exit::{Failure, INTERRUPTED},
        load::stem,
        mint,
    },
    commit::{Replay, Store, Summariser},
    export::Symbols,
    format::Format,
    plan::Session,
    source::{Address, Found, Roots, Runtime, SourceError, find::of_store, read_head},
    ui::{self, Background, Choice, Depth, Desk, End, Feeder, Options, Picker, State, Theme},
};

/// How the next transcript is opened.
#[derive(Clone)]
struct Manner {
    format: Option<Format>,
    settings: Settings,
    screen: Screen,
    operator: String,
    summariser: Option<Summariser>,
}

impl Manner {
    fn of(format: Option<Format>, settings: Settings, screen: &Screen) -> Result<Self, Failure> {
        let config = Config::load()?;
        let command =
            screen.summariser.as_ref().or(config.summariser.as_ref()).filter(|command| !command.trim().is_empty());
        let summariser = command.map(|command| hand::summariser(command, config.summariser_timeout)).transpose()?;
        let operator = config.operator.unwrap_or_else(hand::user);
        Ok(Self { format, settings, screen: screen.clone(), operator, summariser })
    }
}

/// `cutline` with or without a file.
pub(super) fn watch(args: &Args) -> Result<ExitCode, Failure> {
    let settings = args.reading.settings(args.mark.critical);
    let manner = Manner::of(super::chosen(&args.reading)?, settings, &args.screen)?;
    match &args.file {
        Some(file) if !usable() => super::show::plain(file, &args.reading, args.mark.critical),
        Some(file) => {
            let file = &args.reading.place(file);
            if let Some(several) = several(file)? {
                return drive((choosing(&manner, several, Vec::new()), Feeder::Nothing), &manner, None);
            }
            if file != Path::new("-") {
                refuse_what_is_no_transcript(file, &manner)?;
            } else if io::stdin().is_terminal() {
                return Err(Failure::new(
                    crate::cli::exit::USAGE,
                    "no-input",
                    "`-` reads a transcript from standard input, which is the keyboard here.",
                    "Pipe one in: cat FILE | cutline -",
                ));
            }
            let first = opened(file, &manner, false);
            drive(first, &manner, None)
        }
        None if !usable() => Err(Failure::new(
            crate::cli::exit::USAGE,
            "no-terminal",
            "There is no terminal to choose a session in.",
            "Name a transcript: cutline inspect FILE.",
        )),
        None => drive((everywhere(&manner), Feeder::Nothing), &manner, None),
    }
}

/// A file that exists and is no transcript is refused before anything is drawn; one that is still missing or empty is
/// waited for.
fn refuse_what_is_no_transcript(file: &Path, manner: &Manner) -> Result<(), Failure> {
    const ENOUGH: usize = 4 << 20;
    let (bytes, whole) = match read_head(file, ENOUGH) {
        Ok(head) => head,
        Err(SourceError::Missing(_) | SourceError::Empty(_)) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let mut probe = Session::new(manner.format, &stem(file), manner.settings);
    probe.feed(&bytes);
    if probe.detection().is_some() {
        return Ok(());
    }
    // One unterminated line may be the beginning of a transcript; whole lines without any evidence are not.
    let lines = probe.bytes() > probe.partial().len() as u64;
    let beginning = probe.partial().trim_ascii_start().first().is_none_or(|byte| matches!(byte, b'{' | b'['));
    if (whole || probe.hopeless()) && (lines || !beginning) {
        return Err(Failure::not_a_transcript(&file.display().to_string()));
    }
    Ok(())
}

/// The bundled incident.
const INCIDENT: &str = include_str!("../../../assets/demo.jsonl");

/// `cutline demo`.
pub(super) fn demo(args: &args::Demo) -> Result<ExitCode, Failure> {
    let manner = Manner::of(None, Settings::default(), &args.screen)?;
    if !usable() {
        return Err(Failure::new(
            crate::cli::exit::USAGE,
            "no-terminal",
            "The demo needs a terminal.",
            "Read it as text instead: cutline show sample-sessions/refuse.jsonl.",
        ));
    }
    let replay = Replay::start(INCIDENT, args.speed, clock::now)?;
    let first = opened(replay.path(), &manner, true);
    drive(first, &manner, Some(replay))
}

/// A terminal that a screen can be drawn on.
fn usable() -> bool {
    io::stdout().is_terminal() && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn drive(first: (State, Feeder), manner: &Manner, replay: Option<Replay>) -> Result<ExitCode, Failure> {
    // Kept until the screen has ended: dropping it ends the writer and removes its folder, with what was committed
    // beside its file.
    let replay = RefCell::new(replay);
    let next = |end: &End| {
        Ok(match end {
            End::Open(path) => Some(opened(path, manner, false)),
            End::Demo => {
                let started = Replay::start(INCIDENT, 1.0, clock::now)?;
                let next = opened(started.path(), manner, true);
                replay.replace(Some(started));
                Some(next)
            }
            End::Quit | End::Interrupted => None,
        })
    };
    let desk = Desk {
        // Receipts of the demo go with it.
        store: || match &*replay.borrow() {
            Some(replay) => replay.path().parent().map(|folder| Store::at(folder.join("state"))),
            None => Store::from_env(|name| env::var_os(name)),
        },
        mint: || mint::mint().map_err(|failure| failure.message),
        summariser: manner.summariser.clone(),
    };
    let ended = ui::run(first, next, &clock::now, &desk)?;
    Ok(match ended {
        End::Interrupted => ExitCode::from(INTERRUPTED),
        _ => ExitCode::SUCCESS,
    })
}

fn opened(file: &Path, manner: &Manner, demo: bool) -> (State, Feeder) {
    let stdin = file == Path::new("-");
    let name = match (stdin, demo) {
        (true, _) => "standard input".to_string(),
        (_, true) => "demo".to_string(),
        _ => name_of(file),
    };
    let no_writes = stdin.then(|| "a new session is written beside a file, and standard input is none".to_string());
    let options = Options { no_writes, ..options(manner, name, stem(file)) };
    let state = State::new(options, (80, 24), clock::now());
    let feeder =
        if stdin { Feeder::Stdin } else { Feeder::File { path: file.to_path_buf(), poll: manner.screen.poll } };
    (state, feeder)
}

fn name_of(file: &Path) -> String {
    file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn options(manner: &Manner, name: String, stem: String) -> Options {
    Options {
        name,
        stem,
        format: manner.format,
        settings: manner.settings,
        symbols: if manner.screen.ascii || !unicode_locale() { Symbols::Ascii } else { Symbols::Unicode },
        theme: theme(&manner.screen),
        zone: TimeZone::system(),
        operator: manner.operator.clone(),
        no_writes: None,
        summariser: manner.summariser.as_ref().map(|summariser| summariser.program().to_string()),
    }
}

/// Colour by choice, else by `NO_COLOR` and the terminal.
fn theme(screen: &Screen) -> Theme {
    let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let colours = match screen.color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => set("CLICOLOR_FORCE") || !set("NO_COLOR"),
    };
    Theme {
        depth: if colours { Depth::Sixteen } else { Depth::Mono },
        background: match screen.theme {
            args::Background::Dark => Background::Dark,
            args::Background::Light => Background::Light,
        },
    }
}

/// A locale that names no UTF-8 gets ASCII; none at all gets Unicode, as most terminals do today.
fn unicode_locale() -> bool {
    let value = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| env::var(name).ok().filter(|v| !v.is_empty()));
    value.is_none_or(|value| {
        let lower = value.to_ascii_lowercase();
        lower.contains("utf-8") || lower.contains("utf8")
    })
}

/// The sessions of a store that holds several, if `file` is one and names none.
fn several(file: &Path) -> Result<Option<Vec<Found>>, Failure> {
    let Some(store) = Address::of(file) else { return Ok(None) };
    match store.settled() {
        Ok(_) | Err(SourceError::Empty(_)) => Ok(None),
        Err(SourceError::Several { .. }) => Ok(Some(of_store(&store).into_iter().map(|(_, found)| found).collect())),
        Err(error) => Err(error.into()),
    }
}

fn everywhere(manner: &Manner) -> State {
    let roots = Roots::from_env(|name| env::var_os(name));
    choosing(manner, roots.sessions(), roots.folders())
}

fn choosing(manner: &Manner, found: Vec<Found>, searched: Vec<PathBuf>) -> State {
    let found: Vec<Choice> =
        found.into_iter().filter(|found| !found.sub_agent).enumerate().map(|(n, found)| choice(n, found)).collect();
    let picker = Picker::new(found, searched);
    let options = options(manner, String::new(), String::new());
    State::choosing(options, picker, (80, 24), clock::now())
}

/// Sessions whose first prompt is looked up for the list.
const TITLED: usize = 60;

fn choice(n: usize, found: Found) -> Choice {
    Choice {
        title: found.title.or_else(|| (n < TITLED).then(|| first_prompt(&found.path)).flatten()),
        runtime: match found.runtime {
            Runtime::ClaudeCode => "claude",
            Runtime::Codex => "codex",
            Runtime::Pi => "pi",
            Runtime::OpenCode => "opencode",
        },
        modified: found.modified,
        bytes: found.bytes,
        path: found.path,
    }
}

/// The first prompt of a person near the start of the file.
fn first_prompt(path: &Path) -> Option<String> {
    const NEAR: usize = 256 << 10;
    let (bytes, _) = read_head(path, NEAR).ok()?;
    let mut session = Session::new(None, &stem(path), Settings::default());
    session.feed(&bytes);
    let log = session.log();
    let prompt = log.records.iter().find(|record| record.is_prompt())?;
    let body = session.record_body(prompt, &bytes)?;
    body.text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_string)
}
