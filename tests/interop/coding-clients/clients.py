"""Runs the coding clients against a server, through a proxy that counts their requests."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HERE = Path(__file__).parent
PATIENCE = 180


class Server:
    """The example server. With a model that refuses every request, every turn fails."""

    def __init__(self, program, model=None):
        env = {"PATH": os.environ["PATH"], "GITHUB_SIGNATURES": "off"}
        if model:
            env["OPENAI_BASE_URL"] = model
        self.process = subprocess.Popen(
            [program, "--port", "0"], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        line = self.process.stdout.readline()
        self.port = int(re.search(r":(\d+)\s*$", line)[1])
        threading.Thread(target=self.process.stdout.read, daemon=True).start()


class Gateway:
    """`wire serve` in front of a server that speaks every dialect."""

    def __init__(self, program, port, dialect, *more):
        upstream = ["--upstream", f"http://127.0.0.1:{port}", "--dialect", dialect, "--catch-all", *more]
        self.process = subprocess.Popen(
            [program, "serve", "--listen", "127.0.0.1:0", *upstream], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True
        )
        self.port = int(re.search(r":(\d+)\s*$", self.process.stdout.readline())[1])
        threading.Thread(target=self.process.stdout.read, daemon=True).start()


class Interop:
    """The server of the interoperability tests."""

    def __init__(self, program):
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.port = int(self.process.stdout.readline())
        threading.Thread(target=self.process.stdout.read, daemon=True).start()


class Proxy(ThreadingHTTPServer):
    """Passes requests on as they are, answers piece by piece, and counts what runs an agent."""

    daemon_threads = True

    def __init__(self, port):
        super().__init__(("127.0.0.1", 0), Handler)
        self.upstream, self.posts, self.titles, self.left, self.messages = port, 0, 0, 0, 0
        self.begun = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def pass_on(self):
        if self.headers.get("upgrade", "").lower() == "websocket":
            return self.pass_on_messages()
        length = int(self.headers.get("content-length", 0))
        body = self.rfile.read(length)
        if self.command == "POST" and self.path == "/mcp":
            self.server.messages += 1
        elif self.command == "POST" and "count_tokens" not in self.path:
            self.server.posts += 1
            self.server.titles += b"Generate a title" in body or b"title generator" in body
        upstream = http.client.HTTPConnection("127.0.0.1", self.server.upstream)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
        headers["Host"] = "localhost"
        upstream.request(self.command, self.path, body, headers)
        answer = upstream.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection"):
                self.send_header(name, value)
        self.end_headers()
        try:
            while piece := answer.read1(65536):
                self.wfile.write(piece)
                self.wfile.flush()
                if self.command == "POST":
                    self.server.begun.set()
        except ConnectionError:
            self.server.left += 1

    def pass_on_messages(self):
        """Passes on what both sides of a WebSocket send, and counts the messages that run an agent."""
        self.close_connection = True
        with socket.create_connection(("127.0.0.1", self.server.upstream)) as upstream:
            # Without compression, so that the messages can be read.
            headers = {name: value for name, value in self.headers.items() if name.lower() != "sec-websocket-extensions"}
            headers["Host"] = "localhost"
            lines = [f"{self.command} {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
            upstream.sendall("".join(f"{line}\r\n" for line in [*lines, ""]).encode())
            self.is_running = False
            answers = threading.Thread(target=self.pass_on_answers, args=[upstream], daemon=True)
            answers.start()
            with contextlib.suppress(ConnectionError, EOFError):
                while True:
                    frame, text = read_frame(self.rfile)
                    message = json.loads(text) if text else {}
                    if message.get("type") == "response.create" and message.get("generate", True):
                        self.server.posts += 1
                        self.is_running = True
                    upstream.sendall(frame)
            self.server.left += self.is_running
            upstream.shutdown(socket.SHUT_RDWR)
            answers.join()

    def pass_on_answers(self, upstream):
        last = b""
        with contextlib.suppress(ConnectionError):
            while piece := upstream.recv(65536):
                last = last[-100:] + piece
                if self.is_running:
                    self.server.begun.set()
                    self.is_running = not re.search(rb'"type":"(response\.(completed|incomplete|failed)|error)"', last)
                self.connection.sendall(piece)

    do_GET = do_HEAD = do_POST = do_DELETE = pass_on

    def log_message(self, *_):
        pass


def read_frame(file):
    """Returns a frame of a client as it is, and the text of its message, if that is whole."""

    def read(length):
        data = file.read(length)
        if len(data) < length:
            raise EOFError
        return data

    head = read(2)
    length = head[1] & 127
    if length > 125:
        more = read(2 if length == 126 else 8)
        head, length = head + more, int.from_bytes(more, "big")
    mask, payload = read(4), read(length)
    is_text = head[0] == 0x81
    text = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload)) if is_text else None
    return head + mask + payload, text


def codex(base, prompt, model="analyst", key="any", is_custom=True, resume=()):
    provider = f'{{name="lab",base_url="{base}/v1",wire_api="responses",env_key="LAB_KEY"}}'
    custom = ["-c", "model_provider=lab", "-c", f"model_providers.lab={provider}"]
    # With the provider that is built in it opens a WebSocket.
    builtin = ["-c", f'openai_base_url="{base}/v1"']
    return (
        ["node_modules/.bin/codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        + ["-m", model, *(custom if is_custom else builtin), *resume, prompt],
        {"LAB_KEY": key, "CODEX_API_KEY": key},
    )


codex_builtin = partial(codex, is_custom=False)


def copilot(dialect):
    def run(base, prompt, model="analyst", key="any"):
        kind, path = ("anthropic", "") if dialect == "anthropic" else ("openai", "/v1")
        env = {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_TYPE": kind,
            "COPILOT_PROVIDER_BASE_URL": base + path,
            "COPILOT_PROVIDER_API_KEY": key,
            "COPILOT_MODEL": model,
        }
        if kind == "openai":
            env["COPILOT_PROVIDER_WIRE_API"] = dialect
        return ["node_modules/.bin/copilot", "-p", prompt, "--allow-all-tools"], env

    return run


def claude(base, prompt, model="analyst", key="any"):
    binary = next(HERE.glob("node_modules/@anthropic-ai/claude-code-linux-*/claude"))
    env = {
        "ANTHROPIC_BASE_URL": base,
        "ANTHROPIC_API_KEY": key,
        "ANTHROPIC_MODEL": model,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        # Newer versions offer the tools of MCP only to a model that searches for them.
        "ENABLE_TOOL_SEARCH": "false",
        "IS_SANDBOX": "1",
    }
    return [str(binary), "-p", prompt, "--dangerously-skip-permissions"], env


CLIENTS = {
    "Codex": (codex, 'call exec_command {"cmd":"echo tide-$((40+2))"}'),
    "Codex, built-in provider": (codex_builtin, 'call exec_command {"cmd":"echo tide-$((40+2))"}'),
    "Copilot, chat completions": (copilot("completions"), 'call bash {"command":"echo tide-$((40+2))","description":"x"}'),
    "Copilot, Responses": (copilot("responses"), 'call bash {"command":"echo tide-$((40+2))","description":"x"}'),
    "Copilot, Messages": (copilot("anthropic"), 'call bash {"command":"echo tide-$((40+2))","description":"x"}'),
    "Claude Code": (claude, 'call Bash {"command":"echo tide-$((40+2))","description":"x"}'),
}


def new_home():
    return tempfile.TemporaryDirectory(ignore_cleanup_errors=True)


def run(client, port, prompt, interrupt=False, patience=PATIENCE, tools=False, home=None):
    """Returns what a client shows, how many requests it makes, how many answers it leaves, and with `tools` how many messages
    of MCP it posts.

    `client` returns its command, its environment, and optionally files for its home, which is a new one by default."""
    proxy = Proxy(port)
    with contextlib.nullcontext(home) if home else new_home() as home:
        command, env, *files = client(f"http://127.0.0.1:{proxy.server_port}", prompt)
        for name, text in dict(*files).items():
            (Path(home) / name).write_text(text)
        command[0] = str(HERE / command[0])
        env |= {"HOME": home, "PATH": os.environ["PATH"]}
        process = subprocess.Popen(
            command, env=env, cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, start_new_session=True
        )
        if interrupt and proxy.begun.wait(PATIENCE):
            # As a terminal does: to the program and to all that it has started.
            os.killpg(process.pid, signal.SIGINT)
        try:
            shown, _ = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            shown = "no end in time: " + process.communicate()[0]
    proxy.shutdown()
    found = (shown, proxy.posts - proxy.titles, proxy.left)
    return (*found, proxy.messages) if tools else found


def resumed(client, port):
    """Has a conversation of three turns, each of a process of its own, with a tool in the second; returns what is wrong.

    The agent tells how many messages it knows of."""
    shown, requests = [], []
    with new_home() as home:
        for prompt in ("Zebra.", CLIENTS["Codex"][1], "Zebra."):
            # `--last` is the last conversation of this folder.
            resume = ("resume", "--last") if shown else ()
            text, made, _ = run(partial(client, resume=resume), port, prompt, home=home)
            shown.append(text)
            requests.append(made)
    known = [int(found[1]) if (found := re.search(r"There are (\d+) messages", text)) else None for text in shown]
    if requests == [1, 2, 1] and "tide-42" in shown[1] and None not in known[::2] and known[2] == known[0] + 4:
        return None
    return f"{requests} requests, {known} messages, {shown[-1][-300:]!r}"


def main():
    answers = Server(sys.argv[1])
    fails = Server(sys.argv[1], f"http://127.0.0.1:{answers.port}/no/such/model")
    gateways = [Gateway(sys.argv[2], answers.port, dialect) for dialect in ("chat", "responses", "messages")]
    columns = ["client", "an answer", "a tool of its own", "through `wire serve` from chat completions", "Responses", "Messages"]
    columns += ["a failure", "Ctrl-C"]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    passed = failed = 0
    for name, (client, call) in CLIENTS.items():
        cells = []
        question = "What happens when a client disconnects?"
        for server, prompt, expected, posts, leaves in [
            (answers, question, "client", 1, 0),
            (answers, call, "tide-42", 2, 0),
            *((gateway, call, "tide-42", 2, 0) for gateway in gateways),
            (fails, "hello", "does not know the model", 1, 0),
            # It closes the connection, which drops the agent.
            (answers, question, "", 1, 1),
        ]:
            shown, made, left = run(client, server.port, prompt, leaves > 0)
            if expected in shown and (made, left) == (posts, leaves):
                cells.append(f"yes, {made}")
                passed += 1
            else:
                end = " ".join(shown.split())[-300:]
                cells.append(f"NO: {made} requests, {left} left, {end!r}")
                failed += 1
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print("\n| a conversation that is resumed twice | |\n|---|---|")
    for name, client in {"Codex": codex, "Codex, built-in provider": codex_builtin}.items():
        fault = resumed(client, answers.port)
        passed, failed = (passed, failed + 1) if fault else (passed + 1, failed)
        print(f"| {name} | {'NO: ' + fault if fault else 'yes'} |", flush=True)
    for server in (answers, fails, *gateways):
        server.process.terminate()
    print(f"\n{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
