//! The Pager in tests and tools.

use bytes::Bytes;
use copilot_wire::json::Wire as _;
use copilot_wire::protocol::{EventDecoder, EventError, Notice, Status};
use copilot_wire::router::Mount;
use copilot_wire_kit::check::{Judge, Rule, Stream, rules};
use copilot_wire_kit::{
    BoxError, Effect, FrontEnd, Next, Node, Sample, Setup, Summary, ToolOutcome, Toolkit, post,
    question,
};
use http::HeaderMap;

use crate::{Event, Line, Pager, PagerRequest, Screen};

/// A Pager that is played.
#[derive(Debug, Default)]
pub struct PagerScreen {
    request: PagerRequest,
    said: String,
    decoder: EventDecoder<Pager>,
}

impl FrontEnd for PagerScreen {
    type Protocol = Pager;

    const PATH: &'static str = "/pager";

    fn prompt(&mut self, text: &str) {
        self.request.lines.push(Line::new("user", text));
    }

    fn request(&self) -> http::Request<Bytes> {
        post(Self::PATH, self.request.to_json())
    }

    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventError> {
        Ok(self.decoder.next(input)?.cloned())
    }

    fn receive(&mut self, event: &Event) -> Vec<Effect> {
        match event {
            Event::Delta { text, .. } => {
                self.said.push_str(text);
                vec![Effect::Text(text.clone())]
            }
            Event::Note(text) => vec![Effect::Status(Status::new(text))],
            Event::Failed(why) => vec![Effect::Error(Notice::new(why))],
            _ => Vec::new(),
        }
    }

    fn next(&mut self) -> Next {
        let ended = std::mem::take(&mut self.decoder).end();
        let said = std::mem::take(&mut self.said);
        let asked = question(&said);
        self.request.lines.push(Line::new("agent", said));
        match ended {
            Ok(()) => asked.map_or(Next::Nothing, Next::Question),
            Err(_) => Next::Broken("the answer is not complete"),
        }
    }

    fn answer(&mut self, _: Vec<ToolOutcome>) {}
}

rules! {
    OPEN_BLOCK = Error "pager/open-block",
        "every block that starts ends",
        "the Pager shows the block as unfinished",
        "end the block before the answer ends";
}

impl Toolkit for Pager {
    const TITLE: &'static str = "The Pager";

    const SAMPLE: Sample =
        Sample::new(r#"{"lines":[{"by":"user","text":"hi"}]}"#, &["/pager"], &[]);

    const RULES: &'static [&'static [&'static Rule]] = &[RULES];

    type FrontEnd = PagerScreen;

    fn front_end(setup: &Setup<'_>) -> Result<PagerScreen, BoxError> {
        let mut screen = PagerScreen::default();
        if let Some(body) = &setup.request {
            screen.request = PagerRequest::from_json(body)?;
        }
        Ok(screen)
    }

    fn describe(event: &Event) -> Summary {
        match event {
            Event::Start(block) => Summary::new("start", block.to_string()),
            Event::Delta { text, .. } => Summary::new("text", text),
            Event::End(block) => Summary::new("end", block.to_string()),
            Event::Note(text) => Summary::new("note", text),
            Event::Beat => Summary::new("beat", ""),
            Event::Other(event) => Summary::new("other", event.text()),
            Event::Done => Summary::new("done", "").last(),
            Event::Failed(why) => Summary::new("failed", why).failed(),
        }
    }

    fn native(_: &PagerRequest, _: &HeaderMap) -> Node {
        Node::None
    }

    fn to_body(request: &PagerRequest) -> Option<Bytes> {
        Some(request.to_json())
    }

    fn mount() -> impl Mount<Protocol = Self> {
        Screen(PagerScreen::PATH)
    }

    fn judge(judge: &mut Judge, stream: &Stream<'_>) {
        let mut open = None;
        for block in &stream.blocks {
            let Some(event) = &block.event else { continue };
            match event.name() {
                "start" => open = Some(block.raw),
                "end" => open = None,
                "done" => {
                    let name = &stream.exchange.name;
                    judge.expect(&OPEN_BLOCK, open.is_none(), name, open.unwrap_or_default());
                }
                _ => {}
            }
        }
    }
}
