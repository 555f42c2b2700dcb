//! Faults that have nothing to do with what is said.

use http::Method;

use super::{Broken, body, by, header, said, status, streaming, then, when, without};
use crate::script::Front::{GitHub, Meilisearch, OpenAi, OpenBb};
use crate::script::{Answer, Head, Piece, is_preflight, says};
use crate::streams::{HELLO, OPENAI};

fn late(mut answer: Answer) -> Answer {
    answer.head = Head::Late;
    answer
}

faults! {
    "http/unreachable" OpenAi by(|asked, mut answer| {
        if asked.has("stream_options") {
            answer.head = Head::Failed;
        }
        answer
    });
    "http/server-error" OpenAi when(|asked| asked.request.body() == "[]", status(500));
    "http/content-type" OpenAi streaming(header("content-type", "text/plain"));
    "http/cache-control" OpenAi without("cache-control");
    "http/content-length" OpenAi streaming(header("content-length", "400"));
    "http/content-encoding" OpenAi streaming(header("content-encoding", "gzip"));
    "http/accel-buffering" OpenAi without("x-accel-buffering");
    "http/late-head" OpenAi by(|_, answer| { if answer.streams { late(answer) } else { answer } });
    "http/buffered" OpenAi by(|_, answer| {
        if answer.streams {
            let text = answer.text();
            late(answer.body(text))
        } else {
            answer
        }
    });
    "http/buffered" OpenAi by(|_, answer| { if answer.streams { late(answer.swap("\n", "\r\n")) } else { answer } });
    "http/collected" OpenAi by(|_, answer| {
        let answer = answer.said(HELLO, &HELLO.repeat(3));
        let text = answer.text();
        answer.pieces([Piece::Late, Piece::Bytes(text.into())])
    });
    "http/silence" OpenAi then(Piece::Never);
    "http/silence" GitHub by(|_, mut answer| {
        answer.head = Head::Never;
        answer
    });
    "http/cut" OpenAi then(Piece::Failed);
    "http/cut" OpenBb by(|asked, answer| {
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
    });
    "http/endless" OpenAi {
        static PING: [u8; 64 * 1024] = {
            let mut ping = [b':'; 64 * 1024];
            ping[64 * 1024 - 2] = b'\n';
            ping[64 * 1024 - 1] = b'\n';
            ping
        };
        then(Piece::Forever(&PING))
    };
    "http/bad-json" OpenAi when(
        |asked| {
            asked.request.body().starts_with(b"{\"messages\":[") && asked.json().is_none()
        },
        status(200),
    );
    "http/refusal" OpenAi when(
        |asked| asked.request.body().is_empty() && asked.request.method() == Method::POST,
        body("<p>no</p>"),
    );
    "http/method" OpenAi when(|asked| asked.request.method() == Method::PUT, status(404));
    "http/unknown-path" OpenAi when(|asked| asked.is(Method::POST, "/there-is-no-such-path"), status(200));
    "http/oversized" OpenAi when(|asked| asked.request.body().len() > 40_000_000, status(200));
    "http/denied" OpenAi by(|asked, answer| {
        if answer.streams || asked.request.method() == Method::POST {
            answer.status(401)
        } else {
            answer
        }
    });
    "http/denied" Meilisearch status(404);
    "http/configured" OpenAi by(|_, answer| {
        let to = "Set OPENAI_API_KEY first.";
        match answer.streams {
            true => answer.body(OPENAI.replace("Hello", to)),
            false => answer.swap("Hello", to),
        }
    });
    "http/disconnect" OpenAi by(|asked, mut answer| {
        if asked.left > 2 {
            answer.head = Head::Never;
        }
        answer
    });
    "cors/preflight" OpenBb when(is_preflight, status(405));
    "cors/headers" OpenBb when(is_preflight, header("access-control-allow-headers", "content-type"));
    "cors/origin" OpenBb streaming(without("access-control-allow-origin"));
    "cors/refusal" OpenBb by(|_, answer| {
        if answer.status.is_client_error() {
            answer.without("access-control-allow-origin")
        } else {
            answer
        }
    });
    "cors/other-origins" OpenBb when(
        |asked| says(asked, "origin") == "http://localhost:1420",
        without("access-control-allow-origin"),
    );
    "cors/private-network" OpenBb when(
        |asked| !says(asked, "access-control-request-private-network").is_empty(),
        status(400),
    );
    "sse/utf8" OpenAi by(|_, answer| {
        if !answer.streams {
            return answer;
        }
        let text = answer.text();
        let (before, after) = text.split_at(text.find("data: [DONE]").unwrap());
        let body = [before.as_bytes(), b": \xff\n\n", after.as_bytes()].concat();
        answer.body(body)
    });
    "sse/bom" OpenAi by(|_, answer| {
        let text = answer.text();
        answer.said(&text, &format!("\u{feff}{text}"))
    });
    "sse/unfinished" OpenBb by(|_, answer| {
        let text = answer.text();
        answer.said(
            &text,
            &format!("{text}event: copilotMessageChunk\ndata: {{\"delta\":\"!\"}}\n"),
        )
    });
    "sse/field" OpenAi said("data: [DONE]", "Data: x\n\ndata: [DONE]");
    "sse/data-lines" OpenAi said(HELLO, &HELLO.replace("\"choices\"", "\ndata: \"choices\""));
    "sse/id" OpenAi said("data: [DONE]", "id: 1\ndata: [DONE]");
    "sse/retry" Meilisearch said("data: [DONE]", "retry: 10000\n\ndata: [DONE]");
    "sse/line-ends" OpenAi said("\n", "\r");
}
