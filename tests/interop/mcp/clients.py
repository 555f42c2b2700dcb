"""A client of the Python libraries that a script drives: JSON lines in and out, see cases.py. `clients.py NAME`"""

import asyncio
import contextlib
import json
import sys

NAME = sys.argv[1]


def write(**message):
    print(json.dumps(message), flush=True)


def response(kind, action):
    return kind(action=action, content={} if action == "accept" else None)


def plain(result):
    parts = [part.model_dump(mode="json", by_alias=True, exclude_none=True) for part in result.content]
    is_error = result.is_error if hasattr(result, "is_error") else result.isError
    return {"parts": parts, "is_error": bool(is_error)}


@contextlib.asynccontextmanager
async def python1(url, headers, elicit):
    import httpx
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client
    from mcp.types import ElicitResult

    async def answer(*_):
        return response(ElicitResult, elicit)

    # The limits of its own client, which takes no headers.
    http = httpx.AsyncClient(headers=headers, follow_redirects=True, timeout=httpx.Timeout(30, read=300))
    async with http, streamable_http_client(url, http_client=http) as (reader, writer, _):
        async with ClientSession(reader, writer, elicitation_callback=answer if elicit else None) as session:
            await session.initialize()

            async def call(tool, arguments, progress):
                return plain(await session.call_tool(tool, arguments, progress_callback=progress))

            yield session.list_tools, call


@contextlib.asynccontextmanager
async def python2(url, headers, elicit):
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.types import ElicitResult

    async def answer(*_):
        return response(ElicitResult, elicit)

    http = httpx2.AsyncClient(headers=headers, follow_redirects=True, timeout=httpx2.Timeout(30, read=300))
    transport = streamable_http_client(url, http_client=http)
    async with http, Client(transport, elicitation_callback=answer if elicit else None) as client:

        async def call(tool, arguments, progress):
            return plain(await client.call_tool(tool, arguments, progress_callback=progress))

        yield client.list_tools, call


@contextlib.asynccontextmanager
async def fastmcp(url, headers, elicit):
    from fastmcp import Client
    from fastmcp.client.elicitation import ElicitResult
    from fastmcp.client.transports import StreamableHttpTransport

    async def answer(*_):
        return response(ElicitResult, elicit)

    handler = {"elicitation_handler": answer} if elicit else {}
    async with Client(StreamableHttpTransport(url, headers=headers), **handler) as client:

        async def call(tool, arguments, progress):
            return plain(await client.call_tool_mcp(tool, arguments, progress_handler=progress))

        yield client.list_tools, call


@contextlib.asynccontextmanager
async def langchain(url, headers, _):
    from langchain_mcp_adapters.callbacks import Callbacks
    from langchain_mcp_adapters.client import MultiServerMCPClient

    listeners = []

    async def on_progress(progress, total, message, _):
        for listener in listeners:
            await listener(progress, total, message)

    server = {"transport": "streamable_http", "url": url, "headers": headers}
    client = MultiServerMCPClient({"interop": server}, callbacks=Callbacks(on_progress=on_progress))
    tools = {tool.name: tool for tool in await client.get_tools()}

    async def list_tools():
        return list(tools.values())

    async def call(tool, arguments, progress):
        listeners[:] = [progress]
        # What a model gets; a failure is an exception.
        message = await tools[tool].ainvoke({"type": "tool_call", "id": "1", "name": tool, "args": arguments})
        return {"parts": message.content, "is_error": message.status == "error"}

    yield list_tools, call


@contextlib.asynccontextmanager
async def agents(url, headers, _):
    from agents.mcp import MCPServerStreamableHttp

    async with MCPServerStreamableHttp({"url": url, "headers": headers}) as server:

        async def call(tool, arguments, _):
            return plain(await server.call_tool(tool, arguments))

        yield server.list_tools, call


CLIENTS = {"Python 1": python1, "Python 2": python2, "fastmcp": fastmcp, "LangChain": langchain, "openai-agents": agents}
connections, calls = {}, {}


async def hold(message, ready, end):
    """Holds a connection, which is opened and closed by one task."""
    try:
        async with CLIENTS[NAME](message["url"], message["headers"], message["elicit"]) as connection:
            ready.set_result(connection)
            await end.wait()
    except BaseException as error:
        if not ready.done():
            ready.set_exception(RuntimeError(inner(error)))


def inner(error):
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


async def work(message):
    kind = message["do"]
    if kind == "connect":
        ready, end = asyncio.get_running_loop().create_future(), asyncio.Event()
        task = asyncio.create_task(hold(message, ready, end))
        connections[message["id"]] = (await ready, end, task)
        return None
    if kind == "cancel":
        calls[message["call"]].cancel()
        return None
    (list_tools, call), end, task = connections[message["on"]]
    if kind == "close":
        end.set()
        return await task
    if kind == "list":
        listed = await list_tools()
        return [{"name": tool.name} for tool in getattr(listed, "tools", listed)]

    async def progress(number, _, text):
        write(id=message["id"], progress=number, message=text)

    calls[message["id"]] = asyncio.current_task()
    return await call(message["tool"], message["arguments"], progress)


async def answer(message):
    try:
        write(id=message["id"], result=await work(message))
    except asyncio.CancelledError:
        write(id=message["id"], error="cancelled")
    except BaseException as error:
        write(id=message["id"], error=inner(error))


async def main():
    tasks = set()
    while line := await asyncio.to_thread(sys.stdin.readline):
        tasks.add(asyncio.create_task(answer(json.loads(line))))
    # Nothing that is still open matters.
    sys.stdout.flush()


asyncio.run(main())
