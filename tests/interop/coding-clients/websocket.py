"""Runs Codex over its WebSocket, with only `openai_base_url` set. `websocket.py INTEROP`: the program `interop-server`."""

import json
import socket
import sys
import threading
import urllib.request

from clients import Interop, run


class Tap:
    """Passes bytes on, and counts handshakes and posts."""

    def __init__(self, port):
        self.port, self.handshakes, self.posts = port, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.port))
            threading.Thread(target=self.copy, args=(client, server, self.count), daemon=True).start()
            threading.Thread(target=self.copy, args=(server, client, lambda _: None), daemon=True).start()

    def count(self, chunk):
        # Clients send the head of a request by itself.
        self.handshakes += chunk.startswith(b"GET ") and b"upgrade: websocket" in chunk.lower()
        self.posts += chunk.startswith(b"POST ")

    def copy(self, source, target, look):
        try:
            while chunk := source.recv(65536):
                look(chunk)
                target.sendall(chunk)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            # The other side has gone.
            target.close()


def codex(base, model, prompt):
    command = ["node_modules/.bin/codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
    return command + ["-m", model, "-c", f"openai_base_url={json.dumps(base + '/v1')}", prompt], {"CODEX_API_KEY": "any"}


def runs(port):
    body = json.dumps({"model": "runs", "input": "How many?"}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/responses", body, {"content-type": "application/json"})
    [message] = json.load(urllib.request.urlopen(request))["output"]
    return int(message["content"][0]["text"])


def main():
    server = Interop(sys.argv[1])
    print("| Codex, only `openai_base_url` set | shown | handshakes | posts | runs that failed |\n|---|---|---:|---:|---:|")
    failed = 0
    cases = {"words": ("end", 0), "fails": ("The model is away.", 1), "fails-at-once": ("The model is away.", 1)}
    for model, (expected, times) in cases.items():
        tap, before = Tap(server.port), runs(server.port)
        base = f"http://127.0.0.1:{tap.listener.getsockname()[1]}"
        shown, _, _ = run(lambda _, prompt: codex(base, model, prompt), server.port, "hello")
        found = (tap.handshakes, tap.posts, runs(server.port) - before)
        is_right = expected in shown and found == (1, 0, times)
        failed += not is_right
        cell = "yes" if is_right else f"NO: {' '.join(shown.split())[-300:]!r}"
        print(f"| {model} | {cell} | {' | '.join(map(str, found))} |", flush=True)
    server.process.terminate()
    print(f"\n{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
