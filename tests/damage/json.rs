//! Every value that the agents' own JSON reader takes must be a record here, however odd.

use cutline::format::{
    Piece,
    json::{Damage, Raw},
    pieces,
};

/// Values that `JSON.parse` accepts and a strict decoder refuses: numbers out of range, broken surrogates, invalid
/// UTF-8, depth.
fn odd_values() -> Vec<(&'static str, Vec<u8>)> {
    let text = |inside: &[u8]| [b"[\"", inside, b"\"]"].concat();
    let deep = [vec![b'['; 500], vec![b']'; 500]].concat();
    let huge_exponent = format!("[0.4e00{}6]", "9".repeat(120));
    vec![
        ("huge exponent", huge_exponent.into_bytes()),
        ("negative whole number with a huge exponent", b"[-1e+9999]".to_vec()),
        ("positive overflow", b"[1.5e+9999]".to_vec()),
        ("negative real overflow", b"[-123123e100000]".to_vec()),
        ("positive real overflow", b"[123123e100000]".to_vec()),
        ("a lone low surrogate as a key", br#"{"\uDFAA":0}"#.to_vec()),
        ("a high surrogate alone", text(br"\uDADA")),
        ("a high surrogate before another character", text(br"\uD888\u1234")),
        ("a high surrogate before an escape", text(br"\uD800\n")),
        ("half a pair and letters", text(br"\uDd1ea")),
        ("two high surrogates", text(br"\uD800\uD800\n")),
        ("a lonely surrogate", text(br"\ud800")),
        ("a surrogate and letters", text(br"\ud800abc")),
        ("an inverted pair", text(br"\uDd1e\uD834")),
        ("a low surrogate alone", text(br"\uDFAA")),
        ("an invalid byte after good ones", text(b"\xe6\x97\xa5\xd1\x88\xfa")),
        ("a surrogate in UTF-8", text(b"\xed\xa0\x80")),
        ("a byte that never occurs", text(b"\xff")),
        ("Latin-1", text(b"\xe9")),
        ("a continuation byte alone", text(b"\x81")),
        ("beyond Unicode", text(b"\xf4\xbf\xbf\xbf")),
        ("overlong, two bytes", text(b"\xc0\xaf")),
        ("overlong, six bytes", text(b"\xfc\x83\xbf\xbf\xbf\xbf")),
        ("overlong NUL", text(b"\xfc\x80\x80\x80\x80\x80")),
        ("a cut character", text(b"\xe0\xff")),
        ("500 lists in one another", deep),
    ]
}

/// Looks at everything in `raw`.
fn walk(raw: Raw<'_>, depth: usize) {
    if let Some(text) = raw.str() {
        assert!(!text.contains('\u{0}') || raw.bytes().contains(&b'\\'), "nothing is made up");
    }
    let _ = (raw.u64(), raw.bool(), raw.text_len());
    if depth < 20 {
        raw.fields().for_each(|(key, value)| {
            assert!(key.is(&key.str()), "a key is found by what it decodes to");
            walk(value, depth + 1);
        });
        raw.items().for_each(|item| walk(item, depth + 1));
    }
}

#[test]
fn what_the_agents_own_reader_takes_is_one_value() {
    let all = odd_values();
    assert_eq!(all.len(), 26);
    for (name, value) in all {
        walk(Raw::parse(&value).unwrap_or_else(|damage| panic!("{name}: {damage:?}")), 0);
        let line = [&b"{\"type\":\"user\",\"x\":"[..], &value, b"}"].concat();
        assert!(matches!(pieces(&line)[..], [Piece::Value { salvaged: false, .. }]), "{name} as a field");
    }
}

#[test]
fn what_it_refuses_is_refused() {
    let refused = [
        "",
        " ",
        "[",
        "]",
        "{",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\":1,}",
        "{\"a\"}",
        "{\"a\" 1}",
        "{1:1}",
        "{'a':1}",
        "[01]",
        "[1.]",
        "[.1]",
        "[+1]",
        "[-]",
        "[1e]",
        "[1e+]",
        "[0x1]",
        "[NaN]",
        "[Infinity]",
        "[nul]",
        "[True]",
        "[\"\t\"]",
        "[\"\\x41\"]",
        "[\"\\u12\"]",
        "[1]x",
        "[\"a",
    ];
    for text in refused {
        assert!(Raw::parse(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn depth_costs_no_stack() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        walk(Raw::parse(deep.as_bytes()).unwrap(), 0);
        assert!(matches!(Raw::parse(&deep.as_bytes()[..deep.len() - 1]), Err(Damage::Cut)));
    }
}
