//! All characters of Unicode in a question.

use copilot_wire::protocol::plain_text;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, HirKind};

/// Returns the characters of a class of Unicode, by the tables of `regex-syntax`.
fn class(name: &str) -> Vec<char> {
    let hir = ParserBuilder::new().build().parse(name).unwrap();
    let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
        panic!("{name} is no class");
    };
    let ranges = class.ranges().iter();
    ranges
        .flat_map(|range| range.start()..=range.end())
        .collect()
}

/// What no reader can see is written as its code point, and white space as a space.
#[test]
fn no_invisible_character_stands_in_a_question() {
    let shown = |character: char| plain_text(&format!("a{character}b"));
    let code_point = |character: char| format!("a（U＋{:04X}）b", u32::from(character));
    // Unassigned characters are in the class too, except those that are newer than a table.
    let invisible =
        class(r"[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\p{Noncharacter_Code_Point}]");
    assert!(invisible.len() > 140_000);
    for character in invisible {
        assert_eq!(
            shown(character),
            code_point(character),
            "U+{:04X}",
            u32::from(character)
        );
    }
    for character in class(r"\p{Cc}") {
        let expected = match character {
            '\n' | '\r' => "a ⏎ b".to_owned(),
            _ if character.is_whitespace() => "a b".to_owned(),
            _ => code_point(character),
        };
        assert_eq!(shown(character), expected, "U+{:04X}", u32::from(character));
    }
    for character in class(r"[\p{Zs}\p{Zl}\p{Zp}]") {
        assert_eq!(shown(character), "a b", "U+{:04X}", u32::from(character));
    }
    // Blanks that no property of Unicode tells apart.
    for character in "\u{2800}\u{1D159}\u{16FE4}\u{13441}\u{13442}\u{FFFC}".chars() {
        assert_eq!(shown(character), code_point(character));
    }
}

/// Every other character is there as itself, as another sign, or as its code point, and always the same.
#[test]
fn no_character_is_lost_in_a_question() {
    for character in '\u{21}'..=char::MAX {
        if character.is_whitespace() {
            continue;
        }
        let shown = plain_text(&format!("a{character}b"));
        let inside = shown
            .strip_prefix('a')
            .and_then(|rest| rest.strip_suffix('b'));
        assert!(
            inside.is_some_and(|inside| !inside.is_empty()),
            "U+{:04X}: {shown}",
            u32::from(character)
        );
        assert_eq!(plain_text(&shown), shown, "U+{:04X}", u32::from(character));
    }
}
