"""Judges agents that are written with other libraries, as their documentation has it, and expects
exactly their known faults."""

import json
import subprocess
import sys
import tempfile
import urllib.request
from contextlib import contextmanager
from pathlib import Path

WIRE = [sys.argv[1], "--json"]

# An agent, the front end that it is for, whether it is asked with signatures, and what is wrong
# with it.
CASES = [
    (
        ["../.venv/bin/python", "agent.py"],
        "openbb",
        False,
        [
            "cors/private-network",
            "cors/refusal",
            "http/cut",
            "http/oversized",
            "http/server-error",
            "openbb/extra-state",
            "openbb/line-separators",
            "openbb/other-request",
        ],
    ),
    (
        ["node", "hello.mjs"],
        "github",
        False,
        [
            "github/unsigned",
            "http/accel-buffering",
            "http/bad-json",
            "http/cache-control",
            "http/content-type",
            "http/method",
            "http/oversized",
            "http/unknown-path",
        ],
    ),
    (
        ["node", "agent.mjs"],
        "github",
        True,
        [
            "chunk/after-done",
            "github/display-name",
            "github/one-id",
            "github/reference-data",
            "http/accel-buffering",
            "http/cache-control",
            "http/content-type",
            "http/method",
            "http/oversized",
            "http/server-error",
            "http/unknown-path",
        ],
    ),
]


@contextmanager
def running(command):
    """A process that prints where it is; it ends with the block."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def key_document(key):
    """The public key that goes with a test key."""
    with running([*WIRE, "keys", "--key", key]) as line:
        with urllib.request.urlopen(json.loads(line)["url"]) as document:
            return document.read().decode()


def judge(command, keys, options):
    """What is wrong with an agent, by the rules."""
    with running([*command, keys]) as port:
        # The Workspace asks where the descriptor says; the other agents answer anywhere.
        path = "/" if "openbb" in options else "/agent"
        check = [*WIRE, "check", f"http://127.0.0.1:{port}{path}", *options]
        report = subprocess.run(check, stdout=subprocess.PIPE)
    return sorted(json.loads(report.stdout)["findings"], key=lambda finding: finding["rule"])


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        key = Path(folder, "test.key")
        key.write_text("5eed" * 16)
        keys = key_document(key)
        for command, front, signed, expected in CASES:
            options = ["--protocol", front, *(["--key", key] if signed else [])]
            findings = judge(command, keys, options)
            if [finding["rule"] for finding in findings] != expected:
                failed += 1
                print(json.dumps(findings, indent=2))
                print(f"{command}: expected {expected}")
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
