"""Judges servers that are written with other libraries, as their documentation has it, and expects exactly their
known faults. Prints a table: check.py PROGRAMS [full]"""

import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
PROGRAMS = Path(sys.argv[1])
WIRE = [PROGRAMS / "wire", "--json"]
PYTHON = HERE / "../.venv/bin/python"
FULL_PYTHON = HERE / ".venv/bin/python"

# A library, its server, the protocol, the path, the options of the check, and what it breaks.
CASES = [
    ("openbb-ai", [PYTHON, "agent.py"], "openbb", "/", [], """
        cors/refusal http/cut openbb/extra-state openbb/line-separators cors/private-network
        http/oversized http/server-error openbb/other-request
    """),
    ("@copilot-extensions/preview-sdk, hello.mjs", ["node", "hello.mjs"], "github", "/agent", [], """
        http/bad-json http/content-type github/unsigned http/accel-buffering http/cache-control
        http/method http/oversized http/unknown-path
    """),
    ("@copilot-extensions/preview-sdk, agent.mjs", ["node", "agent.mjs"], "github", "/agent", ["--key"], """
        chunk/after-done github/display-name github/one-id github/reference-data http/content-type
        http/accel-buffering http/cache-control http/method http/oversized http/server-error
        http/unknown-path
    """),
    ("ai-7", ["node", "servers.mjs", "ai-7"], "ui-stream", "/api/chat", [], """
        http/oversized http/server-error ui/odd-request ui/resume
    """),
    ("@modelcontextprotocol/sdk", ["node", "servers.mjs", "mcp"], "mcp", "/mcp", [], """
        mcp/discover
    """),
    ("mcp", [PYTHON, "servers.py", "mcp"], "mcp", "/mcp", [], """
        mcp/structured
    """),
    ("fastmcp", [PYTHON, "servers.py", "fastmcp"], "mcp", "/mcp", [], """
        mcp/structured
    """),
]

# More of them, for `full`.
FULL = [
    ("ai-6", ["node", "servers.mjs", "ai-6"], "ui-stream", "/api/chat", [], """
        http/oversized http/server-error ui/odd-request ui/resume
    """),
    ("ai-5", ["node", "servers.mjs", "ai-5"], "ui-stream", "/api/chat", [], """
        http/oversized http/server-error ui/odd-request ui/resume
    """),
    ("pydantic-ai-slim", [FULL_PYTHON, "servers.py", "pydantic_ai_ui_stream"], "ui-stream", "/api/chat", [], """
        http/accel-buffering http/cache-control http/oversized ui/odd-request ui/refusal ui/resume
    """),
    ("pydantic-ai-slim", [FULL_PYTHON, "servers.py", "pydantic_ai_ag_ui"], "ag-ui", "/ag-ui", [], """
        ag-ui/odd-request http/accel-buffering http/cache-control http/oversized
    """),
    ("ag-ui-protocol", [FULL_PYTHON, "servers.py", "ag_ui"], "ag-ui", "/ag-ui", [], """
        ag-ui/request ag-ui/odd-request http/accel-buffering http/cache-control http/oversized
    """),
    ("ag-ui-langgraph", [FULL_PYTHON, "servers.py", "ag_ui_langgraph"], "ag-ui", "/ag-ui", [], """
        ag-ui/request ag-ui/odd-request http/accel-buffering http/cache-control http/oversized
    """),
    ("litellm", [FULL_PYTHON, "servers.py", "litellm"], "openai", "/v1/chat/completions", ["--model", "fake"], """
        http/oversized http/server-error
    """),
    ("litellm", [FULL_PYTHON, "servers.py", "litellm"], "anthropic", "/v1/messages", ["--model", "fake"], """
        anthropic/should-retry http/oversized http/server-error
    """),
    ("fakellm", [FULL_PYTHON, "servers.py", "fakellm"], "openai", "/v1/chat/completions", [], """
        http/accel-buffering http/cache-control http/oversized http/server-error openai/models
    """),
    ("fakellm", [FULL_PYTHON, "servers.py", "fakellm"], "anthropic", "/v1/messages", [], """
        anthropic/count-tokens anthropic/should-retry http/accel-buffering http/cache-control
        http/oversized http/server-error
    """),
    ("tinytot", [FULL_PYTHON, "servers.py", "tinytot"], "ollama", "/api/chat", [], """
        ollama/message ollama/whole http/accel-buffering http/cache-control http/oversized
    """),
]


def version(library, command):
    """The installed version of a library."""
    if command[0] == "node":
        folder = HERE.parent / "node_modules" / library.split(",")[0]
        return json.loads((folder / "package.json").read_text())["version"]
    site = next(Path(command[0]).parent.parent.glob("lib/*/site-packages"))
    found = metadata.distributions(name=library, path=[str(site)])
    return next(iter(found)).version


@contextmanager
def running(command):
    """A process that prints where it is, on a line of its own; it ends with the block."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=HERE, text=True)
    try:
        yield next(line.strip() for line in process.stdout if re.match(r"\d+$|\{", line))
    finally:
        process.kill()
        process.communicate()


def key_document(key):
    """The public key that goes with a test key."""
    with running([*WIRE, "keys", "--key", key]) as line:
        with urllib.request.urlopen(json.loads(line)["url"]) as document:
            return document.read().decode()


def judge(command, protocol, path, options):
    """The report about a server."""
    # Ollama is a protocol of the command line of `tests/outside`.
    wire = WIRE if protocol != "ollama" else [PROGRAMS / "pager-wire", "--json"]
    with running(command) as port:
        check = [*wire, "check", f"http://127.0.0.1:{port}{path}", "-p", protocol, *options]
        report = subprocess.run(check, stdout=subprocess.PIPE)
    return json.loads(report.stdout)


def main():
    cases = CASES + FULL if "full" in sys.argv[2:] else CASES
    failed = 0
    print("| server | version | protocol | errors | warnings | passed | not judged | what is broken |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        key = Path(folder, "test.key")
        key.write_text("5eed" * 16)
        keys = key_document(key)
        for library, command, protocol, path, options, expected in cases:
            if "--key" in options:
                command, options = [*command, keys], ["--key", key]
            report = judge(command, protocol, path, options)
            findings = report["findings"]
            errors = sum(finding["level"] == "error" for finding in findings)
            broken = [finding["rule"] for finding in findings]
            counts = [errors, len(findings) - errors, len(report["passed"]), len(report["unseen"])]
            cells = [library, version(library, command), protocol, *counts, ", ".join(f"`{rule}`" for rule in broken)]
            print(f"| {' | '.join(map(str, cells))} |", flush=True)
            if sorted(broken) != sorted(expected.split()) or report["skipped"]:
                failed += 1
                print(json.dumps(report, indent=2), f"expected {expected.split()}", file=sys.stderr)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
