//! A confirmation on every front end: ask, then act, or not.

use copilot_wire::protocol::{AgentError, Confirmation, Conversation, Protocol, Verdict};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use serde_json::{Value, json};

use super::{FRONT_ENDS, FrontEnd, router};

/// Asks before it switches off the lights, and remembers nothing.
#[derive(Clone)]
struct Lights;

const ID: &str = "lights-1";

#[async_trait]
impl<P: Protocol> Agent<P> for Lights {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        match request.decision() {
            Some(answer) if answer.accepts(ID) => reply.text("The lights are off.").await?,
            Some(answer) if answer.verdict == Verdict::Refused && answer.id == ID => {
                reply.text("The lights stay on.").await?;
            }
            Some(answer) if answer.verdict != Verdict::Other => {
                reply.text("I did not ask that.").await?;
            }
            _ if request
                .prompt()
                .is_some_and(|prompt| prompt.contains("lights")) =>
            {
                let question = "It will be dark.";
                reply.confirm(Confirmation::new(ID, "Switch off the lights?", question))?;
            }
            _ => reply.text("Let us talk.").await?,
        }
        Ok(())
    }
}

/// The next request, once the user has answered the question of `asked` under `id`.
fn answered(front_end: FrontEnd, asked: &str, accepted: bool, id: &str) -> Value {
    let ask = "Switch off the lights";
    if front_end == FrontEnd::GitHub {
        let mut request = front_end.request(&[ask, "", ""]);
        let state = if accepted { "accepted" } else { "dismissed" };
        request["messages"][2]["copilot_confirmations"] =
            json!([{"state": state, "confirmation": {"id": id}}]);
        return request;
    }
    let (_, code) = asked.rsplit_once("reply: yes ").unwrap();
    let yes = format!("Yes {}", &code[..6]);
    let asked = asked.replace(ID, id);
    front_end.request(&[ask, &asked, if accepted { &yes } else { "no" }])
}

/// Asks, and gives the text that the user sees.
fn ask(front_end: FrontEnd, router: &Router) -> String {
    let stream = front_end.post(router, &front_end.request(&["Switch off the lights"]));
    let text = front_end.read(&stream);
    if front_end == FrontEnd::GitHub {
        let confirmation = super::debug_cli::read(&stream)
            .unwrap()
            .confirmation
            .unwrap();
        assert_eq!(confirmation["confirmation"]["id"], ID);
    } else {
        assert!(
            text.contains("Switch off the lights?"),
            "{front_end:?}: {text}"
        );
    }
    text
}

fn told(front_end: FrontEnd, router: &Router, request: &Value) -> String {
    front_end.read(&front_end.post(router, request))
}

#[test]
fn accepted_it_acts_and_dismissed_it_does_not() {
    for front_end in FRONT_ENDS {
        let router = router(Lights);
        let asked = ask(front_end, &router);
        let accepted = answered(front_end, &asked, true, ID);
        assert_eq!(
            told(front_end, &router, &accepted),
            "The lights are off.",
            "{front_end:?}"
        );
        let asked = ask(front_end, &router);
        let dismissed = answered(front_end, &asked, false, ID);
        assert_eq!(
            told(front_end, &router, &dismissed),
            "The lights stay on.",
            "{front_end:?}"
        );
    }
}

#[test]
fn ignored_the_user_talks_on() {
    for front_end in FRONT_ENDS {
        let router = router(Lights);
        let asked = ask(front_end, &router);
        let talk = front_end.request(&["Switch off the lights", &asked, "Tell me a story"]);
        assert_eq!(
            told(front_end, &router, &talk),
            "Let us talk.",
            "{front_end:?}"
        );
    }
}

#[test]
fn an_answer_to_another_question_does_nothing() {
    for front_end in FRONT_ENDS {
        let router = router(Lights);
        let asked = ask(front_end, &router);
        let other = answered(front_end, &asked, true, "doors-7");
        assert_eq!(
            told(front_end, &router, &other),
            "I did not ask that.",
            "{front_end:?}"
        );
    }
}

#[test]
fn an_answer_that_comes_late_does_nothing() {
    for front_end in FRONT_ENDS {
        let router = router(Lights);
        let asked = ask(front_end, &router);
        // The user talked on; only then comes a yes, to nothing in particular.
        let texts = [
            "Switch off the lights",
            &asked,
            "Wait",
            "Let us talk.",
            "yes",
        ];
        let mut late = front_end.request(&texts);
        if front_end == FrontEnd::GitHub {
            late["messages"][2]["copilot_confirmations"] =
                json!([{"state": "accepted", "confirmation": {"id": ID}}]);
        }
        assert_eq!(
            told(front_end, &router, &late),
            "Let us talk.",
            "{front_end:?}"
        );
    }
}
