"""Lets clients of MCP go through every situation, and prints one table of that and one of their requests.

`cases.py SERVER NODE CLIENT...`: the program `interop-server`, a Node of version 22, and the names of clients, of which
`conformance` is the conformance kit. Any other is a program that connects, lists, calls, cancels and closes as JSON lines tell it: `clients.mjs` or `clients.py`.
"""

import asyncio
import json
import re
import signal
import sys
import urllib.error
import urllib.request
from pathlib import Path

import conformance

HERE = Path(__file__).parent
PYTHON = {"Python 1": ".venv/1", "Python 2": "../.venv", "fastmcp": "../.venv", "LangChain": ".venv/full", "openai-agents": ".venv/full"}
# What a client cannot do, or does not do at its defaults.
WITHOUT = {
    "AI SDK": {"steps as progress", "a stream that is cut is resumed", "20 s with progress"},
    "LangChain": {"unknown tool", "cancel"},
    # It leaves a call after 5 s.
    "openai-agents": {"steps as progress", "20 s with progress", "shut down in the middle of a call"},
}
TEXT_ONLY = {"LangChain", "openai-agents"}


class Tap:
    """Passes bytes on, counts requests, and can cut the stream of a call."""

    def __init__(self, port):
        self.port, self.counts, self.cuts = port, {}, False

    async def open(self):
        self.server = await asyncio.start_server(self.connection, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}/mcp"

    def take(self):
        counts, self.counts = self.counts, {}
        return counts

    async def connection(self, reader, writer):
        try:
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            # The server has stopped.
            return writer.close()
        state = {"armed": False}

        async def up():
            while chunk := await reader.read(65536):
                # Clients send a head only when the response before it is there.
                if method := re.match(rb"(POST|GET|DELETE) ", chunk):
                    name = "resume" if b"\r\nlast-event-id:" in chunk.lower() else method[1].decode()
                    self.counts[name] = self.counts.get(name, 0) + 1
                state["armed"] |= self.cuts and b'"breaks"' in chunk
                up_writer.write(chunk)
                await up_writer.drain()
            up_writer.close()

        async def down():
            while chunk := await up_reader.read(65536):
                writer.write(chunk)
                await writer.drain()
                if state["armed"] and b"id: " in chunk:
                    self.cuts = False
                    await asyncio.sleep(0.1)
                    break
            writer.close()
            up_writer.close()

        await asyncio.gather(up(), down(), return_exceptions=True)
        for end in (writer, up_writer):
            end.close()


class Client:
    def __init__(self, name, node):
        self.name, self.last, self.waiting, self.shown = name, 0, {}, {}
        python = PYTHON.get(name)
        self.command = [HERE / python / "bin/python", HERE / "clients.py"] if python else [node, HERE / "clients.mjs"]

    async def start(self):
        self.process = await asyncio.create_subprocess_exec(
            *self.command, self.name, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, limit=2**24, cwd=HERE
        )
        self.reading = asyncio.create_task(self.read())

    async def read(self):
        while line := await self.process.stdout.readline():
            if not line.startswith(b'{"'):
                continue
            message = json.loads(line)
            if "progress" in message:
                self.shown[message["id"]].append(message)
            else:
                self.waiting.pop(message["id"]).set_result(message)

    def begin(self, do, **rest):
        self.last += 1
        future = asyncio.get_running_loop().create_future()
        self.waiting[self.last], self.shown[self.last] = future, []
        self.process.stdin.write(json.dumps({"id": self.last, "do": do, **rest}).encode() + b"\n")
        return self.last, future

    async def do(self, do, **rest):
        message = await self.begin(do, **rest)[1]
        if "error" in message:
            raise RuntimeError(message["error"])
        return message["result"]

    async def connect(self, url, user="anyone", elicit=None, **headers):
        id, future = self.begin("connect", url=url, elicit=elicit, headers={"authorization": user, **headers})
        message = await future
        if "error" in message:
            raise RuntimeError(message["error"])
        return Connection(self, id)

    async def end(self):
        self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), 10)
        except TimeoutError:
            self.process.kill()


class Connection:
    def __init__(self, client, id):
        self.client, self.id = client, id

    def begin(self, tool, question="Hello", **arguments):
        arguments = {"question": question, **arguments} if question is not None else arguments
        return self.client.begin("call", on=self.id, tool=tool, arguments=arguments)

    async def call(self, tool, question="Hello", **arguments):
        return await self.result(self.begin(tool, question, **arguments))

    async def result(self, call):
        id, future = call
        message = await future
        if "error" in message:
            raise RuntimeError(message["error"])
        parts, is_error = message["result"]["parts"], message["result"]["is_error"]
        if len(parts) != 1 or parts[0]["type"] != "text":
            raise AssertionError(f"parts: {parts}")
        return parts[0]["text"], is_error, self.client.shown[id]

    async def list(self):
        return [tool["name"] for tool in await self.client.do("list", on=self.id)]

    async def close(self):
        await self.client.do("close", on=self.id)


def expect(found, expected):
    if found != expected:
        raise AssertionError(f"{str(found)[:200]!r} instead of {expected!r}")


def contain(text, *parts):
    for part in parts:
        if part not in text:
            raise AssertionError(f"no {part!r} in {text[:300]!r}")


def handle(text):
    return re.search(r'`conversation`: "(\w+)"', text)[1]


async def listed(client, tap):
    tools = await (await client.connect(tap.url)).list()
    expect(tools[:3], ["words", "recall", "confirm"])


async def text(client, tap):
    connection = await client.connect(tap.url)
    text, is_error, _ = await connection.call("words", 'How\t"much"?')
    expect(is_error, False)
    contain(text, 'How\t"much"?\n"quoted" \\ \u2028 é 🦀', "| a |", "| 1 |", "https://a.example", "half of it", "data: [DONE]\n\nend")


async def requests(client, tap):
    connection = await client.connect(tap.url)
    await connection.list()
    await connection.call("words")
    await connection.close()


async def steps(client, tap):
    _, _, shown = await (await client.connect(tap.url)).call("steps")
    numbers = [it["progress"] for it in shown]
    expect(numbers, sorted(set(numbers)))
    messages = [it["message"] for it in shown if it.get("message")]
    expect(list(dict.fromkeys(messages)), ['Reading "the" table', "Ran search", "Writing"])


async def fails(client, tap):
    connection = await client.connect(tap.url)
    text, is_error, _ = await connection.call("fails")
    expect((text, is_error), ("Par\n\nThe model is away.", True))
    # It goes on.
    expect((await connection.call("whoami"))[1], False)


async def panics(client, tap):
    text, is_error, _ = await (await client.connect(tap.url)).call("panics")
    expect(is_error, True)
    contain(text, "Par")


async def unknown(client, tap):
    connection = await client.connect(tap.url)
    try:
        await connection.call("nothing")
    except RuntimeError as error:
        contain(str(error), "unknown tool")
    else:
        raise AssertionError("no error")


async def empty(client, tap):
    connection = await client.connect(tap.url)
    text, is_error, _ = await connection.call("words", " ")
    expect((text, is_error), ("The argument `question` must be a text.", True))


def question(action, expected):
    async def situation(client, tap):
        connection = await client.connect(tap.url, elicit=action)
        for _ in range(2):
            text, is_error, _ = await connection.call("confirm")
            expect((text.split("\n")[0], is_error), (expected, False))

    return situation


async def in_text(client, tap):
    connection = await client.connect(tap.url)
    text, is_error, _ = await connection.call("confirm")
    expect(is_error, False)
    code = re.search(r"reply: yes (\d{6})", text)[1]
    text, _, _ = await connection.call("confirm", f"yes {code}", conversation=handle(text))
    contain(text, "q1 true")


async def continued(client, tap):
    connection = await client.connect(tap.url)
    text, _, _ = await connection.call("recall", "My name is Ann.")
    text, _, _ = await connection.call("recall", "And now?", conversation=handle(text))
    contain(text, "u:My name is Ann. a u:And now?")
    _, is_error, _ = await connection.call("recall", "And now?", conversation="conv_1")
    expect(is_error, True)


async def cancelled(client, tap):
    one, two = await client.connect(tap.url, "a"), await client.connect(tap.url, "b")
    watch = await client.connect(tap.url)

    async def left():
        return (await watch.call("left"))[0].split("\n")[0]

    calls = [connection.begin("waits") for connection in (one, two)]
    await asyncio.sleep(0.5)
    for connection, (id, future) in zip((one, two), calls):
        await client.do("cancel", call=id)
        if client.name in ("Python 1", "openai-agents"):
            # They have nothing else.
            await connection.close()
        expect("error" in await future, True)
        # The other one goes on.
        expect(await left(), "1")


async def users(client, tap):
    """Both call with the same ids at the same time."""
    connections = [await client.connect(tap.url, user) for user in ("a", "b")]
    found = await asyncio.gather(*(connection.call("whoami") for connection in connections for _ in range(3)))
    expect([text.split("\n")[0] for text, _, _ in found], ["a"] * 3 + ["b"] * 3)


async def unauthorized(client, tap):
    try:
        await client.connect(tap.url, "refuse-401")
    except RuntimeError:
        return
    raise AssertionError("connected")


async def foreign(client, tap):
    try:
        connection = await client.connect(tap.url, origin="https://evil.example")
        await connection.call("words")
    except RuntimeError:
        return
    raise AssertionError("served")


async def slow(client, tap):
    text, is_error, shown = await (await client.connect(tap.url)).call("slow", "20")
    expect((text.split("\n")[0], is_error), ("Done.", False))
    contain(str([it.get("message") for it in shown]), "Second 0", "Second 10", "Second 19")


async def resumed(client, tap):
    watch = await client.connect(tap.url)
    connection = await client.connect(tap.url)
    tap.take()
    tap.cuts = True
    text, is_error, _ = await connection.call("breaks")
    counts = tap.take()
    expect((text.split("\n")[0], is_error, tap.cuts), ("Whole.", False, False))
    expect((await watch.call("runs"))[0].split("\n")[0], "1")
    if not counts.get("resume"):
        raise AssertionError(f"requests: {counts}")
    return counts["resume"]


async def drained(client, tap):
    connection = await client.connect(tap.url)
    call = connection.begin("waits")
    await asyncio.sleep(1)
    tap.begun.set()
    text, is_error, _ = await connection.result(call)
    expect(is_error, True)


PLAIN = {
    "list of tools": listed,
    "text, table and sources in one text": text,
    "steps as progress": steps,
    "failure": fails,
    "panic": panics,
    "unknown tool": unknown,
    "no question": empty,
    "question, yes": question("accept", "q1 true"),
    "question, no": question("decline", "q1 false"),
    "question, cancelled": question("cancel", "q1 false"),
    "question of a client without dialogs": in_text,
    "conversation by its handle": continued,
    "cancel": cancelled,
    "two users with the same ids": users,
    "status 401": unauthorized,
    "foreign origin": foreign,
}
TOGETHER = {"20 s with progress": slow, "shut down in the middle of a call": drained}
STORED = {
    "stored: text": text,
    "stored: steps as progress": steps,
    "stored: question, yes": question("accept", "q1 true"),
    "stored: failure": fails,
    "a stream that is cut is resumed": resumed,
}
DIALOGS = ("question, yes", "question, no", "question, cancelled", "stored: question, yes")


def does(client, situation):
    if client in TEXT_ONLY and situation in DIALOGS:
        return False
    name = situation.removeprefix("stored: ")
    return name not in WITHOUT.get(client, ())


async def attempt(work, seconds=120):
    try:
        return None, await asyncio.wait_for(work, seconds)
    except Exception as error:
        return f"{type(error).__name__}: {error}".split("\n")[0][:300], None


def access(port):
    """What a client that gets tokens from an authorization server looks at."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    headers = {"authorization": "refuse-401", "content-type": "application/json"}
    base = f"http://127.0.0.1:{port}"
    document = f"{base}/.well-known/oauth-protected-resource/mcp"
    try:
        urllib.request.urlopen(urllib.request.Request(f"{base}/mcp", body, headers))
        raise AssertionError("served")
    except urllib.error.HTTPError as error:
        expect(error.code, 401)
        expect(error.headers["www-authenticate"], f'Bearer resource_metadata="{document}"')
    found = json.load(urllib.request.urlopen(document))
    expect(found, {"resource": f"{base}/mcp", "authorization_servers": ["https://login.example"], "scopes_supported": ["ask"]})
    headers = {"origin": "https://evil.example", "content-type": "application/json"}
    try:
        urllib.request.urlopen(urllib.request.Request(f"{base}/mcp", body, headers))
        raise AssertionError("served")
    except urllib.error.HTTPError as error:
        expect(error.code, 403)


class Server:
    async def start(self, program, *arguments):
        self.kind = arguments[0]
        self.process = await asyncio.create_subprocess_exec(
            program, *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        self.port = int(await asyncio.wait_for(self.process.stdout.readline(), 20))
        return self

    async def end(self):
        # Either way running calls have five seconds.
        if self.kind == "hyper":
            self.process.stdin.close()
        else:
            self.process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(self.process.wait(), 20)


class Run:
    def __init__(self, program, node, names):
        self.program, self.node = program, node
        self.names = [name for name in names if name != "conformance"]
        self.is_judged = "conformance" in names
        self.faults, self.counts = {}, {}

    def note(self, column, situation, fault):
        self.faults.setdefault(situation, {})[column] = fault

    async def start(self):
        # Once for all servers: the start of a client takes more than what it is asked.
        self.started = [Client(name, self.node) for name in self.names]
        for client in self.started:
            await client.start()

    async def clients(self, server):
        all = [(client, Tap(server.port)) for client in self.started]
        for _, tap in all:
            await tap.open()
        return all

    async def kind(self, kind):
        server = await Server().start(self.program, kind)
        fault, _ = await attempt(asyncio.to_thread(access, server.port))
        self.note(("", kind), "status 401 and 403, and the metadata", fault)
        await self.conformance(kind, server, conformance.SCENARIOS)
        clients = await self.clients(server)
        for client, tap in clients:
            for name, situation in PLAIN.items():
                if does(client.name, name):
                    fault, _ = await attempt(situation(client, tap))
                    self.note((client.name, kind), name, fault)
            tap.take()
            fault, _ = await attempt(requests(client, tap))
            self.counts.setdefault(client.name, {})[kind] = tap.take()
        slow_ones = [(client, tap) for client, tap in clients if does(client.name, "20 s with progress")]
        found = await asyncio.gather(*(attempt(slow(client, tap)) for client, tap in slow_ones))
        for (client, _), (fault, _) in zip(slow_ones, found):
            self.note((client.name, kind), "20 s with progress", fault)
        await self.drain(kind, server, clients)
        server = await Server().start(self.program, kind, "stored")
        await self.conformance(kind, server, conformance.STORED)
        for client, tap in await self.clients(server):
            for name, situation in STORED.items():
                if does(client.name, name):
                    fault, counts = await attempt(situation(client, tap))
                    self.note((client.name, kind), name, fault)
                    if counts:
                        self.counts[client.name][kind]["resume"] = counts
        await server.end()

    async def conformance(self, kind, server, scenarios):
        if not self.is_judged:
            return
        for name, fault in await asyncio.to_thread(conformance.run, self.node, server.port, scenarios):
            self.note(("conformance", kind), name, fault)

    async def drain(self, kind, server, clients):
        able = [(client, tap) for client, tap in clients if does(client.name, "shut down in the middle of a call")]
        for _, tap in able:
            tap.begun = asyncio.Event()
        tasks = [asyncio.create_task(attempt(drained(client, tap))) for client, tap in able]
        await asyncio.wait([asyncio.create_task(tap.begun.wait()) for _, tap in able], timeout=20)
        await server.end()
        for (client, _), task in zip(able, tasks):
            self.note((client.name, kind), "shut down in the middle of a call", (await task)[0])

    def show(self):
        kinds = ("hyper", "actix")
        passed = failed = 0

        def cell(found):
            nonlocal passed, failed
            if not found:
                return "-"
            passed += sum(fault is None for fault in found.values())
            faults = [f"NO, {kind}: {fault}" for kind, fault in found.items() if fault]
            failed += len(faults)
            return "; ".join(faults).replace("|", "/") or "yes"

        print(f"| situation | {' | '.join(self.names)} |\n|---|{'---|' * len(self.names)}")
        others = []
        for situation, faults in self.faults.items():
            if any(column[0] in self.names for column in faults):
                found = [{kind: faults[name, kind] for kind in kinds if (name, kind) in faults} for name in self.names]
                print(f"| {situation} | {' | '.join(map(cell, found))} |")
            else:
                others.append((situation, {column[1]: fault for column, fault in faults.items()}))
        print("\n| without a client, and conformance | |\n|---|---|")
        for situation, found in others:
            print(f"| {situation} | {cell(found)} |")
        if self.is_judged:
            print("\nScenarios of the kit that do not apply:")
        for reason, scenarios in conformance.OTHERS.items() if self.is_judged else ():
            print(f"* {reason}: {', '.join(scenarios)}")
        methods = ("POST", "GET", "DELETE", "resume")
        print(f"\n| client, connect, list, call, close | {' | '.join(methods)} |\n|---|{'---:|' * len(methods)}")
        for name, counts in self.counts.items():
            numbers = [sorted({kind.get(method, 0) for kind in counts.values()}) for method in methods]
            print(f"| {name} | {' | '.join(' or '.join(map(str, it)) for it in numbers)} |")
        print(f"\n{passed} passed, {failed} failed")
        return failed == 0 and passed > 0


async def main():
    program, node, *names = sys.argv[1:]
    run = Run(program, node, names)
    await run.start()
    for kind in ("hyper", "actix"):
        await run.kind(kind)
    for client in run.started:
        await client.end()
    sys.exit(not run.show())


asyncio.run(main())
