//! The `cutline` program: hands over to the cli room and returns its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    cutline::cli::main()
}
