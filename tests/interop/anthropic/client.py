"""Goes through every situation with the official Python client. Prints one JSON line for each."""

import json
import re
import sys
import time

import anthropic
import pydantic

URL = sys.argv[1]
client = anthropic.Anthropic(base_url=URL, api_key="none", timeout=20)
BASE = {"max_tokens": 1024, "messages": [{"role": "user", "content": "Hello"}]}
TOOLS = [{
    "name": "get_tide",
    "description": "The tide.",
    "input_schema": {"type": "object", "properties": {"port": {"type": "string"}}},
}]
WORDS = (
    'Hello\n"quoted" \\ \u2028 é 🦀 \n\n**T**\n\n| a |\n| --- |\n| 1 |\n\n\n\n**Error:** half of it\n\n'
    "data: [DONE]\n\nend\n\n**Sources**\n\n- [Source](https://a.example)\n"
)


def iterate(model, **extra):
    return list(client.messages.create(model=model, stream=True, **{**BASE, **extra}))


def final(model, using=client, **extra):
    with using.messages.stream(model=model, **{**BASE, **extra}) as stream:
        return stream.get_final_message()


def whole(model, using=client, **extra):
    return using.messages.create(model=model, **{**BASE, **extra})


def text(message):
    return "".join(block.text for block in message.content if block.type == "text")


def kinds(message):
    return [block.type for block in message.content]


def calls(message):
    return [(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"]


def failure(run, *args, **extra):
    try:
        run(*args, **extra)
    except Exception as error:  # noqa: BLE001
        return error
    raise AssertionError("it did not fail")


def same(found, expected):
    assert found == expected, f"{found!r} instead of {expected!r}"


def posted(model, run):
    """How often a client with its own retries posts for one failing turn, and the error."""
    posts = []
    http = anthropic.DefaultHttpxClient(event_hooks={"request": [posts.append]})
    using = anthropic.Anthropic(base_url=URL, api_key="none", timeout=20, http_client=http)
    error = failure(run, model, using)
    return len(posts), error


def text_iterated():
    events = iterate("words")
    pieces = [event.delta.text for event in events if event.type == "content_block_delta" and event.delta.type == "text_delta"]
    same("".join(pieces), WORDS)
    same((events[0].type, events[0].message.model, events[-1].type), ("message_start", "words", "message_stop"))


def text_helper():
    message = final("words")
    same((kinds(message), text(message), message.stop_reason), (["thinking", "text"], WORDS, "end_turn"))
    same([(c.url, c.title) for c in message.content[1].citations], [("https://a.example", "Source")])


def text_whole():
    message = whole("words")
    same((message.type, kinds(message), text(message)), ("message", ["thinking", "text"], WORDS))


def reasoning():
    message = final("thinks")
    same(message.content[0].thinking, "I should look.\nLooking\n")
    turn = [*BASE["messages"], {"role": "assistant", "content": message.content}, {"role": "user", "content": "And?"}]
    same(text(final("thinks", messages=turn)), "3 messages")


def keep_alive():
    same(text(final("slow")), "one two three")
    alive = [event for event in iterate("slow") if event.type == "message_delta" and event.delta.stop_reason is None]
    assert alive, "nothing was sent in the silence"


def tool_helper():
    message = final("tool", tools=TOOLS)
    same((message.stop_reason, kinds(message)), ("tool_use", ["text", "tool_use"]))
    same(calls(message)[0][1:], ("get_tide", {"port": "Brest"}))


def tool_whole():
    message = whole("tool", tools=TOOLS)
    same((message.stop_reason, calls(message)[0][1:]), ("tool_use", ("get_tide", {"port": "Brest"})))


def tool_there_and_back():
    message = final("tool", tools=TOOLS)
    result = {"type": "tool_result", "tool_use_id": calls(message)[0][0], "content": "4.2 at Brest"}
    turn = [*BASE["messages"], {"role": "assistant", "content": message.content}, {"role": "user", "content": [result]}]
    same(text(final("tool", tools=TOOLS, messages=turn)), "get_tide=4.2 at Brest")
    same(text(whole("tool", tools=TOOLS, messages=turn)), "get_tide=4.2 at Brest")


def two_calls():
    two = [("toolu_A", "get_tide", {"n": 1}), ("toolu_B", "get_tide", {"n": 2})]
    same(calls(final("calls", tools=TOOLS)), two)
    same(calls(whole("calls", tools=TOOLS)), two)


def usage():
    found = final("usage").usage
    same((found.input_tokens, found.output_tokens), (19, 10))
    same(whole("usage").usage.output_tokens, 10)


def length_and_refusal():
    same(final("length").stop_reason, "max_tokens")
    same(final("refusal").stop_reason, "refusal")


def failure_on_the_way():
    posts, error = posted("fails", final)
    same((posts, type(error).__name__), (1, "APIStatusError"))
    assert "The model is away." in str(error), str(error)
    same(posted("panics", final)[0], 1)
    same(posted("overloaded", final)[0], 1)


def failure_at_once():
    posts, error = posted("fails-at-once", final)
    same(posts, 1)
    assert "The model is away." in str(error), str(error)


def failure_whole():
    posts, error = posted("fails", whole)
    same((posts, type(error).__name__, error.status_code), (1, "APIStatusError", 424))
    same(error.body["error"]["message"], "The model is away.")
    assert error.request_id.startswith("req_")


def failure_retryable():
    posts, error = posted("busy", whole)
    same((posts, error.status_code), (3, 503))


def relayed():
    same([call[1:] for call in calls(final("relay/calls", tools=TOOLS))], [("get_tide", {"port": "Brest"})])
    same(len(calls(whole("relay/calls", tools=TOOLS))), 1)


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
        asked = text(final("confirm"))
        answer = typed.format(code_of(asked))
        turn = [*BASE["messages"], {"role": "assistant", "content": asked}, {"role": "user", "content": answer}]
        same(text(final("confirm", messages=turn)).split("\n")[0], said)


def counted():
    same(client.messages.count_tokens(model="words", messages=BASE["messages"]).input_tokens, 2)


def refused():
    posts, missing = posted("nobody", final)
    same((posts, type(missing).__name__, missing.body["error"]["type"]), (1, "NotFoundError", "not_found_error"))
    empty = failure(whole, "words", messages=[])
    same((type(empty).__name__, empty.body["error"]["type"]), ("BadRequestError", "invalid_request_error"))


def leaves():
    def left():
        return int(text(final("left")))

    before = left()
    with client.messages.create(model="waits", stream=True, **BASE) as stream:
        for event in stream:
            if event.type == "content_block_delta":
                break
    for _ in range(100):
        if left() > before:
            return
        time.sleep(0.02)
    raise AssertionError("the agent runs on")


class Tide(pydantic.BaseModel):
    height: float


def tool_runner():
    @anthropic.beta_tool
    def get_tide(port: str) -> str:
        """The tide."""
        return f"4.2 at {port}"

    runner = client.beta.messages.tool_runner(model="tool", tools=[get_tide], **BASE)
    same(text(runner.until_done()), "get_tide=4.2 at Brest")


def formed():
    same(client.messages.parse(model="formed", output_format=Tide, **BASE).parsed_output, Tide(height=4.2))


def listed():
    found = next(model for model in client.models.list() if model.id == "words")
    same((found.type, found.display_name, found.created_at.year), ("model", "words", 1970))
    same(client.models.retrieve("words").id, "words")
    same(failure(client.models.retrieve, "nobody").status_code, 404)


CASES = {
    "text, iterated": text_iterated,
    "text, helper": text_helper,
    "text, whole": text_whole,
    "reasoning and status": reasoning,
    "keep-alive": keep_alive,
    "a tool runner": tool_runner,
    "a list of models": listed,
    "a wanted form": formed,
    "an agent that says nothing": lambda: same(text(final("silent")), "There is no answer."),
    "tool call, helper": tool_helper,
    "tool call, whole": tool_whole,
    "tool call, there and back": tool_there_and_back,
    "two calls": two_calls,
    "tool not on offer": lambda: same(isinstance(failure(final, "tool"), anthropic.APIStatusError), True),
    "usage": usage,
    "length and refusal": length_and_refusal,
    "failure on the way: one request": failure_on_the_way,
    "failure at once: one request": failure_at_once,
    "failure, whole: one request": failure_whole,
    "failure, whole, that may be retried: three requests": failure_retryable,
    "relayed stream": relayed,
    "relayed stream, cut: one request": lambda: same(posted("relay/cut", final)[0], 1),
    "question and answer": question,
    "tokens are counted": counted,
    "refused requests: one request": refused,
    "a client that leaves": leaves,
}

for name, run in CASES.items():
    fault = None
    try:
        run()
    except Exception as error:  # noqa: BLE001
        fault = f"{type(error).__name__}: {error}"
    print(json.dumps({"name": name, "fault": fault}), flush=True)
