"""Goes through every situation with the official Python client. Prints one JSON line for each."""

import json
import re
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0, timeout=20)
MESSAGES = [{"role": "user", "content": "Hello"}]
TOOLS = [{
    "type": "function",
    "function": {
        "name": "get_tide",
        "description": "The tide.",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"port": {"type": "string"}},
            "required": ["port"],
            "additionalProperties": False,
        },
    },
}]
WORDS = (
    'Hello\n"quoted" \\ \u2028 é 🦀 \n\n**T**\n\n| a |\n| --- |\n| 1 |\n\n\n\n**Error:** half of it\n\n'
    "data: [DONE]\n\nend\n\n**Sources**\n\n- [Source](https://a.example)\n"
)
TWO = [("call_A", "get_tide", '{"n":1}'), ("call_B", "get_tide", '{"n":2}')]
BOTH = [*TOOLS, {"type": "function", "function": {"name": "get_weather", "strict": True, "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False,
}}}]
RELAYED = [("call_A", "get_weather", '{"city":"Brest"}'), ("call_B", "get_tide", '{"port":"Brest"}')]


def iterate(model, **extra):
    return list(client.chat.completions.create(model=model, stream=True, **{"messages": MESSAGES, **extra}))


def helper(model, **extra):
    with client.chat.completions.stream(model=model, **{"messages": MESSAGES, **extra}) as stream:
        return stream.get_final_completion()


def whole(model, **extra):
    return client.chat.completions.create(model=model, messages=MESSAGES, **extra)


def text(chunks):
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def content(completion):
    return completion.choices[0].message.content


def calls(completion):
    return [(c.id, c.function.name, c.function.arguments) for c in completion.choices[0].message.tool_calls]


def failure(run, *args, **extra):
    try:
        run(*args, **extra)
    except Exception as error:  # noqa: BLE001
        return error
    raise AssertionError("it did not fail")


def posted(model, stream):
    """How often a client with its own retries posts for one failing turn."""
    posts = []
    http = openai.DefaultHttpxClient(event_hooks={"request": [posts.append]})
    using = openai.OpenAI(base_url=sys.argv[1], api_key="none", timeout=20, http_client=http)
    failure(lambda: list(using.chat.completions.create(model=model, messages=MESSAGES, stream=stream)))
    return len(posts)


def same(found, expected):
    assert found == expected, f"{found!r} instead of {expected!r}"


def text_iterated():
    chunks = iterate("words")
    same(text(chunks), WORDS)
    same({(c.object, c.model) for c in chunks}, {("chat.completion.chunk", "words")})
    same(len({c.id for c in chunks}), 1)
    same(chunks[-1].choices[0].finish_reason, "stop")


def text_helper():
    completion = helper("words")
    same((content(completion), completion.choices[0].message.role), (WORDS, "assistant"))


def text_whole():
    completion = whole("words")
    same((completion.object, content(completion)), ("chat.completion", WORDS))


def keep_alive():
    same(text(iterate("slow")), "one two three")
    same(content(helper("slow")), "one two three")


def tool_iterated():
    chunks = iterate("tool", tools=TOOLS)
    same(chunks[-1].choices[0].finish_reason, "tool_calls")
    fragments = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
    same([call.function.name for call in fragments], ["get_tide"])


def tool_helper():
    function = helper("tool", tools=TOOLS).choices[0].message.tool_calls[0].function
    same((function.name, function.parsed_arguments), ("get_tide", {"port": "Brest"}))


def tool_whole():
    choice = whole("tool", tools=TOOLS).choices[0]
    same((choice.finish_reason, choice.message.tool_calls[0].function.arguments), ("tool_calls", '{"port":"Brest"}'))


def tool_there_and_back():
    message = helper("tool", tools=TOOLS).choices[0].message
    call = message.tool_calls[0]
    turn = [
        *MESSAGES,
        {"role": "assistant", "content": message.content, "tool_calls": [
            {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}},
        ]},
        {"role": "tool", "tool_call_id": call.id, "content": "4.2 at Brest"},
    ]
    same(content(helper("tool", messages=turn, tools=TOOLS)), "get_tide=4.2 at Brest")


def tool_not_on_offer():
    same(type(failure(iterate, "tool")).__name__, "APIError")


def two_calls_iterated():
    chunks = iterate("calls", tools=TOOLS)
    fragments = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
    same([(call.index, call.id) for call in fragments if call.id], [(0, "call_A"), (1, "call_B")])


def usage_iterated():
    chunks = iterate("usage", stream_options={"include_usage": True})
    same({chunk.usage for chunk in chunks[:-1]}, {None})
    same((chunks[-1].choices, chunks[-1].usage.total_tokens), ([], 29))
    same({chunk.usage for chunk in iterate("usage")}, {None})


def usage_helper():
    usage = helper("usage", stream_options={"include_usage": True}).usage
    same((usage.prompt_tokens, usage.completion_tokens, usage.total_tokens), (19, 10, 29))


def usage_whole():
    usage = whole("usage").usage
    found = (usage.total_tokens, usage.prompt_tokens_details.cached_tokens, usage.completion_tokens_details.reasoning_tokens)
    same(found, (29, 3, 7))


def reasoning():
    thought = 'Two and two "is" \u2028 four.\nOr is it?'
    chunks = iterate("reasoning")
    same(text(chunks), "Four.")
    same("".join(getattr(c.choices[0].delta, "reasoning_content", None) or "" for c in chunks), thought)
    same(chunks[-1].choices[0].finish_reason, "stop")
    for completion in [helper("reasoning"), whole("reasoning")]:
        message = completion.choices[0].message
        same((message.content, message.reasoning_content), ("Four.", thought))
    same(failure(iterate, "reasoning-fails").message, "The model is away.")
    same(failure(whole, "reasoning-fails").status_code, 400)


def refusal():
    same(helper("refusal").choices[0].message.refusal, "I can't help.")
    same(whole("refusal").choices[0].message.refusal, "I can't help.")


def length_and_filter():
    # The helper of this client raises both reasons.
    same(type(failure(helper, "length")).__name__, "LengthFinishReasonError")
    same(type(failure(helper, "filter")).__name__, "ContentFilterFinishReasonError")
    same(iterate("length")[-1].choices[0].finish_reason, "length")
    same(whole("filter").choices[0].finish_reason, "content_filter")


def choices():
    found = [
        (c.message.content, [t.token for t in c.logprobs.content], c.finish_reason)
        for c in sorted(helper("choices", n=2, logprobs=True).choices, key=lambda choice: choice.index)
    ]
    same(found, [("a", ["a"], "stop"), ("bé", ["b", "é"], "stop")])


def fails_iterated():
    error = failure(iterate, "fails")
    same((type(error).__name__, error.message, error.type), ("APIError", "The model is away.", "invalid_request_error"))
    same(type(failure(iterate, "panics")).__name__, "APIError")


def fails_whole():
    error = failure(whole, "fails")
    same((type(error).__name__, error.status_code, error.body["message"]), ("BadRequestError", 400, "The model is away."))


def fails_once():
    found = [posted(model, stream) for model in ["fails", "fails-at-once", "panics"] for stream in [True, False]]
    same(found, [1] * 6)


def relayed():
    completion = helper("relay/calls", tools=BOTH)
    same((calls(completion), completion.model), (RELAYED, "relay/calls"))
    same(calls(whole("relay/calls", tools=BOTH)), RELAYED)


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
        asked = content(helper("confirm"))
        answer = typed.format(code_of(asked))
        turn = [*MESSAGES, {"role": "assistant", "content": asked}, {"role": "user", "content": answer}]
        same(content(helper("confirm", messages=turn)).split("\n")[0], said)


def models():
    found = [(model.id, model.object) for model in client.models.list().data[:2]]
    same(found, [("words", "model"), ("tool", "model")])
    same(client.models.retrieve("relay/calls").id, "relay/calls")


def refused():
    missing = failure(iterate, "nobody")
    same((type(missing).__name__, missing.code, missing.param), ("NotFoundError", "model_not_found", "model"))
    empty = failure(client.chat.completions.create, model="words", messages=[])
    same((type(empty).__name__, empty.type, empty.param), ("BadRequestError", "invalid_request_error", "messages"))


def leaves():
    with client.chat.completions.create(model="slow", messages=MESSAGES, stream=True) as stream:
        for chunk in stream:
            if chunk.choices[0].delta.content:
                break
    same(text(iterate("slow")), "one two three")


CASES = {
    "text, iterated": text_iterated,
    "text, helper": text_helper,
    "text, whole": text_whole,
    "keep-alive comments": keep_alive,
    "tool call, iterated": tool_iterated,
    "tool call, helper": tool_helper,
    "tool call, whole": tool_whole,
    "tool call, there and back": tool_there_and_back,
    "tool not on offer": tool_not_on_offer,
    "two calls, iterated": two_calls_iterated,
    "two calls, helper": lambda: same(calls(helper("calls", tools=TOOLS)), TWO),
    "mixed calls, helper": lambda: same(calls(helper("mixed-calls", tools=TOOLS)), TWO),
    "two calls, whole": lambda: same(calls(whole("calls", tools=TOOLS)), TWO),
    "usage, iterated": usage_iterated,
    "usage, helper": usage_helper,
    "usage, whole": usage_whole,
    "reasoning": reasoning,
    "refusal": refusal,
    "length and filter": length_and_filter,
    "two choices with log probabilities": choices,
    "failure on the way, iterated": fails_iterated,
    "failure on the way, helper": lambda: same(failure(helper, "fails").message, "The model is away."),
    "failure at once": lambda: same(failure(iterate, "fails-at-once").body["message"], "The model is away."),
    "failure, whole": fails_whole,
    "failure, one request with the client's own retries": fails_once,
    "relayed stream": relayed,
    "relayed stream, cut": lambda: same(type(failure(iterate, "relay/cut", tools=BOTH)).__name__, "BadRequestError"),
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
