"""Validates what we emit with the models of openbb-ai 2.2.0, and has them serialise requests."""

import json
import pathlib
import sys

from openbb_ai import models

WORK, FIXTURES = (pathlib.Path(path) for path in sys.argv[1:3])

EVENTS = {
    "copilotMessageChunk": models.MessageChunkSSE,
    "copilotFunctionCall": models.FunctionCallSSE,
    "copilotStatusUpdate": models.StatusUpdateSSE,
    "copilotMessageArtifact": models.MessageArtifactSSE,
    "copilotCitationCollection": models.CitationCollectionSSE,
    "copilotPromptSuggestions": models.PromptSuggestionsSSE,
}

# What version 2.2.0 does not model, each with the reason. All of it must really be refused.
NOT_MODELLED = {
    "event copilotTokenUsage": "a draft of the protocol",
    "event copilotConversationSummary": "a draft of the protocol",
    "event copilotNews": "the escape hatch: any event",
    "artifact app": "only newer front ends know it",
    "artifact newest": "the escape hatch: any type of artifact",
    "function execute_client_sql": "only newer front ends know it",
    "function prepare_client_sql_tables": "only newer front ends know it",
}


class Counts:
    passed = failed = 0

    def check(self, good, what):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print("failed:", what)


def blocks(stream):
    """Names and data of a stream as this crate writes it: LF, one line of data."""
    for block in stream.decode().split("\n\n")[:-1]:
        event, data = block.split("\n")
        yield event.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def kind(name, data):
    if name == "copilotMessageArtifact":
        return f"artifact {data['type']}"
    if name == "copilotFunctionCall":
        return f"function {data['function']}"
    return f"event {name}"


def validates(model, value):
    try:
        return model.model_validate(value)
    except ValueError as error:
        return error


def same(name, data, model):
    """What the model read says what we wrote, apart from keys that it filters or does not know."""
    written = json.loads(model.model_dump()["data"])

    def contained(one, other, path):
        if isinstance(one, dict):
            return all(key in other and contained(one[key], other[key], f"{path}.{key}") for key in one)
        if isinstance(one, list):
            return len(one) == len(other) and all(contained(*pair, path) for pair in zip(one, other))
        return one == other

    return contained(written, data, name)


def main():
    counts = Counts()
    unused = set(NOT_MODELLED)
    for path in sorted((WORK / "streams").glob("*.sse")):
        for name, data in blocks(path.read_bytes()):
            what = f"{path.name} {kind(name, data)}"
            model = EVENTS.get(name)
            # The models change what they are given, so they get a copy.
            event = {"event": name, "data": json.loads(json.dumps(data))}
            outcome = validates(model, event) if model else ValueError("no such event")
            if kind(name, data) in NOT_MODELLED:
                unused.discard(kind(name, data))
                counts.check(isinstance(outcome, ValueError), f"{what} is accepted after all")
            elif isinstance(outcome, ValueError):
                counts.check(False, f"{what}: {outcome}")
            else:
                counts.check(same(name, data, outcome), f"{what}: read as something else")
    for what in sorted(unused):
        counts.check(False, f"{what} is listed and was not emitted")

    for path in sorted((WORK / "requests").glob("*.json")):
        body = json.loads(path.read_bytes())
        outcome = validates(models.QueryRequest, body)
        counts.check(isinstance(outcome, models.QueryRequest), f"request {path.name}: {outcome}")
        if isinstance(outcome, models.QueryRequest):
            counts.check(
                outcome.messages[0].content == "hi"
                and str(outcome.widgets.primary[0].uuid) == "4dd0de8d-50cc-ff0a-4dd0-de8d50ccff0a",
                f"request {path.name}: read as something else",
            )

    python = WORK / "python"
    python.mkdir()
    for path in sorted(FIXTURES.glob("req_*.json")):
        outcome = validates(models.QueryRequest, json.loads(path.read_bytes()))
        if isinstance(outcome, models.QueryRequest):
            (python / path.name).write_text(outcome.model_dump_json())
            (python / f"short_{path.name}").write_text(outcome.model_dump_json(exclude_none=True))
    counts.check(len(list(python.iterdir())) >= 20, "the models accept fewer fixtures than known")

    folder = WORK / "counts"
    folder.mkdir(exist_ok=True)
    (folder / "check").write_text(f"{counts.passed} {counts.failed}\n")


main()
