"""Counts the requests of each client for a turn whose model fails, through `wire serve` and with the analyst of the example
server, and prints a table.

`upstreams.py WIRE SERVER [CLIENT...]`: the programs `wire` and `hyper-server`, and the beginnings of the names of clients.
"""

import json
import socket
import sys
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from clients import Gateway, Server, claude, codex, copilot, run
from more import cline, opencode, pi, qwen_code

# The answers of the model's server; the first part of the path names one. The first kind is a port without a server.
TOO_LONG = {"message": "Your input exceeds the context window of this model.", "code": "context_length_exceeded"}
QUOTA = {"message": "You exceeded your current quota.", "type": "insufficient_quota", "code": "insufficient_quota"}
KINDS = {
    "no server": None,
    "too long": (400, {}, TOO_LONG),
    "quota": (429, {}, QUOTA),
    "401": (401, {}),
    "404": (404, {}),
    "500": (500, {}),
    "503": (503, {}),
    "503, `retry-after: 1`": (503, {"retry-after": "1"}),
    "429": (429, {}),
    "429, `retry-after: 1`": (429, {"retry-after": "1"}),
}
CLIENTS = {
    "Codex": codex,
    "Copilot, chat completions": copilot("completions"),
    "Copilot, Responses": copilot("responses"),
    "Copilot, Messages": copilot("anthropic"),
    "Claude Code": claude,
    "opencode": opencode,
    "qwen-code": qwen_code,
    "pi, chat completions": pi("openai-completions"),
    "pi, Responses": pi("openai-responses"),
    "pi, Messages": pi("anthropic-messages"),
    "Cline": cline,
}
PATIENCE = 90


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(200, {}, {"data": [{"id": "analyst"}]})

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        status, headers, *error = list(KINDS.values())[int(self.path.split("/")[1])]
        self.answer(status, headers, {"error": error[0] if error else {"message": "no", "type": "odd"}})

    def answer(self, status, headers, body):
        body = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    wire, server, *chosen = sys.argv[1:]
    upstream = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    # Bound, and never listening.
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))
    servers = []
    for at, answer in enumerate(KINDS.values()):
        port = upstream.server_port if answer else closed.getsockname()[1]
        gateway = Gateway(wire, f"{port}/{at}", "chat", "--model", "analyst")
        servers.append((gateway, Server(server, f"http://127.0.0.1:{port}/{at}")))
    print(f"| client | {' | '.join(KINDS)} |\n|---|{'---:|' * len(KINDS)}")
    for name, client in CLIENTS.items():
        if chosen and not name.startswith(tuple(chosen)):
            continue
        cells = []
        for pair in servers:
            counts = []
            for one in pair:
                text, posts, _ = run(partial(client, model="analyst"), one.port, "hello", patience=PATIENCE)
                counts.append(f"{posts} …" if text.startswith("no end in time") else str(posts))
            cells.append(counts[0] if counts[0] == counts[1] else " / ".join(counts))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    for pair in servers:
        for one in pair:
            one.process.terminate()


if __name__ == "__main__":
    main()
