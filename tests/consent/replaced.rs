//! Questions whose router is replaced before they are answered.

use super::{Asker, Server, code};

fn server(secret: Option<u8>) -> Server {
    let agent = Asker::new("Delete all files?", "rm -rf thesis");
    Server::with(&agent, |router| match secret {
        Some(byte) => router.secret([byte; 32]),
        None => router,
    })
}

#[test]
fn a_question_of_before_is_answered_once_unless_the_secret_is_another() {
    for (before, after, is_known) in [
        (None, None, true),
        (Some(1), None, true),
        (Some(1), Some(1), true),
        (Some(1), Some(2), false),
        (None, Some(2), false),
    ] {
        let one = server(before);
        let used = one.post(&["a"]);
        let yes = format!("yes {}", code(&used));
        assert_eq!(one.post(&["a", &used, &yes]), "Accepted delete-1");
        let open = one.post(&["b"]);
        one.router.replace(server(after).router);
        let again = one.post(&["a", &used, &yes]);
        assert_eq!(again == "Used delete-1", is_known, "{again}");
        let yes = format!("yes {}", code(&open));
        for verdict in ["Accepted delete-1", "Used delete-1"] {
            let answer = one.post(&["b", &open, &yes]);
            assert_eq!(answer == verdict, is_known, "{answer}");
            assert!(is_known || !answer.starts_with("Accepted"), "{answer}");
        }
    }
}
