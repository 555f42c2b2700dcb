"""Counts the requests of each client for a turn that fails, and prints a table with what the clients show.

`failures.py SERVER [CLIENT...]`: the program `interop-server`, and the beginnings of the names of clients.
"""

import sys
from functools import partial

from clients import HERE, Interop, claude, codex, copilot, run
from more import aider, cline, continue_, opencode, pi, qwen_code

# The model that is asked, and the key. The server's models fail as their names say; its guard refuses these keys.
KINDS = {
    "before the first output": ("early", "any"),
    "after it": ("late", "any"),
    "panic": ("panic", "any"),
    "too long": ("too-long", "any"),
    **{f"guard {status}": ("early", f"refuse-{status}") for status in (400, 401, 403, 429, 503)},
}
PATIENCE = 90


def library(language, name, base, prompt, model, key):
    program = {"node": ["/usr/bin/env", "node", str(HERE / "libraries.mjs")], "python": [".venv/bin/python", str(HERE / "libraries.py")]}
    path = "" if name in ("anthropic", "langchain-anthropic") else "/v1"
    return [*program[language], name, base + path, model, key, prompt], {}


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
    "Continue": continue_,
    "aider": aider,
}
for language, names in {
    "node": ["openai", "openai responses", "anthropic", "ai openai", "ai openai-compatible", "ai anthropic"],
    "python": ["openai", "openai responses", "anthropic", "langchain-openai", "langchain-anthropic"],
}.items():
    CLIENTS |= {f"{name}, {language}": partial(library, language, name) for name in names}


def main():
    program, *chosen = sys.argv[1:]
    server = Interop(program)
    print(f"| client | {' | '.join(KINDS)} |\n|---|{'---:|' * len(KINDS)}")
    shown = []
    for name, client in CLIENTS.items():
        if chosen and not name.startswith(tuple(chosen)):
            continue
        cells = []
        for kind, (model, key) in KINDS.items():
            text, posts, _ = run(partial(client, model=model, key=key), server.port, "hello", patience=PATIENCE)
            endless = text.startswith("no end in time")
            cells.append(f"{posts} and going on" if endless else str(posts))
            shown.append(f"{name}, {kind}: {' '.join(text.split())[-400:]}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print("\n" + "\n".join(shown))
    server.process.terminate()


if __name__ == "__main__":
    main()
