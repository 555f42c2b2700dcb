"""Asks `wire serve` as the OpenBB Workspace does, with the official models of its protocol. Prints one JSON line for each
situation."""

import json
import re
import sys
import urllib.request

from openbb_ai import models

BASE = sys.argv[1]
EVENTS = {
    "copilotMessageChunk": models.MessageChunkSSE,
    "copilotFunctionCall": models.FunctionCallSSE,
    "copilotStatusUpdate": models.StatusUpdateSSE,
}
WIDGET = models.Widget(origin="Tides", widget_id="tide", name="Tide", description="The tide at Brest.", params=[])


def post(path, body):
    request = urllib.request.Request(BASE + path, body.encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def ask(messages, **more):
    """Returns the text and the calls of an answer, every event of which is one of the protocol's."""
    request = models.QueryRequest(messages=messages, **more)
    with urllib.request.urlopen(f"{BASE}/agents.json", timeout=60) as answer:
        agent = next(iter(json.load(answer).values()))
    stream = post(agent["endpoints"]["query"], request.model_dump_json(exclude_none=True))
    text, calls = "", []
    for block in stream.split("\n\n")[:-1]:
        lines = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if lines:
            event = {"event": lines["event"], "data": json.loads(lines["data"])}
            event = EVENTS[lines["event"]].model_validate(event)
            if event.event == "copilotMessageChunk":
                text += event.data.delta
            elif event.event == "copilotFunctionCall":
                calls.append(event.data)
    return text, calls


def converse(prompt, answer, **more):
    """Asks, has the one call of the answer answered, and returns the call and the text of the answer to its result."""
    messages = [models.LlmClientMessage(role="human", content=prompt)]
    _, calls = ask(messages, **more)
    (call,) = calls
    function = models.LlmClientFunctionCall(function=call.function, input_arguments=call.input_arguments)
    messages.append(models.LlmClientMessage(role="ai", content=function.model_dump_json()))
    data = models.DataContent(items=[models.SingleDataContent(content=answer)])
    messages.append(models.LlmClientFunctionCallResultMessage(
        function=call.function, input_arguments=call.input_arguments, data=[data], extra_state=call.extra_state or {}))
    text, calls = ask(messages, **more)
    assert not calls, calls
    return call, text


def a_tool():
    schema = {"type": "object", "properties": {"port": {"type": "string"}}}
    tool = models.AgentTool(server_id="sea", name="get_tide", url="http://127.0.0.1:9", description="The tide.", input_schema=schema)
    call, text = converse('call get_tide {"port":"Brest"}', "calm at Brest", tools=[tool])
    assert call.function == "execute_agent_tool", call
    assert call.input_arguments["parameters"] == {"port": "Brest"}, call
    assert re.search("says: calm at Brest", text), text


def a_widget():
    # The name by which models call it.
    prompt = "call openbb_widget_tide {}"
    call, text = converse(prompt, '[{"port": "Brest", "tide": "calm"}]', widgets=models.WidgetCollection(primary=[WIDGET]))
    assert call.function == "get_widget_data", call
    assert call.input_arguments["data_sources"][0]["widget_uuid"] == str(WIDGET.uuid), call
    assert "calm" in text, text


for name, situation in {"OpenBB: a tool of the Workspace": a_tool, "OpenBB: the data of a widget": a_widget}.items():
    fault = None
    try:
        situation()
    except Exception as error:  # Of any kind: it is the result.
        fault = f"{type(error).__name__}: {error}"[:200]
    print(json.dumps({"name": name, "fault": fault}))
