"""Goes through every situation with the official Python client. Prints one JSON line for each."""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager

import acp
from acp import schema

PROGRAM, STORE = sys.argv[1:]


class Editor(acp.Client):
    def __init__(self, answer):
        self.answer = answer
        self.seen = []
        self.asked = []

    async def session_update(self, session_id, update, **_):
        self.seen.append((session_id, update))

    async def request_permission(self, options, session_id, tool_call, **_):
        self.asked.append((tool_call, options))
        if self.answer is None:
            return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))
        outcome = schema.AllowedOutcome(outcome="selected", option_id=self.answer)
        return schema.RequestPermissionResponse(outcome=outcome)

    def text(self, session):
        updates = [update for id, update in self.seen if id == session]
        pieces = [it for it in updates if it.session_update == "agent_message_chunk"]
        return "".join(piece.content.text for piece in pieces)

    async def until(self, text):
        while not any(getattr(getattr(it, "content", None), "text", "") == text for _, it in self.seen):
            await asyncio.sleep(0.005)


@asynccontextmanager
async def agent(answer="yes"):
    editor = Editor(answer)
    async with acp.spawn_agent_process(editor, PROGRAM, STORE) as (connection, _):
        hello = await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
        same(hello.protocol_version, 1)
        yield editor, connection


async def session(connection):
    return (await connection.new_session(cwd=os.getcwd(), mcp_servers=[])).session_id


async def prompt(connection, id, text):
    return await connection.prompt(session_id=id, prompt=[acp.text_block(text)])


def same(found, expected):
    assert found == expected, f"{found!r} instead of {expected!r}"


async def a_turn():
    async with agent() as (editor, connection):
        id = await session(connection)
        same((await prompt(connection, id, "hi")).stop_reason, "end_turn")
        same(editor.text(id), "You said: hi")


async def steps_and_tools():
    async with agent() as (editor, connection):
        id = await session(connection)
        await prompt(connection, id, "tool")
        kinds = {update.session_update for _, update in editor.seen}
        expected = {"agent_thought_chunk", "tool_call", "tool_call_update", "agent_message_chunk"}
        assert expected <= kinds, kinds
        run = next(it for _, it in editor.seen if getattr(it, "raw_input", None))
        same((run.raw_input, run.raw_output, run.status), ({"symbol": "A"}, {"price": 1}, "completed"))


async def permission(answer, text):
    async with agent(answer) as (editor, connection):
        id = await session(connection)
        same((await prompt(connection, id, "delete")).stop_reason, "end_turn")
        same(editor.text(id), text)
        same(editor.asked[0][0].title, "Delete the log? It is lost for ever.")


async def cancelled():
    async with agent() as (editor, connection):
        id = await session(connection)
        turn = asyncio.create_task(prompt(connection, id, "hang"))
        await editor.until("half")
        await connection.cancel(session_id=id)
        same((await turn).stop_reason, "cancelled")


async def two_sessions():
    async with agent() as (editor, connection):
        first, second = await session(connection), await session(connection)
        turn = asyncio.create_task(prompt(connection, first, "hang"))
        await prompt(connection, second, "hi")
        same(editor.text(second), "You said: hi")
        await connection.cancel(session_id=first)
        same((await turn).stop_reason, "cancelled")


async def restart():
    async with agent() as (_, connection):
        id = await session(connection)
        await prompt(connection, id, "tool")
    folders = {"session_id": id, "cwd": os.getcwd(), "mcp_servers": []}
    async with agent() as (editor, connection):
        await connection.load_session(**folders)
        same(editor.text(id), "It costs 1.")
        found = await connection.list_sessions()
        assert id in [it.session_id for it in found.sessions]
    async with agent() as (editor, connection):
        await connection.resume_session(**folders)
        same(editor.seen, [])
        await prompt(connection, id, "history")
        same(editor.text(id), "tool|It costs 1.|history")


async def failure(text, shown):
    async with agent() as (editor, connection):
        id = await session(connection)
        try:
            await prompt(connection, id, text)
        except acp.RequestError as error:
            same(str(error), "The market is closed.")
        else:
            raise AssertionError("it did not fail")
        same(editor.text(id), shown)
        await prompt(connection, id, "hi")


async def output():
    async with agent() as (editor, connection):
        id = await session(connection)
        await prompt(connection, id, "print")
        same(editor.text(id), "printed")


UNANSWERED = "The question was not answered, so nothing was done."
CASES = {
    "a turn": a_turn,
    "steps and tools": steps_and_tools,
    "permission granted": lambda: permission("yes", "deleted"),
    "permission refused": lambda: permission("no", "kept"),
    "permission cancelled": lambda: permission(None, UNANSWERED),
    "cancelled in mid-answer": cancelled,
    "two sessions at once": two_sessions,
    "loaded after a restart": restart,
    "failure before an answer": lambda: failure("fail", ""),
    "failure in an answer": lambda: failure("fail late", "half"),
    "output of the agent itself": output,
}

for name, run in CASES.items():
    fault = None
    try:
        asyncio.run(asyncio.wait_for(run(), 20))
    except Exception as error:  # noqa: BLE001
        fault = f"{type(error).__name__}: {error}"[:300]
    print(json.dumps({"name": name, "fault": fault}), flush=True)
