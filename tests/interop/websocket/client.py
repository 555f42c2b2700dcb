"""Goes through the situations with the official Python client over a WebSocket. Prints one JSON line for each."""

import json
import sys

from openai import OpenAI

client = OpenAI(base_url=f"{sys.argv[1]}/v1", api_key="none")
ENDS = ("response.completed", "response.incomplete", "response.failed", "error")


def turn(connection, **message):
    connection.response.create(**message)
    events = []
    for event in connection:
        events.append(event)
        if event.type in ENDS:
            return events


def text(events):
    return "".join(event.delta for event in events if event.type == "response.output_text.delta")


def continued():
    with client.responses.connect() as connection:
        first = turn(connection, model="recall", input="My name is Ann.")
        previous = first[-1].response.id
        second = turn(connection, model="recall", input="And now?", previous_response_id=previous)
        assert "Ann" in text(second), text(second)


def unknown():
    with client.responses.connect() as connection:
        last = turn(connection, model="words", input="hi", previous_response_id="resp_none")[-1]
        assert last.type == "error" and last.error.code == "previous_response_not_found", last
        assert turn(connection, model="words", input="hi")[-1].type == "response.completed"


def silent():
    with client.responses.connect() as connection:
        events = turn(connection, model="slow", input="hi")
        assert events[-1].type == "response.completed"
        assert sum(event.type == "response.in_progress" for event in events) > 3


for name, work in {
    "Responses: two turns on one socket, continued by id": continued,
    "Responses: an unknown id is an error, and the socket goes on": unknown,
    "Responses: keep-alive events": silent,
}.items():
    fault = None
    try:
        work()
    except Exception as error:
        fault = f"{type(error).__name__}: {error}".split("\n")[0]
    print(json.dumps({"name": name, "fault": fault}), flush=True)
