#!/usr/bin/env bash
# Everything that must pass, on any machine with cargo and a C compiler. Stops at the first failure.
set -euo pipefail
cd "$(dirname "$0")/.."

step() {
    printf '\n== %s\n' "$1"
    shift
    "$@" || { printf '\nFAILED: %s\n' "$*"; exit 1; }
}

step "format" cargo fmt --check
step "lints" cargo clippy --all-targets --locked -- -D warnings
if cargo nextest --version >/dev/null 2>&1; then
    step "tests" cargo nextest run --locked
else
    step "tests" cargo test --locked --lib --bins --tests
fi
step "examples in the documentation" cargo test --locked --doc
export RUSTDOCFLAGS="-D warnings"
step "documentation" cargo doc --no-deps --document-private-items --locked
unset RUSTDOCFLAGS
step "release build" cargo build --release --locked
step "version" "${CARGO_TARGET_DIR:-target}/release/cutline" --version
for sample in sample-sessions/*.jsonl sample-sessions/*.json; do
    step "inspect $sample" sh -c '"$0" inspect "$1" --json >/dev/null' "${CARGO_TARGET_DIR:-target}/release/cutline" "$sample"
done
printf '\nAll passed.\n'
