// A front end of another crate.

import { equal, test } from "../harness.mjs";

test("outside: it is played like one of the library", async (p) => {
  await p.open("Pager");
  await p.ask("hello there");
  equal(p.posts.at(-1).body.lines, [{ by: "user", text: "hello there" }], "lines");
  const log = await p.events();
  for (const name of ["start", "delta", "end"]) equal(log.includes(name), true, name);
  await p.ask("again");
  equal(p.posts.at(-1).body.lines.map(({ by }) => by), ["user", "agent", "user"], "lines");
  await p.shot("outside");
});

test("outside: lines of JSON are read like events", async (p) => {
  await p.open("Ollama");
  await p.ask("hello there");
  equal(p.posts.at(-1).body.messages, [{ role: "user", content: "hello there" }], "messages");
  equal(await p.said(), "You said: hello there");
  await p.ask("fail");
  equal((await p.events()).at(-1), "error", "the last event");
  await p.ask("again");
  equal(p.posts.at(-1).body.messages.map(({ role }) => role), ["user", "assistant", "user", "assistant", "user"], "messages");
});
