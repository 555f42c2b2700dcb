// The part of a Meilisearch chat client.

import { equal, ok, test } from "../harness.mjs";

test("meilisearch: searches, sources, a failed search, and the history", async (p) => {
  await p.open("Meilisearch");
  await p.ask("search");
  const post = p.posts.at(-1);
  ok(post.url.endsWith("/chats/playground/chat/completions"), post.url);
  equal(post.headers.authorization, "Bearer playground");
  equal(post.body.tools.map((tool) => tool.function.name), ["_meiliSearchProgress", "_meiliSearchSources", "_meiliAppendConversationMessage"]);
  const answer = p.answer();
  ok(await answer.getByText("Searching for “robot”").first().isVisible(), "no progress");
  equal(await answer.locator(".sources li").count(), 2, "sources");
  equal(await answer.locator(".sources a").getAttribute("href"), "https://example.com/7");
  ok((await answer.locator(".notice.error").innerText()).includes("Index `nope` not found."), "the failed search");
  ok((await p.said()).endsWith("Two films have robots."), await p.said());
  await p.shot("meilisearch");
  await p.ask("and now?");
  const { messages } = p.posts.at(-1).body;
  equal(messages.map(({ role }) => role), ["user", "assistant", "tool", "assistant", "user"]);
  equal(messages[3].content, "Let me look. Two films have robots.");
});

test("meilisearch: what is not declared is not sent", async (p) => {
  await p.open("Meilisearch");
  for (const name of ["Progress", "Sources", "History"]) await p.page.getByRole("button", { name, exact: true }).click();
  await p.ask("search");
  equal(p.posts.at(-1).body.tools, undefined, "tools");
  equal(await p.answer().locator(".sources").count(), 0, "sources");
});

test("meilisearch: a failed answer says so", async (p) => {
  await p.open("Meilisearch");
  await p.ask("fail");
  ok((await p.answer().locator(".notice.error").innerText()).includes("The stage collapsed."), await p.said());
});
