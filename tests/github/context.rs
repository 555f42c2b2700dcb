//! The context of requests and its withheld parts, for github.com and IDEs.

use copilot_wire::github::{
    ChatRequest, EditorContext, Exclusion, Reference, ReferenceData, WithheldReason,
};
use copilot_wire::json::Wire as _;
use copilot_wire::protocol::Conversation;

use crate::fixtures::request;

fn kinds(request: &ChatRequest) -> Vec<String> {
    let context = request.context();
    context.references().map(|it| it.kind.clone()).collect()
}

fn withheld(request: &ChatRequest) -> Vec<(String, WithheldReason)> {
    let context = request.context();
    let withheld = context.withheld();
    withheld
        .map(|it| (it.kind.into_owned(), it.reason))
        .collect()
}

#[test]
fn the_web_attaches_to_the_messages_since_its_own() {
    let web = request("req-web-session-history.json");
    assert!(web.context().is_web());
    assert_eq!(
        kinds(&web),
        [
            "github.current-url",
            "github.repository",
            "github.file",
            "github.snippet"
        ]
    );
    assert_eq!(withheld(&web), []);
    assert_eq!(
        kinds(&request("req-web-genuine.json")),
        ["github.repository"]
    );
}

#[test]
fn an_ide_attaches_to_the_last_message() {
    let ide = request("req-vscode-editor-context.json");
    assert!(!ide.context().is_web());
    assert_eq!(
        kinds(&ide),
        ["client.file", "client.selection", "github.repository"]
    );
    assert_eq!(ide.context().editor(), EditorContext::Sent);
    assert_eq!(ide.session_info(), None);
}

#[test]
fn data_is_typed() {
    let ide = request("req-vscode-editor-context.json");
    let context = ide.context();
    let data: Vec<ReferenceData<'_>> = context.data().map(|(_, data)| data).collect();
    let [
        ReferenceData::ClientFile(file),
        ReferenceData::ClientSelection(selection),
        ReferenceData::Repository(repository),
    ] = data.as_slice()
    else {
        panic!("{data:?}")
    };
    assert_eq!(file.language.as_deref(), Some("rust"));
    assert_eq!(file.content, "fn main() {\n    println!(\"tide\");\n}\n");
    assert_eq!((selection.start.line, selection.start.col), (1, 4));
    assert_eq!((selection.end.line, selection.end.col), (1, 21));
    assert_eq!(selection.content, "println!(\"tide\");");
    assert_eq!(repository.id.as_deref(), Some("718293041"));
    assert_eq!(repository.owner_login.as_deref(), Some("harbour-lab"));
    assert_eq!(repository.visibility, None);

    let web = request("req-web-session-history.json");
    let context = web.context();
    let data: Vec<ReferenceData<'_>> = context.data().map(|(_, data)| data).collect();
    let [
        ReferenceData::CurrentUrl(url),
        ReferenceData::Repository(repository),
        ReferenceData::File(file),
        ReferenceData::Snippet(snippet),
    ] = data.as_slice()
    else {
        panic!("{data:?}")
    };
    assert!(url.ends_with("/issues/12#issuecomment-9"), "{url}");
    assert_eq!(repository.git_ref.as_deref(), Some("refs/heads/main"));
    let head = repository.ref_info.as_ref().unwrap();
    assert_eq!(head.name.as_deref(), Some("main"));
    assert_eq!(head.kind.as_deref(), Some("branch"));
    let rust = &repository.languages[0];
    assert_eq!((rust.name.as_str(), rust.percent), ("Rust", 91.4));
    assert_eq!(
        repository.description.as_deref(),
        Some("Tide predictions \"as a service\"")
    );
    assert_eq!(file.path.as_deref(), Some("src/lib.rs"));
    assert_eq!(file.range, None);
    let range = snippet.range.as_ref().unwrap();
    assert_eq!((range.start, range.end), (Some(3), Some(9)));
    assert_eq!(snippet.repo_id.as_deref(), Some("718293041"));
    assert_eq!(snippet.language_id.as_deref(), Some("327"));

    let memory: Vec<&Reference> = web.memory().collect();
    assert_eq!(memory.len(), 1);
    assert_eq!(memory[0].kind, "tide.table");
    assert!(matches!(memory[0].typed(), ReferenceData::Other(Some(_))));
    let ReferenceData::Agent(agent) = web.messages[1].references[0].typed() else {
        panic!("an agent")
    };
    assert_eq!(agent.id.as_deref(), Some("99887766"));
    assert_eq!(agent.login.as_deref(), Some("tide-agent"));
}

#[test]
fn what_is_unknown_or_odd_is_kept() {
    let extras = request("req-unknown-extras.json");
    let references = &extras.messages[1].references;
    assert_eq!(references[0].kind, "client.terminal");
    assert_eq!(
        references[0].data.as_ref().unwrap().text(),
        "\"not-an-object\""
    );
    assert!(references[0].unknown.get("metadata").unwrap().is_null());
    assert_eq!(references[1].display_name(), Some("Issue 7"));
    let metadata = references[1].metadata.as_ref().unwrap();
    assert_eq!(metadata.unknown.get("extra").unwrap().text(), "true");
    assert!(
        references
            .iter()
            .all(|it| matches!(it.typed(), ReferenceData::Other(Some(_))))
    );

    // In the documentation a repository's id is a string; senders write `0.0` for `0`.
    let body = r#"{"messages":[{"role":"user","content":"x","copilot_references":[
        {"type":"github.repository","id":"o/r","data":{"id":"abc-123","languages":[null,{"name":"C"},{"percent":1}],"refInfo":null}},
        {"type":"client.selection","id":"a","data":{"start":{"line":0.0,"col":2},"end":null,"content":null}},
        {"type":"client.file","id":"b","data":null},
        {"type":"github.snippet","id":"c","data":{"range":{"start":1}}}]}]}"#;
    let request = ChatRequest::from_json(body).unwrap();
    let data: Vec<_> = request.messages[0]
        .references
        .iter()
        .map(Reference::typed)
        .collect();
    let [
        ReferenceData::Repository(repository),
        ReferenceData::ClientSelection(selection),
        ReferenceData::Other(None),
        ReferenceData::Snippet(snippet),
    ] = data.as_slice()
    else {
        panic!("{data:?}")
    };
    assert_eq!(repository.id.as_deref(), Some("abc-123"));
    let languages: Vec<_> = repository.languages.iter().map(|it| &*it.name).collect();
    assert_eq!(
        (languages.as_slice(), repository.languages[0].percent),
        (&["C", ""][..], 0.0)
    );
    assert_eq!(repository.ref_info, None);
    assert_eq!((selection.start.line, selection.start.col), (0, 2));
    let range = snippet.range.as_ref().unwrap();
    assert_eq!((range.start, range.end), (Some(1), None));
}

#[test]
fn what_is_withheld_says_why() {
    let redacted = request("req-redacted.json");
    assert_eq!(
        withheld(&redacted),
        [
            (
                "github.current-url".into(),
                WithheldReason::RepositoryUnreadable
            ),
            (
                "github.repository".into(),
                WithheldReason::RepositoryUnreadable
            )
        ]
    );
    assert_eq!(redacted.context().data().count(), 0);
    assert_eq!(redacted.context().references().len(), 2);
    let info = redacted.session_info().unwrap();
    assert_eq!((info.login(), info.url()), (Some("monalisa"), None));
    assert_eq!(info.date_time(), Some("2024-10-22 00:43:14"));

    let markers = request("req-exclusion-markers.json");
    assert_eq!(
        withheld(&markers),
        [
            Exclusion::ContentExclusion,
            Exclusion::HiddenFile,
            Exclusion::TooLarge
        ]
        .map(|exclusion| ("client.file".into(), WithheldReason::Excluded(exclusion)))
    );
    assert_eq!(markers.context().editor(), EditorContext::Withheld);
    assert_eq!(markers.documents().count(), 0);

    let cases = [
        // (redacted type, with a session message, reason, editor context)
        (
            "github.current-url",
            true,
            WithheldReason::NoRepositoryAtUrl,
            EditorContext::Absent,
        ),
        (
            "github.repository",
            true,
            WithheldReason::RepositoryUnreadable,
            EditorContext::Absent,
        ),
        (
            "github.repository",
            false,
            WithheldReason::RepositoryUnreadable,
            EditorContext::Withheld,
        ),
        (
            "client.file",
            false,
            WithheldReason::Permission,
            EditorContext::Withheld,
        ),
        (
            "github.issue",
            false,
            WithheldReason::Permission,
            EditorContext::Absent,
        ),
    ];
    for (kind, web, reason, editor) in cases {
        let session = match web {
            true => r#"{"role":"system","name":"_session","content":"Current User's Login: a\n"},"#,
            false => "",
        };
        let body = format!(
            r#"{{"messages":[{session}{{"role":"user","content":"hi","copilot_references":[{{"type":"github.redacted","id":"r","data":{{"type":"{kind}"}}}}]}}]}}"#
        );
        let request = ChatRequest::from_json(body).unwrap();
        assert_eq!(withheld(&request), [(kind.to_owned(), reason)]);
        assert_eq!(request.context().editor(), editor, "{kind} {web}");
        assert!(!reason.to_string().is_empty());
    }
    assert_eq!(
        request("req-docs-minimal.json").context().editor(),
        EditorContext::Absent
    );
}

#[test]
fn a_marker_is_the_whole_text() {
    assert_eq!(Exclusion::parse("hidden-file"), Some(Exclusion::HiddenFile));
    for text in [
        "",
        "hidden-file\n",
        " hidden-file",
        "a hidden-file",
        "Hidden-file",
    ] {
        assert_eq!(Exclusion::parse(text), None, "{text:?}");
    }
}

#[test]
fn documents_are_files_and_selections_in_context() {
    let names = |name: &str| -> Vec<(String, String)> {
        let request = request(name);
        let documents = request.documents();
        documents
            .map(|it| (it.id.into_owned(), it.name.into_owned()))
            .collect()
    };
    let pair = |id: &str, name: &str| (id.to_owned(), name.to_owned());
    assert_eq!(
        names("req-vscode-editor-context.json"),
        [
            pair("src/main.rs", "src/main.rs"),
            pair("src/main.rs", "src/main.rs (lines 2-2)"),
            pair("harbour-lab/tide-tables", "harbour-lab/tide-tables"),
        ]
    );
    let page = "https://github.com/harbour-lab/tide-tables/blob/main/src/lib.rs";
    let issue = "https://github.com/harbour-lab/tide-tables/issues/12#issuecomment-9";
    assert_eq!(
        names("req-web-session-history.json"),
        [
            pair(issue, issue),
            pair("harbour-lab/tide-tables", "harbour-lab/tide-tables"),
            pair(page, "src/lib.rs"),
            pair(&format!("{page}#L3-L9"), "src/lib.rs L3-L9")
        ]
    );
    let web = request("req-web-session-history.json");
    let file = web.documents().nth(2).unwrap();
    assert!(file.content.starts_with("{\"type\":\"file\""));
}

#[test]
fn the_session_message_is_read() {
    let web = request("req-web-session-history.json");
    let info = web.session_info().unwrap();
    assert_eq!(info.date_time(), Some("2025-02-03 04:05:06"));
    assert_eq!(info.login(), Some("monalisa"));
    let url = info.url().unwrap();
    assert_eq!(
        url,
        "https://github.com/harbour-lab/tide-tables/issues/12#issuecomment-9"
    );
    assert_eq!(info.iter().len(), 3);
    assert_eq!(info.get("nothing"), None);
}
