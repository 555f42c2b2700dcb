//! Faults that have nothing to do with what is said.

use http::Method;

use super::Broken;
use crate::script::Front::{GitHub, Meilisearch, OpenAi, OpenBb};
use crate::script::{Answer, Head, Piece, is_preflight, says};
use crate::streams::{HELLO, OPENAI};

fn late(mut answer: Answer) -> Answer {
    answer.head = Head::Late;
    answer
}

pub(crate) const FAULTS: &[Broken] = &[
    ("http/unreachable", OpenAi, |asked, mut answer| {
        if asked.has("stream_options") {
            answer.head = Head::Failed;
        }
        answer
    }),
    ("http/server-error", OpenAi, |asked, answer| {
        if asked.request.body() == "[]" {
            answer.status(500)
        } else {
            answer
        }
    }),
    ("http/content-type", OpenAi, |_, answer| {
        if answer.streams {
            answer.header("content-type", "text/plain")
        } else {
            answer
        }
    }),
    ("http/cache-control", OpenAi, |_, answer| {
        answer.without("cache-control")
    }),
    ("http/content-length", OpenAi, |_, answer| {
        if answer.streams {
            answer.header("content-length", "400")
        } else {
            answer
        }
    }),
    ("http/content-encoding", OpenAi, |_, answer| {
        if answer.streams {
            answer.header("content-encoding", "gzip")
        } else {
            answer
        }
    }),
    ("http/accel-buffering", OpenAi, |_, answer| {
        answer.without("x-accel-buffering")
    }),
    ("http/late-head", OpenAi, |_, answer| {
        if answer.streams { late(answer) } else { answer }
    }),
    ("http/buffered", OpenAi, |_, answer| {
        if answer.streams {
            let text = answer.text();
            late(answer.body(text))
        } else {
            answer
        }
    }),
    ("http/buffered", OpenAi, |_, answer| {
        if answer.streams {
            late(answer.swap("\n", "\r\n"))
        } else {
            answer
        }
    }),
    ("http/collected", OpenAi, |_, answer| {
        let answer = answer.said(HELLO, &HELLO.repeat(3));
        let text = answer.text();
        answer.pieces([Piece::Late, Piece::Bytes(text.into())])
    }),
    ("http/silence", OpenAi, |_, answer| {
        answer.then(Piece::Never)
    }),
    ("http/silence", GitHub, |_, mut answer| {
        answer.head = Head::Never;
        answer
    }),
    ("http/cut", OpenAi, |_, answer| answer.then(Piece::Failed)),
    ("http/cut", OpenBb, |asked, answer| {
        let first = asked
            .json()
            .map(|body| body["messages"][0]["content"].clone());
        let first = first.unwrap_or_default();
        if first
            .as_str()
            .is_some_and(|text| text.starts_with("{\"function\":"))
        {
            answer.then(Piece::Failed)
        } else {
            answer
        }
    }),
    ("http/endless", OpenAi, |_, answer| {
        static PING: [u8; 64 * 1024] = {
            let mut ping = [b':'; 64 * 1024];
            ping[64 * 1024 - 2] = b'\n';
            ping[64 * 1024 - 1] = b'\n';
            ping
        };
        answer.then(Piece::Forever(&PING))
    }),
    ("http/bad-json", OpenAi, |asked, answer| {
        if asked.request.body().starts_with(b"{\"messages\":[") && asked.json().is_none() {
            answer.status(200)
        } else {
            answer
        }
    }),
    ("http/refusal", OpenAi, |asked, answer| {
        if asked.request.body().is_empty() && asked.request.method() == Method::POST {
            answer.body("<p>no</p>")
        } else {
            answer
        }
    }),
    ("http/method", OpenAi, |asked, answer| {
        if asked.request.method() == Method::PUT {
            answer.status(404)
        } else {
            answer
        }
    }),
    ("http/unknown-path", OpenAi, |asked, answer| {
        if asked.is(Method::POST, "/there-is-no-such-path") {
            answer.status(200)
        } else {
            answer
        }
    }),
    ("http/oversized", OpenAi, |asked, answer| {
        if asked.request.body().len() > 40_000_000 {
            answer.status(200)
        } else {
            answer
        }
    }),
    ("http/denied", OpenAi, |asked, answer| {
        if answer.streams || asked.request.method() == Method::POST {
            answer.status(401)
        } else {
            answer
        }
    }),
    ("http/denied", Meilisearch, |_, answer| answer.status(404)),
    ("http/configured", OpenAi, |_, answer| {
        let to = "Set OPENAI_API_KEY first.";
        match answer.streams {
            true => answer.body(OPENAI.replace("Hello", to)),
            false => answer.swap("Hello", to),
        }
    }),
    ("http/disconnect", OpenAi, |asked, mut answer| {
        if asked.left > 2 {
            answer.head = Head::Never;
        }
        answer
    }),
    ("cors/preflight", OpenBb, |asked, answer| {
        if is_preflight(asked) {
            answer.status(405)
        } else {
            answer
        }
    }),
    ("cors/headers", OpenBb, |asked, answer| {
        if is_preflight(asked) {
            answer.header("access-control-allow-headers", "content-type")
        } else {
            answer
        }
    }),
    ("cors/origin", OpenBb, |_, answer| {
        if answer.streams {
            answer.without("access-control-allow-origin")
        } else {
            answer
        }
    }),
    ("cors/refusal", OpenBb, |_, answer| {
        if answer.status.is_client_error() {
            answer.without("access-control-allow-origin")
        } else {
            answer
        }
    }),
    ("cors/other-origins", OpenBb, |asked, answer| {
        if says(asked, "origin") == "http://localhost:1420" {
            answer.without("access-control-allow-origin")
        } else {
            answer
        }
    }),
    ("cors/private-network", OpenBb, |asked, answer| {
        if says(asked, "access-control-request-private-network").is_empty() {
            answer
        } else {
            answer.status(400)
        }
    }),
    ("sse/utf8", OpenAi, |_, answer| {
        if !answer.streams {
            return answer;
        }
        let text = answer.text();
        let (before, after) = text.split_at(text.find("data: [DONE]").unwrap());
        let body = [before.as_bytes(), b": \xff\n\n", after.as_bytes()].concat();
        answer.body(body)
    }),
    ("sse/bom", OpenAi, |_, answer| {
        let text = answer.text();
        answer.said(&text, &format!("\u{feff}{text}"))
    }),
    ("sse/unfinished", OpenBb, |_, answer| {
        let text = answer.text();
        answer.said(
            &text,
            &format!("{text}event: copilotMessageChunk\ndata: {{\"delta\":\"!\"}}\n"),
        )
    }),
    ("sse/field", OpenAi, |_, answer| {
        answer.said("data: [DONE]", "Data: x\n\ndata: [DONE]")
    }),
    ("sse/data-lines", OpenAi, |_, answer| {
        answer.said(HELLO, &HELLO.replace("\"choices\"", "\ndata: \"choices\""))
    }),
    ("sse/id", OpenAi, |_, answer| {
        answer.said("data: [DONE]", "id: 1\ndata: [DONE]")
    }),
    ("sse/retry", Meilisearch, |_, answer| {
        answer.said("data: [DONE]", "retry: 10000\n\ndata: [DONE]")
    }),
    ("sse/line-ends", OpenAi, |_, answer| answer.said("\n", "\r")),
];
