//! Transcripts of any size for the benches: the same bytes at every call.

use std::fmt::Write as _;

/// A neutral transcript of about `records` records: prompts, batches of calls, results of 1.5 kB.
pub(crate) fn neutral(records: usize) -> Vec<u8> {
    let mut out = "{\"cutline\":1,\"session\":\"bench\",\"window\":200000}\n".to_string();
    let filler = "some output of a command that says little \\n".repeat(32);
    let mut n = 0;
    while n < records {
        let _ = writeln!(out, "{{\"kind\":\"user\",\"text\":\"prompt {n}\"}}");
        for step in 0..8 {
            let id = n + step;
            let _ = writeln!(
                out,
                "{{\"kind\":\"call\",\"id\":\"c{id}\",\"tool\":\"Bash\",\"input\":{{\"command\":\"run {id}\"}},\"response\":\"r{id}\"}}"
            );
            let _ = writeln!(out, "{{\"kind\":\"result\",\"id\":\"c{id}\",\"content\":\"{filler}\"}}");
        }
        n += 17;
    }
    out.into_bytes()
}

/// A Claude Code transcript of about `records` lines, linear, with usage.
pub(crate) fn claude(records: usize) -> Vec<u8> {
    let mut out = String::new();
    let filler = "src/lib.rs:12: some output of a command that says little \\n".repeat(24);
    let mut parent = "null".to_string();
    let mut line = |n: usize, kind: &str, message: &str| {
        let uuid = format!("\"00000000-0000-4000-8000-{n:012}\"");
        let _ = writeln!(
            out,
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"{kind}\",\"message\":{message},\"uuid\":{uuid},\"timestamp\":\"2026-11-30T10:00:00.000Z\",\"sessionId\":\"bench\",\"version\":\"2.1.240\"}}"
        );
        parent = uuid;
    };
    for n in (0..records).step_by(2) {
        let usage = format!("{{\"input_tokens\":{},\"output_tokens\":90}}", 1000 + n % 150_000);
        let call = format!(
            "{{\"type\":\"tool_use\",\"id\":\"toolu_{n}\",\"name\":\"Bash\",\"input\":{{\"command\":\"run {n}\"}}}}"
        );
        line(
            n,
            "assistant",
            &format!(
                "{{\"id\":\"msg_{n}\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[{call}],\"usage\":{usage}}}"
            ),
        );
        let result = format!("{{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_{n}\",\"content\":\"{filler}\"}}");
        line(n + 1, "user", &format!("{{\"role\":\"user\",\"content\":[{result}]}}"));
    }
    out.into_bytes()
}

/// A line that an agent writes next; `n` makes it one of its own.
pub(crate) fn one_more(n: usize) -> Vec<u8> {
    format!("{{\"kind\":\"assistant\",\"text\":\"step {n}\",\"response\":\"more{n}\"}}\n").into_bytes()
}
