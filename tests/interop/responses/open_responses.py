"""Goes through the scenarios of Open Responses (https://www.openresponses.org/compliance), and three more of its
specification, with the types that are made of its schema. Prints one JSON line for each."""

import base64
import json
import struct
import sys
import urllib.error
import urllib.request
import zlib

import openresponses_types as types
import pydantic

BASE, MODEL = sys.argv[1], sys.argv[2]
TOOL = {
    "type": "function",
    "name": "get_weather",
    "description": "Get the current weather for a location",
    "parameters": {
        "type": "object",
        "properties": {"location": {"type": "string", "description": "The city, such as Brest"}},
        "required": ["location"],
    },
}
# The agent calls a tool if it is told to.
WEATHER = 'call get_weather {"location":"Brest"}'


def events_by_type():
    found = {}
    for name in dir(types):
        model = getattr(types, name)
        if name.endswith("StreamingEvent"):
            (kind,) = list(model.model_fields["type"].annotation)
            found[kind.value] = model
    return found


EVENTS = events_by_type()


def png():
    """A red square."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0))
    rows = zlib.compress((b"\0" + b"\xff\0\0" * 8) * 8)
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", rows) + chunk(b"IEND", b"")).decode()


def message(role, content):
    return {"type": "message", "role": role, "content": content}


def post(stream=False, **body):
    request = urllib.request.Request(
        f"{BASE}/responses",
        json.dumps({"model": MODEL, "stream": stream, **body}).encode(),
        {"content-type": "application/json", "authorization": "Bearer none"},
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.read().decode()


def whole(**body):
    response = json.loads(post(**body))
    types.ResponseResource.model_validate(response)
    assert response["output"], "no output"
    assert response["status"] == "completed", response["status"]
    return response


def streamed(**body):
    events = []
    for block in post(stream=True, **body).split("\n\n"):
        data = "\n".join(line.removeprefix("data: ") for line in block.split("\n") if line.startswith("data: "))
        if data and data != "[DONE]":
            events.append(json.loads(data))
    assert events, "no events"
    for event in events:
        EVENTS[event["type"]].model_validate(event)
    numbers = [event["sequence_number"] for event in events]
    assert numbers == sorted(set(numbers)), numbers
    last = events[-1]
    assert last["type"] == "response.completed", last["type"]
    types.ResponseResource.model_validate(last["response"])
    return events


def calls(response):
    return [item for item in response["output"] if item["type"] == "function_call"]


def basic():
    whole(input=[message("user", "Say hello in exactly 3 words.")])


def streaming():
    kinds = {event["type"] for event in streamed(input=[message("user", "Count from 1 to 5.")])}
    assert "response.output_text.delta" in kinds, kinds


def system_prompt():
    whole(input=[message("system", "You are a pirate."), message("user", "Say hello.")])


def tool_calling():
    response = whole(input=[message("user", WEATHER)], tools=[TOOL])
    assert [call["name"] for call in calls(response)] == ["get_weather"], response["output"]


def tool_calling_streaming():
    events = streamed(input=[message("user", WEATHER)], tools=[TOOL])
    for kind in ["response.output_item.added", "response.output_item.done"]:
        items = [event["item"]["type"] for event in events if event["type"] == kind]
        assert "function_call" in items, (kind, items)
    kinds = {event["type"] for event in events}
    assert {"response.function_call_arguments.delta", "response.function_call_arguments.done"} <= kinds, kinds


def image():
    parts = [
        {"type": "input_text", "text": "What do you see?"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{png()}"},
    ]
    whole(input=[message("user", parts)])


def several_turns():
    whole(
        input=[
            message("user", "My name is Alice."),
            message("assistant", "Hello Alice!"),
            message("user", "What is my name?"),
        ]
    )


def result_of_a_tool():
    question = message("user", WEATHER)
    call = calls(whole(input=[question], tools=[TOOL]))[0]
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "calm"}
    whole(input=[question, call, result], tools=[TOOL])


def previous_response():
    first = whole(input=[message("user", "Hello.")], store=True)
    second = whole(input=[message("user", "And now?")], previous_response_id=first["id"])
    # A gateway sends the whole conversation on, and the server of the model does not know the id.
    assert second["previous_response_id"] in (None, first["id"]), second["previous_response_id"]
    assert second["id"] != first["id"], second["id"]


def refusal():
    try:
        post(input=7)
    except urllib.error.HTTPError as refused:
        error = json.loads(refused.read())["error"]
        assert refused.code == 400, refused.code
        assert {"message", "type", "code", "param"} <= set(error), error
        assert error["type"] == "invalid_request_error" and error["param"] == "input", error
    else:
        raise AssertionError("it was accepted")


for case in [
    basic,
    streaming,
    system_prompt,
    tool_calling,
    tool_calling_streaming,
    image,
    several_turns,
    result_of_a_tool,
    previous_response,
    refusal,
]:
    fault = None
    try:
        case()
    except pydantic.ValidationError as error:
        fault = "; ".join(f"{'.'.join(map(str, it['loc']))}: {it['msg']}" for it in error.errors()[:3])
    except Exception as error:  # noqa: BLE001
        fault = f"{type(error).__name__}: {error}"[:300]
    print(json.dumps({"name": f"Open Responses: {case.__name__.replace('_', ' ')}", "fault": fault}))
