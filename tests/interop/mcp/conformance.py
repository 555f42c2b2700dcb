"""Runs the scenarios of the conformance kit that apply to an agent, and lists the others with the reason."""

import http.client
import json
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Handler(BaseHTTPRequestHandler):
    """Passes requests on. Tools of the kit have no arguments, and a question is added to each call."""

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if b'"tools/call"' in body:
            message = json.loads(body)
            message["params"].setdefault("arguments", {})["question"] = "Hello"
            body = json.dumps(message).encode()
        upstream = http.client.HTTPConnection("127.0.0.1", self.server.upstream)
        left_out = ("connection", "content-length", "transfer-encoding")
        headers = {name: value for name, value in self.headers.items() if name.lower() not in left_out}
        upstream.request(self.command, self.path, body, headers)
        answer = upstream.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in left_out:
                self.send_header(name, value)
        self.end_headers()
        try:
            while piece := answer.read1(65536):
                self.wfile.write(piece)
                self.wfile.flush()
        except ConnectionError:
            # The kit has seen enough.
            pass

    do_GET = do_POST = do_DELETE = pass_on

    def log_message(self, *_):
        pass


def proxy(port):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.upstream = True, port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


# The scenarios that apply.
OLD = ["server-initialize", "server-session-lifecycle", "ping", "tools-call-elicitation"]
BOTH = ["tools-list", "tools-call-simple-text", "tools-call-image", "tools-call-error", "tools-call-with-progress"]
SINCE_2025_11 = ["server-sse-multiple-streams", "dns-rebinding-protection"]
NEW = [
    "server-stateless",
    "caching",
    "http-header-validation",
    "input-required-result-request-state",
    "input-required-result-multi-round",
    "input-required-result-missing-input-response",
    "input-required-result-result-type",
    "input-required-result-unsupported-methods",
    "input-required-result-tampered-state",
    "input-required-result-validate-input",
]
SCENARIOS = {
    "2025-06-18": OLD + BOTH,
    "2025-11-25": OLD + BOTH + SINCE_2025_11,
    "2026-07-28": BOTH + SINCE_2025_11 + NEW,
}
# Where replies are stored.
STORED = {"2025-11-25": ["server-sse-polling"]}
# Checks that may fail.
EXCEPT = {
    # A tool that refuses clients without a capability: questions are text for those.
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    # There are no prompts and resources.
    "sep-2549-prompts-list-caching-hints",
    "sep-2549-resources-list-caching-hints",
    "sep-2549-resources-templates-list-caching-hints",
}
OTHERS = {
    "an agent has no such thing": ["completion-complete", "resources-*", "prompts-*", "sep-2164-resource-not-found", "sep-2640-*", "tasks-*"],
    "it sends no log messages": ["logging-set-level", "tools-call-with-logging"],
    "content that no coding client shows": ["tools-call-audio", "tools-call-embedded-resource", "tools-call-mixed-content"],
    "it asks for nothing but yes or no": [
        "elicitation-sep1034-defaults", "elicitation-sep1330-enums", "tools-call-sampling",
        "input-required-result-basic-*", "input-required-result-multiple-input-requests",
        "input-required-result-non-tool-request", "input-required-result-capability-check",
    ],
    "a yes counts with the state of its question only": ["input-required-result-ignore-extra-params"],
    "the arguments are fixed": ["json-schema-2020-12", "http-custom-header-server-validation"],
}


def checks(node, url, scenario, version):
    """Returns the checks of a scenario that failed, and the number of all."""
    kit = Path(__file__).parent / "conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js"
    with tempfile.TemporaryDirectory() as folder:
        command = [node, kit, "server", "--url", url, "--scenario", scenario, "--spec-version", version, "-o", folder]
        output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        found = [check for file in Path(folder).rglob("checks.json") for check in json.loads(file.read_text())]
    done = [check for check in found if check["status"] in ("SUCCESS", "FAILURE", "WARNING")]
    if not done:
        return [{"id": "no checks", "errorMessage": output[-200:]}]
    return [check for check in done if check["status"] != "SUCCESS" and check["id"] not in EXCEPT]


def run(node, port, scenarios):
    """Runs scenarios, and returns their names with what is wrong."""
    server = proxy(port)
    jobs = [(version, scenario) for version, scenarios in scenarios.items() for scenario in scenarios]

    def job(version, scenario):
        failed = checks(node, f"http://127.0.0.1:{server.server_port}/mcp/conformance", scenario, version)
        fault = "; ".join(f"{check['id']}: {check.get('errorMessage')}" for check in failed)
        return f"conformance {version}: {scenario}", fault or None

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda it: job(*it), jobs))
    server.shutdown()
    return found
