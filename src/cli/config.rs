//! The configuration file. What the command line or the environment says wins over it.

use std::{
    env,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::exit::{Failure, USAGE};

/// What can be configured. A key that is not known is a mistake, not a wish.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Config {
    /// Command that writes the words of a summary.
    pub(super) summariser: Option<String>,
    /// Seconds that it may take.
    pub(super) summariser_timeout: Option<u64>,
    /// Who commits and gives up.
    pub(super) operator: Option<String>,
}

impl Config {
    /// `$CUTLINE_CONFIG`, else `$XDG_CONFIG_HOME/cutline/config.toml`, else `~/.config/cutline/config.toml`. A file that is
    /// not there is an empty one, unless it was named.
    pub(super) fn load() -> Result<Self, Failure> {
        Self::found(|name| env::var_os(name).filter(|value| !value.is_empty()))
    }

    fn found(var: impl Fn(&str) -> Option<OsString>) -> Result<Self, Failure> {
        let named = var("CUTLINE_CONFIG").map(PathBuf::from);
        let Some(path) = named.clone().or_else(|| Some(folder(&var)?.join("config.toml"))) else {
            return Ok(Self::default());
        };
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text, &path),
            Err(error) if error.kind() == io::ErrorKind::NotFound && named.is_none() => Ok(Self::default()),
            Err(error) => Err(wrong(&path, &error.to_string())),
        }
    }

    fn parse(text: &str, path: &Path) -> Result<Self, Failure> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            let line = error.span().map(|span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
            let line = line.map_or(String::new(), |line| format!("line {line}: "));
            wrong(path, &format!("{line}{}", error.message().replace('\n', " ")))
        })
    }
}

/// `$XDG_CONFIG_HOME/cutline`, else `~/.config/cutline`. `var` gives a variable's value.
pub(super) fn folder(var: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let config = var("XDG_CONFIG_HOME").map(PathBuf::from);
    config.or_else(|| Some(PathBuf::from(var("HOME")?).join(".config"))).map(|config| config.join("cutline"))
}

fn wrong(path: &Path, why: &str) -> Failure {
    let hint = "Correct the file, or name another one with CUTLINE_CONFIG.";
    Failure::new(USAGE, "config", format!("{}: {why}.", path.display()), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, Failure> {
        Config::parse(text, Path::new("config.toml"))
    }

    #[test]
    fn keys_and_mistakes() {
        let config = read("summariser = 'llm -m x'\nsummariser-timeout = 30\noperator = 'jo'\n").unwrap();
        assert_eq!(config.summariser.as_deref(), Some("llm -m x"));
        assert_eq!((config.summariser_timeout, config.operator.as_deref()), (Some(30), Some("jo")));
        let failure = read("operator = 'jo'\nsumariser = 'x'\n").unwrap_err();
        assert!(failure.message.contains("line 2") && failure.message.contains("sumariser"), "{}", failure.message);
        assert!(read("operator = 3").unwrap_err().message.contains("config.toml"));
    }

    #[test]
    fn a_file_that_is_not_there_is_empty_unless_it_was_named() {
        let at = |name: &'static str| move |var: &str| (var == name).then(|| OsString::from("/nowhere/at/all"));
        assert_eq!(Config::found(at("XDG_CONFIG_HOME")).unwrap(), Config::default());
        assert_eq!(Config::found(|_| None).unwrap(), Config::default());
        assert!(Config::found(at("CUTLINE_CONFIG")).is_err());
    }
}
