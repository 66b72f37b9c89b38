mod hostile;

use super::{Evidence, Identified, Identifier, IdentifierKind as K, IdentifierState as S, former, redact, rendered};
use crate::{
    ledger::Ledger,
    model::{Body, Context, Flags, Kind, Log, Record, Slot},
};

/// A log of calls with their answers, built without a format.
#[derive(Default)]
struct Story {
    log: Log,
    bodies: Vec<Body>,
    cwd: Option<&'static str>,
}

enum Answer<'a> {
    Ok(&'a str),
    Err(&'a str),
    Abandoned,
    Open,
}

impl Story {
    fn push(&mut self, kind: Kind, id: &str, flags: Flags, body: Body) -> &mut Self {
        let mut record = Record::new(kind);
        if kind == Kind::Call || kind.is_resolution() {
            record.id = Some(self.log.syms.intern(id));
        }
        if kind.is_response_part() {
            record.response = Some(self.log.syms.intern(&format!("r{}", self.log.records.len())));
        }
        record.flags = flags;
        self.log.push(record);
        self.bodies.push(body);
        self
    }

    fn call(&mut self, tool: &str, input: &str, answer: &Answer<'_>) -> &mut Self {
        self.call_with(tool, input, answer, &[])
    }

    fn call_with(&mut self, tool: &str, input: &str, answer: &Answer<'_>, facts: &[(&str, &str)]) -> &mut Self {
        let id = format!("c{}", self.log.records.len());
        let body = Body { tool: Some(tool.to_string()), input: Some(input.to_string()), ..Body::default() };
        self.push(Kind::Call, &id, Flags::NONE, body);
        let facts = facts.iter().map(|(a, b)| ((*a).to_string(), (*b).to_string())).collect();
        match answer {
            Answer::Ok(text) => self.push(Kind::Result, &id, Flags::NONE, Body { facts, ..Body::text(*text) }),
            Answer::Err(text) => self.push(Kind::Error, &id, Flags::NONE, Body { facts, ..Body::text(*text) }),
            Answer::Abandoned => self.push(Kind::Abandoned, &id, Flags::NONE, Body::default()),
            Answer::Open => self,
        }
    }

    fn bash(&mut self, command: &str) -> &mut Self {
        self.shell(command, &Answer::Ok(""))
    }

    fn shell(&mut self, command: &str, answer: &Answer<'_>) -> &mut Self {
        let input = serde_json::json!({ "command": command }).to_string();
        self.call("Bash", &input, answer)
    }

    fn said(&mut self, text: &str) -> &mut Self {
        self.push(Kind::User, "", Flags::HUMAN, Body::text(text))
    }

    fn with<T>(&self, ask: impl FnOnce(&Evidence<'_>) -> T) -> T {
        let mut context = Context::default();
        (0..self.log.next_id()).for_each(|id| context.push(Slot::record(id)));
        let ledger = Ledger::of(&self.log, &context, context.len());
        let read = |at: usize| Some((self.log.records.get(at)?.kind, self.bodies.get(at)?.clone()));
        let name = |sym| self.log.syms.name(sym).to_string();
        ask(&Evidence { ledger: &ledger, read: &read, name: &name, cwd: self.cwd })
    }

    fn all(&self) -> Identified {
        self.with(|evidence| evidence.identify(usize::MAX))
    }

    fn live(&self, cut: usize) -> Vec<(K, String, S)> {
        self.with(|evidence| evidence.live(cut)).items.into_iter().map(|i| (i.kind, i.value, i.state)).collect()
    }
}

fn found(story: &Story) -> Vec<(K, String, S)> {
    story.all().items.into_iter().map(|i| (i.kind, i.value, i.state)).collect()
}

fn want(list: &[(K, &str, S)]) -> Vec<(K, String, S)> {
    list.iter().map(|(kind, value, state)| (*kind, (*value).to_string(), *state)).collect()
}

#[track_caller]
fn check(tool: &str, input: &str, answer: &Answer<'_>, expected: &[(K, &str, S)]) {
    let mut story = Story::default();
    story.call(tool, input, answer);
    assert_eq!(found(&story), want(expected), "{tool} {input}");
}

#[track_caller]
fn check_shell(command: &str, expected: &[(K, &str, S)]) {
    let mut story = Story::default();
    story.bash(command);
    assert_eq!(found(&story), want(expected), "{command}");
}

#[test]
fn file_tools() {
    let ok = Answer::Ok("done");
    check("Read", r#"{"file_path":"/r/a.rs"}"#, &ok, &[(K::Path, "/r/a.rs", S::Read)]);
    check("Write", r#"{"file_path":"/r/a.rs","content":"x"}"#, &ok, &[(K::Path, "/r/a.rs", S::Modified)]);
    check("Edit", r#"{"file_path":"/r/a.rs"}"#, &Answer::Err("no match"), &[(K::Path, "/r/a.rs", S::Failed)]);
    check("Edit", r#"{"file_path":"/r/a.rs"}"#, &Answer::Open, &[(K::Path, "/r/a.rs", S::Unknown)]);
    check("Edit", r#"{"file_path":"/r/a.rs"}"#, &Answer::Abandoned, &[(K::Path, "/r/a.rs", S::Unknown)]);
    let view = r#"{"command":"view","path":"src/x.rs"}"#;
    check("str_replace_based_edit_tool", view, &ok, &[(K::Path, "src/x.rs", S::Read)]);
    let insert = r#"{"command":"insert","path":"src/x.rs"}"#;
    check("str_replace_based_edit_tool", insert, &ok, &[(K::Path, "src/x.rs", S::Modified)]);
    check("delete_file", r#"{"targetFile":"old.sql"}"#, &ok, &[(K::Path, "old.sql", S::Deleted)]);
    let moved = [(K::Path, "a", S::Deleted), (K::Path, "b", S::Modified)];
    check("move_file", r#"{"source":"a","destination":"b"}"#, &ok, &moved);
    check("read_many_files", r#"{"paths":["a/b","./c"]}"#, &ok, &[(K::Path, "a/b", S::Read), (K::Path, "c", S::Read)]);
    check("Grep", r#"{"pattern":"x/y","path":"https://a/b"}"#, &ok, &[]);
}

#[test]
fn patches() {
    let patch = "*** Begin Patch\n*** Add File: new.rs\n+x\n*** Update File: old.rs\n*** Move to: moved.rs\n@@\n-a\n\
                 *** Delete File: gone.rs\n*** End Patch\n";
    let expected = [
        (K::Path, "new.rs", S::Modified),
        (K::Path, "old.rs", S::Deleted),
        (K::Path, "moved.rs", S::Modified),
        (K::Path, "gone.rs", S::Deleted),
    ];
    check("apply_patch", patch, &Answer::Ok("ok"), &expected);
    let argv = serde_json::json!({ "command": ["apply_patch", patch] }).to_string();
    check("shell", &argv, &Answer::Ok("ok"), &expected);
    check_shell(&format!("apply_patch <<'EOF'\n{patch}EOF\n"), &expected);
    let unified = "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n--- not a header\n+y\n--- a/dead\n+++ /dev/null\n";
    let input = serde_json::json!({ "diff": unified }).to_string();
    let expected = [(K::Path, "x.rs", S::Modified), (K::Path, "dead", S::Deleted)];
    check("apply_diff", &input, &Answer::Ok(""), &expected);
    let unknown = [(K::Path, "x.rs", S::Unknown), (K::Path, "dead", S::Unknown)];
    check("apply_diff", &input, &Answer::Open, &unknown);
}

#[test]
fn shell_files() {
    let m = S::Modified;
    check_shell("echo 'a > b' > out.txt 2>&1", &[(K::Path, "out.txt", m)]);
    check_shell("cat a.txt | tee -a b.log >/dev/null", &[(K::Path, "a.txt", S::Read), (K::Path, "b.log", m)]);
    check_shell("mv \"my file\" dir/new", &[(K::Path, "my file", S::Deleted), (K::Path, "dir/new", m)]);
    check_shell("cp -r a b", &[(K::Path, "a", S::Read), (K::Path, "b", m)]);
    check_shell("rm -rf build/*.o", &[(K::Path, "build/*.o", S::Deleted)]);
    check_shell("mkdir -p x/y;touch x/y/z", &[(K::Path, "x/y", m), (K::Path, "x/y/z", m)]);
    check_shell("sed -i 's/a/b/' one two", &[(K::Path, "one", m), (K::Path, "two", m)]);
    check_shell("sed -i.bak -e s/a/b/ one", &[(K::Path, "one", m)]);
    check_shell("sed -n 1,5p one", &[]);
    check_shell("sudo env A=b rm x", &[(K::Path, "x", S::Deleted)]);
    check_shell("timeout 5 touch t", &[(K::Path, "t", m)]);
    check_shell("touch $NAME \"$(date).log\" `x` ${Y}z k", &[(K::Path, "k", m)]);
    check_shell("bash -lc 'touch \"in side\"'", &[(K::Path, "in side", m)]);
    check_shell("# rm x\ntouch y # rm z", &[(K::Path, "y", m)]);
    check_shell("cat > f <<'EOF'\nrm -rf /\nEOF\ntouch g", &[(K::Path, "f", m), (K::Path, "g", m)]);
    check_shell("test -f a || touch b; touch c", &[(K::Path, "b", S::Unknown), (K::Path, "c", m)]);
    check_shell("if x; then rm a; fi; rm b", &[(K::Path, "a", S::Unknown), (K::Path, "b", S::Deleted)]);
    check_shell("curl -o d.tgz https://h.test/d", &[(K::Path, "d.tgz", m), (K::Url, "https://h.test/d", S::Named)]);
}

#[test]
fn shell_folders() {
    let m = S::Modified;
    check_shell("cd /r/app && touch a", &[(K::Cwd, "/r/app", S::Current), (K::Path, "/r/app/a", m)]);
    check_shell(
        "(cd sub && touch a) && touch b",
        &[(K::Cwd, "sub", S::Named), (K::Path, "sub/a", m), (K::Path, "b", m)],
    );
    check_shell(
        "(cd a; touch x); (cd b; touch y)",
        &[(K::Cwd, "a", S::Named), (K::Path, "a/x", m), (K::Cwd, "b", S::Named), (K::Path, "b/y", m)],
    );
    check_shell("cd \"$D\" && rm x && rm /abs/y", &[(K::Path, "/abs/y", S::Deleted)]);
    let mut story = Story { cwd: Some("/r"), ..Story::default() };
    story.call("Read", r#"{"file_path":"/r/a.rs"}"#, &Answer::Ok(""));
    story.call("exec_command", r#"{"cmd":"touch ../a.rs","workdir":"/r/x"}"#, &Answer::Ok(""));
    story.bash("rm ./a.rs");
    assert_eq!(
        found(&story),
        want(&[(K::Path, "/r/a.rs", S::Deleted), (K::Cwd, "/r/x", S::Current)]),
        "one file under three spellings"
    );
}

#[test]
fn outcomes() {
    let mut story = Story::default();
    story.shell("touch a && false", &Answer::Err("exit 1"));
    story.shell("touch b", &Answer::Open);
    story.call_with(
        "Bash",
        r#"{"command":"make > build.log","run_in_background":true}"#,
        &Answer::Ok("Command running in background with ID: bq1. Output is being written to: /tmp/t/bq1.output"),
        &[("background task", "bq1")],
    );
    assert_eq!(
        found(&story),
        want(&[
            (K::Path, "a", S::Unknown),
            (K::Path, "b", S::Unknown),
            (K::Path, "build.log", S::Unknown),
            (K::Task, "bq1", S::Closed),
            (K::Task, "output=/tmp/t/bq1.output", S::Closed),
        ])
    );
}

#[test]
fn newest_state_and_first_position() {
    let mut story = Story::default();
    story.call("Read", r#"{"path":"a"}"#, &Answer::Ok("")); // 0
    story.call("Write", r#"{"path":"a"}"#, &Answer::Ok("")); // 2
    story.call("Read", r#"{"path":"a"}"#, &Answer::Ok("")); // 4: looking changes nothing
    story.call("Edit", r#"{"path":"a"}"#, &Answer::Err("no match")); // 6: nor does failing
    let item = |story: &Story| story.all().items.first().map(|i| (i.from, i.state));
    assert_eq!(item(&story), Some((0, S::Modified)));
    story.call("Edit", r#"{"path":"a"}"#, &Answer::Open);
    assert_eq!(item(&story), Some((0, S::Unknown)));
    assert_eq!(story.with(|e| e.identify(2)).items.first().map(|i| i.state), Some(S::Read), "as of a record");
    assert_eq!(story.with(|e| e.identify(3)).items.first().map(|i| i.state), Some(S::Unknown), "its answer is later");
}

#[test]
fn git_things() {
    let mut story = Story::default();
    story.bash("git checkout -b mig/v7");
    story.shell("git commit -am 'x'", &Answer::Ok("[mig/v7 1a2b3c4] Add column\n 2 files changed\n"));
    story.bash("git -C /r worktree add -b fix ../fix main");
    story.bash("git push -u origin mig/v7");
    story.shell("git rebase main", &Answer::Err("CONFLICT (content): Merge conflict in a.sql"));
    let expected = [
        (K::Branch, "mig/v7", S::Current),
        (K::Commit, "1a2b3c4", S::Made),
        (K::Worktree, "../fix", S::Open),
        (K::Branch, "fix", S::Made),
        (K::Transaction, "git rebase", S::Open),
    ];
    assert_eq!(found(&story), want(&expected));
    story.shell("git rebase --continue", &Answer::Ok("Successfully rebased"));
    story.bash("git switch main");
    let states: Vec<S> = story.all().items.iter().map(|i| i.state).collect();
    assert_eq!(states, [S::Named, S::Made, S::Open, S::Made, S::Closed, S::Current]);
    check_shell("git checkout -- a.rs", &[(K::Path, "a.rs", S::Modified)]);
    check_shell("git merge feature", &[]);
    check_shell("git bisect start", &[(K::Transaction, "git bisect", S::Open)]);
    check_shell("git branch -D old", &[(K::Branch, "old", S::Deleted)]);
}

#[test]
fn pull_requests_and_addresses() {
    let mut story = Story::default();
    story.shell("gh pr create --fill", &Answer::Ok("Creating…\nhttps://github.test/o/r/pull/41\n"));
    story.shell("gh pr create --fill", &Answer::Err("https://github.test/o/r/pull/99 already exists"));
    story.bash("gh pr view 40");
    story.call("create_pull_request", r#"{"title":"t"}"#, &Answer::Ok(r#"{"html_url":"https://g.test/o/r/pull/42"}"#));
    story.call("WebFetch", r#"{"url":"https://docs.test/x","prompt":"p"}"#, &Answer::Ok("text"));
    let expected = [
        (K::PullRequest, "https://github.test/o/r/pull/41", S::Open),
        (K::PullRequest, "#40", S::Named),
        (K::PullRequest, "https://g.test/o/r/pull/42", S::Open),
        (K::Url, "https://docs.test/x", S::Named),
    ];
    assert_eq!(found(&story), want(&expected));
}

#[test]
fn database_transactions() {
    let begin = |text: &str, answer: &Answer<'_>| {
        let mut story = Story::default();
        story.call("execute_sql", &serde_json::json!({ "sql": text, "database": "billing" }).to_string(), answer);
        found(&story).first().map(|(_, _, state)| *state)
    };
    for open in ["BEGIN", "begin transaction; UPDATE x SET a='COMMIT;'", "START TRANSACTION READ ONLY; select 1"] {
        assert_eq!(begin(open, &Answer::Ok("")), Some(S::Open), "{open}");
        assert_eq!(begin(open, &Answer::Open), Some(S::Unknown), "{open}");
    }
    for closed in [
        "BEGIN; COMMIT",
        "begin; rollback;",
        "SELECT 'BEGIN'",
        "-- BEGIN\nselect 1",
        "CREATE FUNCTION f() AS $$ BEGIN; x $$ LANGUAGE plpgsql",
        "BEGIN TRY select 1 END TRY",
        "",
    ] {
        assert_eq!(begin(closed, &Answer::Ok("")), None, "{closed}");
    }
    assert_eq!(begin("BEGIN; ROLLBACK TO SAVEPOINT a", &Answer::Ok("")), Some(S::Open));
    let mut story = Story::default();
    story.call("write_stdin", r#"{"session_id":7,"chars":"BEGIN;\n"}"#, &Answer::Ok("BEGIN"));
    story.call("write_stdin", r#"{"session_id":7,"chars":"COMMIT;\n"}"#, &Answer::Ok("COMMIT"));
    let expected = [(K::Transaction, "7", S::Closed), (K::Session, "7", S::Named)];
    assert_eq!(found(&story), want(&expected));
    check_shell("psql -c 'BEGIN; UPDATE t SET a=1'", &[]);
    let mut story = Story::default();
    story.shell("psql <<EOF\nBEGIN;\nUPDATE t SET a=1;\nEOF", &Answer::Open);
    assert_eq!(found(&story), want(&[(K::Transaction, "sql transaction", S::Unknown)]));
}

#[test]
fn handles_of_tools() {
    let ok = Answer::Ok(r#"{"tab":{"tabId":12},"uploadId":"up_9","cursor":"c==","note":"page_id 4","size":3}"#);
    let expected = [
        (K::Handle, "page_id=4", S::Named),
        (K::Handle, "tab_id=12", S::Named),
        (K::Handle, "upload_id=up_9", S::Named),
        (K::Handle, "cursor=c==", S::Named),
    ];
    check("browser_click", r#"{"page_id":4,"ref":"x"}"#, &ok, &expected);
    let mut story = Story::default();
    story.call("spawn_agent", r#"{"prompt":"p"}"#, &Answer::Ok(r#"{"agent_id":"ag-1"}"#));
    story.call("KillShell", r#"{"shell_id":"b1"}"#, &Answer::Ok("ok"));
    assert_eq!(found(&story), want(&[(K::Subagent, "ag-1", S::Named), (K::Task, "b1", S::Closed)]));
    let mut story = Story::default();
    story.shell("serve --port 8080 & echo $!", &Answer::Ok("[1] 4242\n4242\n"));
    story.bash("tmux new -d -s web");
    story.bash("kill -9 4242");
    let expected = [(K::Task, "port=8080", S::Open), (K::Task, "pid=4242", S::Closed), (K::Task, "tmux=web", S::Open)];
    assert_eq!(found(&story), want(&expected));
}

#[test]
fn todo_lists() {
    let mut story = Story::default();
    story.call("TodoWrite", r#"{"todos":[{"content":"old","status":"pending"}]}"#, &Answer::Ok(""));
    let list = r#"{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"},{"content":"c","status":"pending"}]}"#;
    story.call("TodoWrite", list, &Answer::Ok(""));
    let expected = [(K::Todo, "a", S::Closed), (K::Todo, "b", S::Current), (K::Todo, "c", S::Open)];
    assert_eq!(found(&story), want(&expected));
    assert_eq!(story.all().items.first().map(|i| i.from), Some(2), "of the last list");
    let mut story = Story::default();
    story.call("TaskCreate", r#"{"subject":"x"}"#, &Answer::Ok("Task #5 created successfully: x"));
    story.call("TaskUpdate", r#"{"taskId":"5","status":"in_progress"}"#, &Answer::Ok("Updated task #5"));
    assert_eq!(found(&story), want(&[(K::Todo, "x", S::Current)]));
    check("update_plan", r#"{"plan":[{"step":"s","status":"pending"}]}"#, &Answer::Ok(""), &[(K::Todo, "s", S::Open)]);
}

#[test]
fn prose_is_never_a_source() {
    let mut story = Story::default();
    story.said("please edit src/a.rs on branch main, see https://x.test/pull/1");
    story.push(Kind::Assistant, "", Flags::NONE, Body::text("I ran rm -rf build && git checkout -b x"));
    assert_eq!(found(&story), want(&[]));
}

#[test]
fn live_ones() {
    let mut story = Story::default();
    story.call("Write", r#"{"file_path":"/r/src/a.rs"}"#, &Answer::Ok("")); // 0: named by its end later
    story.call("Write", r#"{"file_path":"/r/src/b.rs"}"#, &Answer::Ok("")); // 2: never again
    story.call("Edit", r#"{"file_path":"/r/src/c.rs"}"#, &Answer::Abandoned); // 4: unknown
    story.bash("git checkout -b fix"); // 6: in use
    story.call("Read", r#"{"path":"/r/d.rs"}"#, &Answer::Ok("")); // 8: used again
    story.said("now src/a.rs."); // 10
    story.call("Read", r#"{"path":"/r/d.rs"}"#, &Answer::Ok("")); // 11
    story.call("Write", r#"{"path":"/r/new.rs"}"#, &Answer::Ok("")); // 13: stands verbatim in what is kept
    let expected = [
        (K::Path, "/r/src/a.rs", S::Modified),
        (K::Path, "/r/src/c.rs", S::Unknown),
        (K::Branch, "fix", S::Current),
        (K::Path, "/r/d.rs", S::Read),
    ];
    assert_eq!(story.live(10), want(&expected));
}

#[test]
fn carried_over_from_a_former_summary() {
    let item = |kind, value: &str, state| Identifier { kind, value: value.to_string(), from: 0, state };
    let items = [item(K::Task, "b1 \"q\"\n- path", S::Open), item(K::Path, "/r/x y", S::Modified)];
    let text = format!("Prose.\n\n{}\nMore.", rendered(&items));
    assert_eq!(former(&text), items);
    assert_eq!(former("- path \"/etc\" open"), []);
    let mut story = Story::default();
    story.push(Kind::Summary, "", Flags::NONE, Body::text(text));
    story.said("go on");
    assert_eq!(story.live(2), want(&[(K::Task, "b1 \"q\"\n- path", S::Open)]));
    story.call("KillShell", &serde_json::json!({"shell_id": "other"}).to_string(), &Answer::Ok(""));
    assert_eq!(story.live(2).len(), 1);
}

#[test]
fn secrets_do_not_enter() {
    let key = format!("sk-{}", "a1".repeat(12));
    for (text, rule) in [
        ("AKIAIOSFODNN7EXAMPLE".to_string(), "aws-access-key"),
        (format!("ghp_{}", "a".repeat(36)), "github-token"),
        (key, "sk-key"),
        ("Authorization: Bearer abcdefghijklmnop1234".to_string(), "bearer"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE".to_string(), "private-key"),
        ("postgres://u:pa55@h/db".to_string(), "url-password"),
        ("https://h.test/x?token=abcdef&y=1".to_string(), "url-parameter"),
        ("PGPASSWORD=hunter22".to_string(), "password"),
    ] {
        let safe = redact(&text);
        assert!(safe.text.contains(&format!("[REDACTED:{rule}]")) && safe.count == 1, "{text} → {safe:?}");
        assert_eq!(redact(&safe.text).count, 0, "twice is once: {}", safe.text);
    }
    for text in
        ["/r/src/sketch-of-a-plan.rs", "mig/v7", "1a2b3c4", "https://h.test/a?page=2", "task-1", "bearer of news"]
    {
        assert_eq!(redact(text).count, 0, "{text}");
    }
    let mut story = Story::default();
    story.bash("curl https://u:s3cretpw@h.test/x");
    let all = story.all();
    assert_eq!(all.redacted, 1);
    assert_eq!(all.items.first().map(|i| i.value.as_str()), Some("https://u:[REDACTED:url-password]@h.test/x"));
}
