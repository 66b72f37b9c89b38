//! The sample sessions say what their README says, and the demo is the incident that it promises to be.

#[cfg(test)]
mod samples {
    use std::{collections::BTreeSet, fs, path::PathBuf, process::Command};

    use cutline::{
        budget::Settings,
        cut::Verdict,
        ledger::{CallState, ObligationKind},
        plan::{Plan, Request, Session, plan},
    };

    fn root(path: &str) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
    }

    /// A row of the table in `sample-sessions/README.md`.
    struct Row {
        file: String,
        format: String,
        open: usize,
        carried: usize,
        verdict: String,
        exit: i32,
    }

    fn rows() -> Vec<Row> {
        let text = fs::read_to_string(root("sample-sessions/README.md")).unwrap();
        let cells = text.lines().filter_map(|line| line.strip_prefix("| `"));
        cells
            .map(|line| {
                let cells: Vec<&str> = line.split('|').map(str::trim).collect();
                Row {
                    file: cells[0].trim_end_matches('`').to_string(),
                    format: cells[1].to_string(),
                    open: cells[2].parse().unwrap(),
                    carried: cells[3].parse().unwrap(),
                    verdict: cells[4].to_string(),
                    exit: cells[5].parse().unwrap(),
                }
            })
            .collect()
    }

    fn session(path: &str) -> (Vec<u8>, Session) {
        let bytes = fs::read(root(path)).unwrap();
        let name = path.rsplit('/').next().unwrap();
        let stem = name.rsplit_once('.').unwrap().0.to_string();
        let session = Session::of_bytes(&bytes, None, &stem, Settings::default());
        (bytes, session)
    }

    #[test]
    fn the_table_lists_every_file() {
        let listed: BTreeSet<String> = rows().into_iter().map(|row| row.file).collect();
        let there: BTreeSet<String> = fs::read_dir(root("sample-sessions"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl" || ending == "json"))
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(listed, there);
    }

    #[test]
    fn every_verdict_and_every_format_has_a_sample() {
        let rows = rows();
        for verdict in [Verdict::Compact, Verdict::Defer, Verdict::Refuse, Verdict::NoOp] {
            assert!(rows.iter().any(|row| row.verdict == verdict.name()), "{}", verdict.name());
        }
        for format in cutline::format::Format::ALL {
            assert!(rows.iter().any(|row| row.format == format.name()), "{}", format.name());
        }
    }

    #[test]
    fn samples_are_what_the_table_says() {
        for row in rows() {
            let (_, session) = session(&format!("sample-sessions/{}", row.file));
            let name = &row.file;
            assert_eq!(session.detection().map(|found| found.format.name()), Some(&*row.format), "{name}");
            let open = session.obligations().iter().filter(|owed| owed.kind == ObligationKind::Call).count();
            assert_eq!(open, row.open, "{name}: open calls");
            assert_eq!(session.ledger().carried().len(), row.carried, "{name}: carried");
            let planned = plan(&session, &Request::default()).unwrap();
            assert_eq!(planned.decision.verdict.name(), row.verdict, "{name}: {}", planned.decision.because);
            assert_eq!(i32::from(planned.decision.verdict.exit_code()), row.exit, "{name}");
            assert_eq!(session.log().not_understood, 0, "{name}");
            assert!(name == "damaged.jsonl" || session.notes().is_empty(), "{name}: {:?}", session.notes());
        }
    }

    #[test]
    fn the_program_says_the_same() {
        for row in rows() {
            let file = root("sample-sessions").join(&row.file);
            let out =
                Command::new(env!("CARGO_BIN_EXE_cutline")).arg("plan").arg(&file).arg("--json").output().unwrap();
            assert_eq!(out.status.code(), Some(row.exit), "{}", row.file);
            let document: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
            assert_eq!(document["verdict"], row.verdict.as_str(), "{}", row.file);
        }
    }

    #[test]
    fn single_facts() {
        let (bytes, refuse) = session("sample-sessions/refuse.jsonl");
        let live = refuse.identifiers(&bytes, refuse.context().len());
        let found: Vec<(&str, &str, &str)> = live.iter().map(|i| (i.kind.name(), &*i.value, i.state.name())).collect();
        assert_eq!(found, [("transaction", "north-rw", "open")]);

        let (_, critical) = session("sample-sessions/critical.jsonl");
        let planned = plan(&critical, &Request::default()).unwrap();
        assert!(planned.decision.relief.is_some());
        let states: Vec<CallState> = planned.decision.blockers.iter().map(|blocker| blocker.obligation.state).collect();
        assert_eq!(states, [CallState::Lost, CallState::Lost, CallState::Waiting]);

        let (_, damaged) = session("sample-sessions/damaged.jsonl");
        assert_eq!(damaged.log().damaged, 2);

        let (bytes, background) = session("sample-sessions/background.jsonl");
        let cut = plan(&background, &Request::default()).unwrap().decision.cut.unwrap();
        let live = background.identifiers(&bytes, cut);
        let has = |value: &str, state: &str| live.iter().any(|i| i.value == value && i.state.name() == state);
        assert!(has("b7m2kd90q", "open") && has("port=5180", "open") && has("dev.log", "unknown"), "{live:?}");
    }

    /// The verdict after each line of the demo.
    fn demo() -> (Vec<u8>, Session, Vec<Plan>) {
        let bytes = fs::read(root("assets/demo.jsonl")).unwrap();
        let mut session = Session::new(None, "demo", Settings::default());
        let mut plans = Vec::new();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            session.feed(line);
            session.refresh();
            plans.push(plan(&session, &Request::default()).unwrap());
        }
        (bytes, session, plans)
    }

    #[test]
    fn the_demo_goes_from_no_op_over_defer_to_refuse() {
        let (_, session, plans) = demo();
        let mut verdicts: Vec<Verdict> = plans.iter().map(|plan| plan.decision.verdict).collect();
        verdicts.dedup();
        assert_eq!(verdicts, [Verdict::NoOp, Verdict::Defer, Verdict::Refuse]);

        // One call is owed at the end, and it is what stands in the way all the time.
        let open: Vec<usize> = session.ledger().pending().collect();
        let [deploy] = open[..] else { panic!("{open:?}") };
        assert_eq!(session.ledger().call_state(deploy), Some(CallState::Lost));
        for plan in plans.iter().filter(|plan| plan.decision.verdict != Verdict::NoOp) {
            let named: Vec<usize> = plan.decision.blockers.iter().map(|blocker| blocker.obligation.at).collect();
            assert_eq!(named, [deploy]);
        }

        let budget = session.budget().unwrap();
        assert!(budget.used() > budget.window.tokens * 9 / 10);
        let relief = plans.last().unwrap().decision.relief.unwrap();
        assert!(relief.cut <= deploy && relief.frees >= budget.min_progress());

        // The deploy starts at about 40 s, the line is crossed at about 50 s, it is over after about 90 s.
        let second = |at: usize| session.record(at).unwrap().time.known().unwrap() / 1000;
        let start = second(0);
        assert!((39..=42).contains(&(second(deploy) - start)));
        let crossing = budget.line_at().unwrap();
        assert!((48..=52).contains(&(second(crossing) - start)), "{}", second(crossing) - start);
        assert!((85..=95).contains(&(second(session.context().len() - 1) - start)));
    }

    #[test]
    fn in_the_demo_giving_up_the_deploy_opens_the_way() {
        let (bytes, session, _) = demo();
        let deploy = session.ledger().pending().next().unwrap();
        let id = session.name(session.id_at(deploy)).to_string();
        let wish = format!("{id}=the client was killed while it ran").parse().unwrap();
        let planned = plan(&session, &Request { abandon: vec![wish], ..Request::default() }).unwrap();
        assert_eq!(planned.decision.verdict, Verdict::Compact);

        // What a summary of that span must not lose.
        let live = session.identifiers(&bytes, planned.decision.cut.unwrap());
        let has = |kind: &str, value: &str| live.iter().any(|i| i.kind.name() == kind && i.value == value);
        assert!(has("branch", "mig/0042-invoice-currency") && has("task", "b4q8z1x7e"), "{live:?}");
    }
}
