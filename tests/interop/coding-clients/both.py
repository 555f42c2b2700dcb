"""Runs the coding clients with an agent as their model and as a tool of theirs: both ends are ours.

`both.py HYPER INTEROP`: the programs `hyper-server` and `interop-server`. The model calls the tool, the client posts the call to
`/mcp`, and the result reaches the model in the next request, which repeats it.
"""

import json
import sys
from functools import partial

from clients import Interop, Server, claude, codex, copilot, run

QUESTION = json.dumps({"question": "What happens when a client disconnects?"})


def with_tool(client, flags):
    """Returns the client with the tool at the address of its model."""

    def both(base, prompt):
        command, env = client(base, prompt)
        return command + flags(f"{base}/mcp"), env

    return both


def claude_flags(url):
    servers = {"mcpServers": {"analyst": {"type": "http", "url": url}}}
    return ["--strict-mcp-config", "--mcp-config", json.dumps(servers)]


def copilot_flags(url):
    servers = {"mcpServers": {"analyst": {"type": "http", "url": url, "tools": ["*"]}}}
    return ["--additional-mcp-config", json.dumps(servers)]


def codex_flags(url):
    return ["-c", f"mcp_servers.analyst.url={json.dumps(url)}"]


def main():
    analyst, interop = Server(sys.argv[1]), Interop(sys.argv[2])
    # The client, the server, the prompt, what is shown, the requests of the model, and the messages of MCP.
    cases = {
        "Claude Code": (claude, claude_flags, analyst, f"call mcp__analyst__ask {QUESTION}", "Cancellation", 2, 4),
        # It has the tools of MCP in a namespace. The second one calls with that itself.
        "Codex": (codex, codex_flags, analyst, f"call mcp__analyst__ask {QUESTION}", "Cancellation", 2, 4),
        "Codex, a native agent": (partial(codex, model="asks"), codex_flags, interop, "hello", "tide-42", 2, 4),
    }
    for dialect in ("completions", "responses", "anthropic"):
        prompt = f"call analyst-ask {QUESTION}"
        cases[f"Copilot, {dialect}"] = (copilot(dialect), copilot_flags, analyst, prompt, "Cancellation", 2, 3)
    print("| client | its agent as a tool | requests of the model | POST /mcp |\n|---|---|---:|---:|")
    failed = 0
    for name, (client, flags, server, prompt, expected, *counts) in cases.items():
        shown, posts, _, messages = run(with_tool(client, flags), server.port, prompt, tools=True)
        is_right = expected in shown and [posts, messages] == counts
        failed += not is_right
        found = "yes" if is_right else f"NO: {' '.join(shown.split())[-300:]!r}"
        print(f"| {name} | {found} | {posts} | {messages} |", flush=True)
    for server in (analyst, interop):
        server.process.terminate()
    print(f"\n{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
