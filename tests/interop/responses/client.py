"""Goes through every situation with the official Python client. Prints one JSON line for each."""

import json
import re
import sys
import time

import openai
import pydantic

# With the retries that it has by default.
client = openai.OpenAI(base_url=sys.argv[1], api_key="none", timeout=20)
HELLO = [{"role": "user", "content": "Hello"}]
TOOLS = [{
    "type": "function",
    "name": "get_tide",
    "description": "The tide.",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"port": {"type": "string"}},
        "required": ["port"],
        "additionalProperties": False,
    },
}]
WORDS = (
    'Hello\n"quoted" \\ \u2028 é 🦀 \n\n**T**\n\n| a |\n| --- |\n| 1 |\n\n\n\n**Error:** half of it\n\n'
    "data: [DONE]\n\nend\n\n**Sources**\n\n- [Source](https://a.example)\n"
)
NOTHING = "There is no answer."
TWO = [("call_A", "get_tide", '{"n":1}'), ("call_B", "get_tide", '{"n":2}')]


def iterate(model, **extra):
    return list(client.responses.create(model=model, stream=True, **{"input": HELLO, **extra}))


def helper(model, **extra):
    with client.responses.stream(model=model, **{"input": HELLO, **extra}) as stream:
        return stream.get_final_response()


def whole(model, **extra):
    return client.responses.create(model=model, **{"input": HELLO, **extra})


def text(events):
    return "".join(event.delta for event in events if event.type == "response.output_text.delta")


def calls(response):
    return [(item.call_id, item.name, item.arguments) for item in response.output if item.type == "function_call"]


def failure(run, *args, **extra):
    try:
        run(*args, **extra)
    except Exception as error:  # noqa: BLE001
        return error
    raise AssertionError("it did not fail")


def same(found, expected):
    assert found == expected, f"{found!r} instead of {expected!r}"


def count(model):
    return int(whole(model).output_text)


def once(run, *args, times=1, **extra):
    """What `run` raises or returns, after which the failing agent has run so many times."""
    before = count("runs")
    found = run(*args, **extra)
    same(count("runs") - before, times)
    return found


def text_streamed():
    events = iterate("words")
    same(text(events), WORDS)
    same([event.sequence_number for event in events], list(range(len(events))))
    same((events[0].type, events[-1].type), ("response.created", "response.completed"))
    done = [event.text for event in events if event.type == "response.output_text.done"]
    same((done, events[-1].response.output_text), ([WORDS], WORDS))


def text_helper():
    response = helper("words", instructions="Be kind.")
    same((response.output_text, response.status, response.model), (WORDS, "completed", "words"))


def text_whole():
    same(whole("words", input="Hello").output_text, WORDS)


def reasoning_and_sources():
    reasoning, message = whole("words").output
    same((reasoning.type, reasoning.summary[0].text), ("reasoning", "working"))
    source = message.content[0].annotations[0]
    same((source.type, source.url, source.title), ("url_citation", "https://a.example", "Source"))
    deltas = [event.delta for event in iterate("thinks") if event.type == "response.reasoning_summary_text.delta"]
    same("".join(deltas), "I should look.")


def keep_alive():
    events = iterate("slow")
    assert sum(event.type == "response.in_progress" for event in events) > 3
    same([event.sequence_number for event in events], list(range(len(events))))
    same((text(events), helper("slow").output_text), ("one two three", "one two three"))


def tool_streamed():
    call = helper("tool", tools=TOOLS).output[1]
    same((call.name, call.parsed_arguments), ("get_tide", {"port": "Brest"}))
    done = [event for event in iterate("tool", tools=TOOLS) if event.type == "response.function_call_arguments.done"]
    same([json.loads(event.arguments) for event in done], [{"port": "Brest"}])


def tool_there_and_back():
    response = helper("tool", tools=TOOLS)
    call = response.output[-1]
    turn = [*HELLO, *[item.to_dict() for item in response.output]]
    for item in turn:
        item.pop("parsed_arguments", None)
    turn.append({"type": "function_call_output", "call_id": call.call_id, "output": "4.2 at Brest"})
    same(helper("tool", input=turn, tools=TOOLS).output_text, "get_tide=4.2 at Brest")


def usage():
    for response in [helper("usage"), whole("usage")]:
        found = response.usage
        same((found.input_tokens, found.output_tokens, found.total_tokens), (19, 10, 29))
        same((found.input_tokens_details.cached_tokens, found.output_tokens_details.reasoning_tokens), (3, 7))


def incomplete():
    response = whole("length")
    same((response.status, response.incomplete_details.reason), ("incomplete", "max_output_tokens"))
    same(iterate("length")[-1].type, "response.incomplete")


def fails_on_the_way():
    events = once(iterate, "fails")
    last = events[-1]
    same((text(events), last.type), ("Par", "response.failed"))
    same((last.response.error.code, last.response.error.message), ("invalid_prompt", "The model is away."))
    same(type(once(failure, helper, "fails")).__name__, "RuntimeError")
    same(once(iterate, "panics")[-1].type, "response.failed")


def fails_whole():
    error = once(failure, whole, "fails")
    same((type(error).__name__, error.code, error.body["message"]), ("BadRequestError", "agent_failed", "The model is away."))


def may_be_retried():
    error = once(failure, whole, "away", times=3)
    same((type(error).__name__, error.status_code, error.code), ("InternalServerError", 503, "overloaded"))
    same(once(failure, iterate, "away", times=3).status_code, 503)


def relayed():
    response = helper("relay", tools=TOOLS)
    same(([call[1:] for call in calls(response)], response.model), ([("get_tide", '{"port":"Br\\"est"}')], "relay"))


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
        asked = helper("confirm").output_text
        answer = typed.format(code_of(asked))
        turn = [*HELLO, {"role": "assistant", "content": asked}, {"role": "user", "content": answer}]
        same(helper("confirm", input=turn).output_text.split("\n")[0], said)


def models():
    ids = [model.id for model in client.models.list().data]
    same((ids.count("words"), ids.count("thinks")), (1, 1))
    same(client.models.retrieve("relay/cut").object, "model")


def refused():
    missing = failure(iterate, "nobody")
    same((type(missing).__name__, missing.code, missing.param), ("NotFoundError", "model_not_found", "model"))
    stored = failure(iterate, "words", previous_response_id="resp_1")
    same((type(stored).__name__, stored.code), ("BadRequestError", "previous_response_not_found"))


def leaves():
    before = count("left")
    with client.responses.create(model="slow", input=HELLO, stream=True) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                break
    for _ in range(50):
        if count("left") > before:
            return
        time.sleep(0.1)
    raise AssertionError("the agent was not dropped")


class Tide(pydantic.BaseModel):
    height: float


def formed():
    same(client.responses.parse(model="formed", input=HELLO, text_format=Tide).output_parsed, Tide(height=4.2))


CASES = {
    "text, streamed": text_streamed,
    "text, helper": text_helper,
    "text, whole": text_whole,
    "reasoning and sources": reasoning_and_sources,
    "keep-alive events": keep_alive,
    "tool call, streamed": tool_streamed,
    "tool call, whole": lambda: same(json.loads(calls(whole("tool", tools=TOOLS))[0][2]), {"port": "Brest"}),
    "tool call, there and back": tool_there_and_back,
    "tool not on offer": lambda: same(iterate("tool")[-1].type, "response.failed"),
    "two calls": lambda: same((calls(helper("calls", tools=TOOLS)), calls(whole("calls", tools=TOOLS))), (TWO, TWO)),
    "usage": usage,
    "incomplete": incomplete,
    "a wanted form": formed,
    "nothing said": lambda: same((helper("nothing").output_text, whole("nothing").output_text), (NOTHING, NOTHING)),
    "failure on the way: one run": fails_on_the_way,
    "failure at once: one run": lambda: same(once(failure, iterate, "fails-at-once").body["message"], "The model is away."),
    "failure, whole: one run": fails_whole,
    "failure that may be retried": may_be_retried,
    "relayed stream": relayed,
    "relayed stream, cut": lambda: same(iterate("relay/cut", tools=TOOLS)[-1].type, "response.failed"),
    "question and answer": question,
    "models": models,
    "refused requests": refused,
    "a client that leaves": leaves,
}

for name, run in CASES.items():
    fault = None
    try:
        run()
    except Exception as error:  # noqa: BLE001
        fault = f"{type(error).__name__}: {error}"
    print(json.dumps({"name": name, "fault": fault}), flush=True)
