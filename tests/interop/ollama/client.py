"""Goes through every situation with the official Python client. Prints one JSON line for each."""

import json
import re
import socket
import sys
import threading

import ollama

URL = sys.argv[1]
client = ollama.Client(host=URL, timeout=20)
MESSAGES = [{"role": "user", "content": "Hello"}]
TOOLS = [{
    "type": "function",
    "function": {
        "name": "get_tide",
        "description": "The tide.",
        "parameters": {"type": "object", "properties": {"port": {"type": "string"}}},
    },
}]
WORDS = (
    'Hello\n"quoted" \\ \u2028 é 🦀 \n\n**T**\n\n| a |\n| --- |\n| 1 |\n\n\n\n**Error:** half of it\n\n'
    "data: [DONE]\n\nend\n\n**Sources**\n\n- [Source](https://a.example)\n"
)


def stream(model, using=client, **extra):
    return list(using.chat(model=model, stream=True, **{"messages": MESSAGES, **extra}))


def whole(model, **extra):
    return client.chat(model=model, **{"messages": MESSAGES, **extra})


def text(pieces):
    return "".join(piece.message.content for piece in pieces)


def thinking(pieces):
    return "".join(piece.message.thinking or "" for piece in pieces)


def calls(pieces):
    found = [call for piece in pieces for call in piece.message.tool_calls or []]
    return [(call.function.name, call.function.arguments) for call in found]


def failure(run, *args, **extra):
    try:
        run(*args, **extra)
    except Exception as error:  # noqa: BLE001
        return error
    raise AssertionError("it did not fail")


def same(found, expected):
    assert found == expected, f"{found!r} instead of {expected!r}"


def text_streamed():
    pieces = stream("words")
    same(text(pieces), WORDS)
    same({(piece.model, piece.message.role) for piece in pieces}, {("words", "assistant")})
    same([piece.done for piece in pieces], [False] * (len(pieces) - 1) + [True])
    same(pieces[-1].done_reason, "stop")
    assert pieces[-1].total_duration > 0


def text_whole():
    answer = whole("words")
    same((text([answer]), answer.done, answer.done_reason), (WORDS, True, "stop"))


def keep_alive():
    pieces = stream("slow")
    same(text(pieces), "one two three")
    assert any(not piece.done and not piece.message.content for piece in pieces), "nothing was sent in the silence"


def tool_there_and_back():
    def get_tide(port: str) -> str:
        """The tide.

        Args:
          port: The port.
        """
        return f"4.2 at {port}"

    # This client makes the schema of a function.
    same(calls(stream("tool", tools=[get_tide])), [("get_tide", {"port": "Brest"})])

    for ask in [lambda **extra: stream("tool", **extra), lambda **extra: [whole("tool", **extra)]]:
        pieces = ask(tools=TOOLS)
        same((text(pieces), calls(pieces)), ("One moment. ", [("get_tide", {"port": "Brest"})]))
        asked = next(piece.message for piece in pieces if piece.message.tool_calls)
        result = {"role": "tool", "tool_name": "get_tide", "content": "4.2 at Brest"}
        same(text(ask(tools=TOOLS, messages=[*MESSAGES, asked, result])), "get_tide=4.2 at Brest")


def two_calls():
    pieces = stream("calls", tools=TOOLS)
    same(calls(pieces), [("get_tide", {"n": 1}), ("get_tide", {"n": 2})])
    asked = next(piece.message for piece in pieces if piece.message.tool_calls)
    results = [{"role": "tool", "tool_name": "get_tide", "content": content} for content in ["low", "high"]]
    same(text(stream("calls", tools=TOOLS, messages=[*MESSAGES, asked, *results])), 'get_tide{"n":1}=low get_tide{"n":2}=high')


def reasoning():
    pieces = stream("thinks", think=True)
    same((thinking(pieces), text(pieces)), ("Two and two is four.", "Four."))
    answer = whole("thinks", think="high")
    same((answer.message.thinking, answer.message.content), ("Two and two is four.", "Four."))
    same(thinking(stream("thinks", think=False)), "")


def images():
    seen = [{"role": "user", "content": "What is it?", "images": [b"hi", "aG8="]}]
    same(text(stream("sees", messages=seen)), "aGk=aG8=")


def usage_and_length():
    last = stream("usage")[-1]
    same((last.prompt_eval_count, last.eval_count), (19, 10))
    same(whole("usage").eval_count, 10)
    same((stream("length")[-1].done_reason, whole("length").done_reason), ("length", "length"))


def formed():
    schema = {"type": "object", "properties": {"height": {"type": "number"}}}
    same(text(stream("formed", format=schema, options={"temperature": 0})), '{"height":4.2}')


def told(error, status, message="The model is away."):
    same((type(error).__name__, error.status_code, error.error), ("ResponseError", status, message))


def failure_in_the_stream():
    told(failure(stream, "fails"), -1)
    same(type(failure(stream, "panics")).__name__, "ResponseError")


def failure_before_the_stream():
    told(failure(stream, "fails-at-once"), 400)
    told(failure(stream, "busy"), 503, "Busy.")


def failure_whole():
    told(failure(whole, "fails"), 400)


def refused():
    told(failure(stream, "nobody"), 404, "model: no such model")
    told(failure(whole, "nobody"), 404, "model: no such model")
    same(type(failure(stream, "tool")).__name__, "ResponseError")


def pass_on(near, far):
    try:
        while piece := near.recv(65536):
            far.sendall(piece)
    except OSError:
        pass  # The other thread has cut it.


def cutting(size):
    """A proxy for one connection, which is cut after this number of bytes. Returns its port."""
    host, port = URL.removeprefix("http://").split(":")
    server = socket.create_server(("127.0.0.1", 0))

    def run():
        near, _ = server.accept()
        far = socket.create_connection((host, int(port)))
        threading.Thread(target=pass_on, args=(near, far), daemon=True).start()
        left = size
        while left > 0:
            piece = far.recv(left)
            left -= len(piece)
            near.sendall(piece)
        for each in [near, far]:
            each.shutdown(socket.SHUT_RDWR)
            each.close()
        server.close()

    threading.Thread(target=run, daemon=True).start()
    return server.getsockname()[1]


def cut():
    using = ollama.Client(host=f"http://127.0.0.1:{cutting(500)}", timeout=20)
    same(type(failure(stream, "slow", using)).__name__, "RemoteProtocolError")


# What a user types at a question, by the code on its line, and the first line of the answer to that.
TYPED = [
    ("Yes {}.", "q1 true"),
    ("no", "q1 false"),
    ("yes", "Your answer does not have the code of the question, so nothing was done."),
]


def code_of(asked):
    return re.search(r" To agree, reply: yes (\d{6})\. To refuse, reply: no\. \(q1 cw\w{19}\)$", asked)[1]


def question():
    for typed, said in TYPED:
        asked = text(stream("confirm"))
        answer = typed.format(code_of(asked))
        turn = [*MESSAGES, {"role": "assistant", "content": asked}, {"role": "user", "content": answer}]
        same(text(stream("confirm", messages=turn)).split("\n")[0], said)


def models():
    found = client.list().models
    same([model.model for model in found[:2]], ["words", "tool"])
    same(found[0].modified_at.year, 1970)
    shown = client.show("words:latest")
    same((shown.modelinfo, "tools" in shown.capabilities), ({}, True))
    told(failure(client.show, "nobody"), 404, "model: no such model")


def leaves():
    pieces = client.chat(model="slow", messages=MESSAGES, stream=True)
    same(next(pieces).message.content, "one ")
    pieces.close()
    same(text(stream("slow")), "one two three")


CASES = {
    "text, streamed": text_streamed,
    "text, whole": text_whole,
    "keep-alive": keep_alive,
    "tool call, there and back, streamed and whole": tool_there_and_back,
    "two calls of one tool, with results": two_calls,
    "reasoning": reasoning,
    "images": images,
    "usage and length": usage_and_length,
    "a wanted form": formed,
    "failure in the stream": failure_in_the_stream,
    "failure before the stream": failure_before_the_stream,
    "failure, whole": failure_whole,
    "refused requests": refused,
    "a connection that is cut": cut,
    "question and answer": question,
    "list, show and version": models,
    "a client that leaves": leaves,
}

for name, run in CASES.items():
    fault = None
    try:
        run()
    except Exception as error:  # noqa: BLE001
        fault = f"{type(error).__name__}: {error}"
    print(json.dumps({"name": name, "fault": fault}), flush=True)
