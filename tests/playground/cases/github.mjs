// The part of the GitHub platform.

import { equal, ok, test } from "../harness.mjs";

test("github: a signed request with references, errors in the answer", async (p) => {
  await p.open("GitHub");
  await p.ask("everything");
  const post = p.posts.at(-1);
  ok(post.url.endsWith("/github"), post.url);
  for (const name of ["x-github-public-key-identifier", "x-github-public-key-signature", "x-github-token"]) {
    ok(post.headers[name], `no ${name}`);
  }
  equal(post.body.messages[0].copilot_references.map(({ type }) => type), ["client.file", "github.repository"]);
  ok((await p.events()).includes("[DONE]"), "no [DONE] in the log");
  ok(await p.answer().locator(".notice.error").isVisible(), "the error does not show");
});

test("github: without a signature the server refuses, and says why", async (p) => {
  await p.open("GitHub");
  await p.page.getByRole("button", { name: "Setup" }).click();
  await p.page.getByRole("switch", { name: "Sign requests" }).uncheck();
  await p.page.getByRole("button", { name: "Done" }).click();
  await p.ask("hello");
  ok((await p.answer().locator(".notice.error").innerText()).includes("HTTP 401"), "no status");
});

for (const [button, state] of [["Accept", "accepted"], ["Dismiss", "dismissed"]]) {
  test(`github: a confirmation is ${state}`, async (p) => {
    await p.open("GitHub");
    await p.ask("confirm");
    const card = p.page.getByRole("region", { name: "Confirmation" });
    ok(await card.getByText("Delete the branch?").isVisible(), "no question");
    await card.getByRole("button", { name: button }).click();
    await p.page.locator(".answer").nth(1).waitFor();
    await p.done();
    equal(await p.said(), `You ${state} it.`);
    const last = p.posts.at(-1).body.messages.at(-1);
    equal([last.role, last.content], ["user", ""]);
    equal(last.copilot_confirmations[0].state, state);
    equal(last.copilot_confirmations[0].confirmation.id, "delete-1");
    ok(await card.getByRole("button", { name: button }).isDisabled(), "it can be answered twice");
  });
}

test("github: the session message of github.com", async (p) => {
  await p.open("GitHub");
  await p.page.getByRole("button", { name: "Setup" }).click();
  await p.page.getByLabel("Client", { exact: false }).first().selectOption("web");
  await p.page.getByRole("button", { name: "Done" }).click();
  await p.ask("hello");
  const { messages } = p.posts.at(-1).body;
  equal(messages.map(({ name, content }) => [name ?? "", content.slice(0, 5)]), [["_session", "Curre"], ["", ""], ["", "hello"]]);
  equal(await p.said(), "You said: hello");
});

test("github: a confirmation answered while another turn streams goes out behind it", async (p) => {
  await p.open("GitHub");
  await p.ask("confirm");
  const card = p.page.getByRole("region", { name: "Confirmation" });
  await p.send("slow");
  await p.answer().getByText("3 ").waitFor();
  await card.getByRole("button", { name: "Accept" }).click();
  equal(await card.getByRole("status").innerText(), "Accepted: goes out when the running answer ends");
  await p.page.getByRole("button", { name: "Stop" }).click();
  await p.page.locator(".answer").nth(2).waitFor();
  await p.done();
  equal(await p.said(), "You accepted it.");
  equal(await card.getByRole("status").innerText(), "Accepted");
  const { messages } = p.posts.at(-1).body;
  equal(messages.map(({ role }) => role), ["user", "assistant", "user", "assistant", "user"]);
  equal(messages.at(-1).copilot_confirmations[0].state, "accepted");
});

test("github: a confirmation that waits is not sent into a new chat", async (p) => {
  await p.open("GitHub");
  await p.ask("confirm");
  await p.send("slow");
  await p.answer().getByText("3 ").waitFor();
  const { length } = p.posts;
  await p.page.getByRole("button", { name: "Accept" }).click();
  await p.page.getByRole("button", { name: "New chat" }).click();
  await p.page.locator(".intro").waitFor();
  await p.ask("hello");
  equal(p.posts.slice(length).filter(({ url }) => url.endsWith("/github")).map(({ body }) => body.messages.length), [1]);
});
