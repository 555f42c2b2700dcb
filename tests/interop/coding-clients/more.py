"""Coding clients beside those of `clients.py`: each returns its command, its environment, and files for its home."""

import json

from clients import HERE


def opencode(base, prompt, model="analyst", key="any"):
    options = {"baseURL": base + "/v1", "apiKey": key}
    lab = {"npm": "@ai-sdk/openai-compatible", "name": "lab", "options": options, "models": {model: {"name": model}}}
    config = {"provider": {"lab": lab}, "autoupdate": False, "share": "disabled"}
    command = ["node_modules/.bin/opencode", "run", "-m", f"lab/{model}", prompt]
    return command, {}, {"opencode.json": json.dumps(config)}


def continue_(base, prompt, model="analyst", key="any"):
    entry = {"name": model, "provider": "openai", "model": model, "apiBase": base + "/v1", "apiKey": key, "roles": ["chat"]}
    # JSON is YAML.
    config = {"name": "lab", "version": "1.0.0", "schema": "v1", "models": [entry]}
    command = ["node_modules/.bin/cn", "-p", prompt, "--config", "config.yaml"]
    return command, {"CONTINUE_TELEMETRY_ENABLED": "0"}, {"config.yaml": json.dumps(config)}


def aider(base, prompt, model="analyst", key="any"):
    flags = ["--no-git", "--yes-always", "--no-check-update", "--no-show-model-warnings", "--analytics-disable"]
    address = ["--openai-api-base", base + "/v1", "--openai-api-key", key]
    return [".aider/bin/aider", "--model", f"openai/{model}", *address, *flags, "--message", prompt], {}


def qwen_code(base, prompt, model="analyst", key="any"):
    flags = ["--auth-type", "openai", "--openai-api-key", key, "--openai-base-url", base + "/v1", "--yolo"]
    return ["node_modules/.bin/qwen", *flags, "-m", model, "-p", prompt], {"QWEN_SANDBOX": "false"}


def pi(api):
    def run(base, prompt, model="analyst", key="any"):
        url = base if api == "anthropic-messages" else base + "/v1"
        lab = {"baseUrl": url, "api": api, "apiKey": key, "models": [{"id": model}]}
        files = {"models.json": json.dumps({"providers": {"lab": lab}})}
        command = ["node_modules/.bin/pi", "-p", "--provider", "lab", "--model", model, prompt]
        return command, {"PI_CODING_AGENT_DIR": "."}, files

    return run


def cline(base, prompt, model="analyst", key="any"):
    # It reads the address of a server from its settings only.
    command = '"$0" auth openai-compatible -k "$2" -m "$3" -b "$4/v1" >cline.log 2>&1; exec "$0" "$1"'
    program = str(HERE / "node_modules/.bin/cline")
    # One word alone would be a command.
    prompt = prompt if " " in prompt else prompt + " there"
    return ["/bin/sh", "-c", command, program, prompt, key, model, base], {"CLINE_TELEMETRY_DISABLED": "1"}
