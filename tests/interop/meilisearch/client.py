"""The official Python client: plain iteration over the chunks."""

import json
import pathlib
import sys

import openai

fixtures = pathlib.Path(__file__).parent / "../../../fixtures/meilisearch"
read = lambda name: json.loads((fixtures / name).read_text())
outcomes = read("recorded/expected.json")
tools = read("tools_documented_2026.json")
client = openai.OpenAI(base_url=f"{sys.argv[1]}/chats/films", api_key="key", max_retries=0)


def expected(name):
    outcome = outcomes[name]
    failed = any(error["terminal"] for error in outcome["errors"])
    noted = "".join(
        # The server's own message names its indexes: users read the reason alone.
        "\n\n**Error:** A search failed: there is no such index.\n\n"
        for error in outcome["errors"]
        if not error["terminal"]
    )
    notifications = []
    for frame in (fixtures / f"recorded/{name}/stream.sse").read_bytes().decode().split("\n\n"):
        if frame.startswith("data: {"):
            for choice in json.loads(frame[6:]).get("choices", []):
                for call in choice["delta"]["tool_calls"] or []:
                    notifications.append([call["function"]["name"], json.loads(call["function"]["arguments"])])
    return {
        "text": noted + outcome["text"],
        "refusal": outcome.get("refusal", ""),
        "notifications": notifications,
        "finish": None if failed else outcome["finish_reasons"][-1],
        "failed": failed,
    }


def ask(name):
    got = {"text": "", "refusal": "", "notifications": [], "finish": None, "failed": False}
    messages = [{"role": "user", "content": "Which films are about robots?"}]
    try:
        for chunk in client.chat.completions.create(model=name, messages=messages, tools=tools, stream=True):
            choice = chunk.choices[0]
            got["text"] += choice.delta.content or ""
            got["refusal"] += choice.delta.refusal or ""
            for call in choice.delta.tool_calls or []:
                got["notifications"].append([call.function.name, json.loads(call.function.arguments)])
            got["finish"] = choice.finish_reason or got["finish"]
    except openai.APIError:
        got["failed"] = True
    return got


for name in json.loads((pathlib.Path(__file__).parent / "cases.json").read_text()):
    try:
        got, wanted = ask(name), expected(name)
        fault = next((f"{key}: {got[key]!r:.200} is not {wanted[key]!r:.200}" for key in wanted if got[key] != wanted[key]), None)
    except Exception as error:  # what a client throws is the finding
        fault = repr(error)
    print(json.dumps({"client": "openai-python", "name": name, "fault": fault}))
