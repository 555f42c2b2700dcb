//! The demonstration without an API key.

use autogpt::agent_loop::prompt::Profile;
use autogpt::agent_loop::run::{Answer, End, EventKind, Question};
use autogpt::agent_loop::runner::{Turn, TurnEnd};
use autogpt::memory::store::Conversation;
use autogpt::setup::Setup;

#[tokio::test]
async fn the_demonstration_writes_its_report() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = Setup::new(|_| None);
    setup.workspace = folder.path().to_owned();
    let agent = setup
        .build(Profile::new("Bo", "a helper", &["report"]))
        .unwrap();
    std::fs::write(folder.path().join("a.txt"), "x").unwrap();
    let turn = |id: &str, text: &str| {
        let answer = Answer::Text(text.to_owned());
        Turn::new(Conversation::anonymous("c"), id, answer)
    };
    let mut events = Vec::new();
    let end = agent.turn(turn("1", ""), &mut events).await.unwrap();
    assert!(matches!(end, TurnEnd::Ask(Question::Command(p)) if p.command.name == "write_to_file"));
    assert!(!folder.path().join("report.md").exists());
    let end = agent.turn(turn("2", "y"), &mut events).await.unwrap();
    assert!(matches!(end, TurnEnd::Finish(End::Complete(_))));
    let report = std::fs::read_to_string(folder.path().join("report.md")).unwrap();
    assert_eq!(report, "# Files in the workspace\n\n1 in all.\n\n- a.txt\n");
    let thoughts = events
        .iter()
        .filter(|e| matches!(e.kind, EventKind::Thoughts(_)));
    assert_eq!(thoughts.count(), 4);
}
