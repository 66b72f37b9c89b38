//! Formats as data: every map of the program against a sample, the engine's meaning rule by rule, strict maps, hostile
//! maps and lines, the commands.

#[cfg(test)]
#[path = "maps/samples.rs"]
mod samples;

#[cfg(test)]
#[path = "maps/engine.rs"]
mod engine;

#[cfg(test)]
#[path = "maps/strict.rs"]
mod strict;

#[cfg(test)]
#[path = "maps/commands.rs"]
mod commands;
