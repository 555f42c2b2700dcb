"""Three turns with each client for Python at its defaults: client.py SERVER MODEL. Prints one JSON line for each."""

import asyncio
import json
import sys

import agents
import anthropic
import openai

SERVER, MODEL = sys.argv[1:]
PROMPTS = ["How high is the tide at Brest?", "And the tide at Dover?", "Goodbye."]

# The requests to the agent.
sent = []


def record(request):
    if request.url.path.endswith(("/responses", "/messages")):
        sent.append(json.loads(request.content))


async def record_async(request):
    record(request)


given = {"base_url": f"{SERVER}/v1", "api_key": "any"}
hooks = {"event_hooks": {"request": [record]}}
client = openai.OpenAI(**given, http_client=openai.DefaultHttpxClient(**hooks))


def shape(body):
    """What a request has: the types of its items, or how many messages, and what it continues."""
    if "thread" in body:
        tools = ", tools" if "tools" in body and "system" in body else ""
        return f"{body['thread']['type']}: {len(body['messages'])}{tools}"
    items = "message" if isinstance(body["input"], str) else " ".join(item.get("type", "message") for item in body["input"])
    return ("previous: " if body.get("previous_response_id") else "") + ("conversation: " if body.get("conversation") else "") + items


def growing(first, step, turn):
    """The shapes of requests each of which repeats the one before."""
    shapes = [first]
    while len(shapes) < 6:
        shapes.append(f"{shapes[-1]} {step if len(shapes) % 2 else turn}")
    return shapes


def same(found, expected):
    if found != expected:
        raise AssertionError(f"{found!r} instead of {expected!r}")


def check(texts, shapes, system=True, calls=True):
    """Checks what the user has read and what was sent. `recall` calls the tool in each turn, and tells all that it
    knows; `analyst` calls it in two turns, and tells in the third one how many messages it knows."""
    if MODEL == "analyst":
        same(texts[:2], [f"**get_tide** says: 4.2 at {port}\n\n" for port in ("Brest", "Dover")])
        before = f"There are {5 if system else 4} messages before it."
        same((before in texts[2], [shape(body) for body in sent]), (True, shapes[:5]))
        return
    call = " c:get_tide r:4.2 at Brest"

    def whole(last):
        turns = (f"u:{prompt}{call if calls or turn == last else ''}" for turn, prompt in enumerate(PROMPTS[: last + 1]))
        return ("s:Be kind. " if system else "") + " a ".join(turns)

    same((texts, [shape(body) for body in sent]), ([whole(last) for last in range(3)], shapes))


def sdk(options=None, make=None):
    """The turns of the Agents SDK. Without options each one is given the history of the last one."""

    @agents.function_tool
    def get_tide(port: str) -> str:
        """The tide."""
        return f"4.2 at {port}"

    async def turns():
        http_client = openai.DefaultAsyncHttpxClient(event_hooks={"request": [record_async]})
        agents.set_default_openai_client(openai.AsyncOpenAI(**given, http_client=http_client), use_for_tracing=False)
        agent = agents.Agent(name="Assistant", model=MODEL, instructions="Be kind.", tools=[get_tide])
        made = make and make()
        texts, last = [], None
        for prompt in PROMPTS:
            history = last.to_input_list() if last else []
            said = prompt if options else [*history, {"role": "user", "content": prompt}]
            last = await agents.Runner.run(agent, said, **(options(last, made) if options else {}))
            texts.append(last.final_output)
        return texts

    return asyncio.run(turns())


def responses(by):
    """The turns of the OpenAI client. `by` tells how a request continues the response before it."""
    parameters = {
        "type": "object",
        "properties": {"port": {"type": "string"}},
        "required": ["port"],
        "additionalProperties": False,
    }
    tools = [{"type": "function", "name": "get_tide", "description": "The tide.", "strict": True, "parameters": parameters}]
    texts, last = [], None
    for said in PROMPTS:
        while said:
            last = client.responses.create(model=MODEL, tools=tools, input=said, **by(last))
            calls = [item for item in last.output if item.type == "function_call"]
            said = [
                {
                    "type": "function_call_output",
                    "call_id": call.call_id,
                    "output": f"4.2 at {json.loads(call.arguments)['port']}",
                }
                for call in calls
            ]
        texts.append(last.output_text)
    items = [item.type for item in client.responses.input_items.list(last.id)]
    same(items, ["message" if MODEL == "analyst" else "function_call_output"])
    same(client.responses.retrieve(last.id).output_text, texts[2])
    client.responses.delete(last.id)
    try:
        client.responses.retrieve(last.id)
    except openai.NotFoundError:
        return texts
    raise AssertionError("it is there still")


def tool_runner():
    @anthropic.beta_tool
    def get_tide(port: str) -> str:
        """The tide."""
        return f"4.2 at {port}"

    http_client = anthropic.DefaultHttpxClient(**hooks)
    runners = anthropic.Anthropic(base_url=SERVER, api_key="any", http_client=http_client).beta.messages
    messages, texts = [], []
    for prompt in PROMPTS:
        messages.append({"role": "user", "content": prompt})
        runner = runners.tool_runner(
            model=MODEL, max_tokens=1024, system="Be kind.", messages=list(messages), tools=[get_tide]
        )
        said = runner.until_done()
        texts.append("".join(block.text for block in said.content if block.type == "text"))
        messages.append({"role": "assistant", "content": said.content})
    return texts


def after(first, shapes):
    return first + shapes[len(first):]


def named():
    return {"conversation": client.conversations.create().id}


def continued(by):
    return [f"{by}: message", f"{by}: function_call_output"] * 3


EVERYTHING = growing("message", "reasoning function_call function_call_output", "message message")
THREADS = [shape for number in (1, 3, 5) for shape in (f"create: {number}, tools", "continue: 1")]


def by_previous(last):
    return {"previous_response_id": last.id} if last else {}


def by_conversation():
    conversation = named()
    return responses(lambda _: conversation)


CASES = {
    # The program keeps the last message of each turn alone.
    "tool runner of Anthropic": lambda: check(tool_runner(), THREADS, calls=False),
    "openai, `previous_response_id`": lambda: check(
        responses(by_previous), after(["message"], continued("previous")), system=False
    ),
    "openai, `conversation`": lambda: check(by_conversation(), continued("conversation"), system=False),
    "Agents SDK": lambda: check(sdk(), EVERYTHING),
    # It has none in the first turn.
    "Agents SDK, previous response": lambda: check(
        sdk(lambda last, _: {"previous_response_id": last and last.last_response_id}),
        after(EVERYTHING[:2], continued("previous")),
    ),
    "Agents SDK, previous response of itself": lambda: check(
        sdk(lambda last, _: {"previous_response_id": last and last.last_response_id, "auto_previous_response_id": True}),
        after(["message"], continued("previous")),
    ),
    "Agents SDK, conversation": lambda: check(
        sdk(lambda _, made: {"conversation_id": made["conversation"]}, named), continued("conversation")
    ),
    "Agents SDK, session": lambda: check(
        sdk(lambda _, session: {"session": session}, agents.OpenAIConversationsSession), EVERYTHING
    ),
}

for name, run in CASES.items():
    sent.clear()
    fault = None
    try:
        run()
    except Exception as error:  # noqa: BLE001
        fault = f"{type(error).__name__}: {error}".split("\n")[0]
    print(json.dumps({"name": name, "fault": fault}), flush=True)
