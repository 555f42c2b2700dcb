// What all front ends have in common.

import { equal, ok, test } from "../harness.mjs";

for (const front of ["OpenBB", "GitHub", "OpenAI", "Responses", "Meilisearch"]) {
  for (const how of ["the button", "Esc"]) {
    test(`${front}: ${how} stops a stream`, async (p) => {
      await p.open(front);
      await p.send("slow");
      await p.answer().getByText("5 ").waitFor();
      if (how === "Esc") await p.page.keyboard.press("Escape");
      else await p.page.getByRole("button", { name: "Stop" }).click();
      await p.done();
      ok((await p.said()).includes("Stopped."), "it does not say so");
      equal(await p.page.locator(".exchange .state").innerText(), "stopped");
      await p.ask("still there?");
      equal(await p.said(), "You said: still there?");
    });
  }
}

test("page: the log shows every block with its time and size, and the request", async (p) => {
  await p.open("OpenBB");
  await p.ask("hello");
  const row = p.page.locator(".events li.text").first();
  const time = await row.locator(".time").innerText();
  ok(/^\+[\d.]+ m?s$/.test(time), `time: ${time}`);
  equal(await row.locator(".size").innerText(), "62 B");
  await row.locator("summary").click();
  equal(await row.locator(".json").first().innerText(), '{\n  "delta": "You said: hello"\n}');
  ok((await row.locator(".json").last().innerText()).startsWith("event: copilotMessageChunk"), "bytes");
  await p.page.locator(".request summary").click();
  ok((await p.page.locator(".request .json").last().innerText()).includes('"role": "human"'), "request");
  equal(await p.page.locator(".stats dd").last().innerText(), "1", "events");
});

test("page: every event of a flood shows, and its end is in sight", async (p) => {
  await p.open("OpenBB");
  await p.ask("flood");
  const rows = p.page.locator(".events li");
  equal(await rows.count(), 2000, "rows in the log");
  ok((await rows.last().innerText()).includes("Line **2999**"), "the newest is not in the log");
  equal(await p.answer().locator(".markdown p").count(), 3000, "paragraphs");
  ok(await p.answer().getByText("Line 2999 of the flood.").isVisible(), "the last line");
  for (const side of [".chat", ".exchanges"]) {
    await p.page.waitForFunction((name) => {
      const { scrollHeight, scrollTop, clientHeight } = document.querySelector(name);
      return scrollHeight - scrollTop - clientHeight < 2;
    }, side);
  }
  // Not at its place on the screen: on a slow machine the log may still move.
  await p.page.getByRole("button", { name: "Show 1000 of 1001 more" }).dispatchEvent("click");
  await p.page.getByRole("button", { name: "Show 1 more" }).dispatchEvent("click");
  const lines = await p.page.locator(".events li.text .preview").evaluateAll((all) => all.map((each) => Number(/\d+/.exec(each.textContent)[0])));
  equal(lines, Array.from({ length: 3000 }, (_, at) => at), "rows in the log");
  equal(await p.page.locator(".exchange .more").isVisible(), false, "more than all");
});

for (const [what, line] of [["paragraphs", (at) => `Line **${at}** of the flood.\n\n`], ["one paragraph", (at) => `word ${at} `]]) {
  test(`page: a flood that arrives at once can be stopped, in ${what}`, async (p) => {
    const events = Array.from({ length: 60_000 }, (_, at) => `event: copilotMessageChunk\ndata: ${JSON.stringify({ delta: line(at) })}\n\n`);
    await p.answers("/v1/query", events.join(""));
    await p.open("OpenBB");
    // What a person does while it comes, from inside of the page: the driver would come too late.
    await p.page.evaluate(() => {
      const stop = () => (document.querySelectorAll(".events li").length > 1 ? document.querySelector("#send.stop")?.click() : setTimeout(stop, 0));
      stop();
    });
    await p.ask("flood");
    ok((await p.said()).endsWith("Stopped."), "it did not stop");
    ok(Number(await p.page.locator(".stats dd").last().innerText()) < 60_000, "it stopped at the end");
  });
}

test("page: ten thousand events at once show in pieces, and whole in the end", async (p) => {
  const events = Array.from({ length: 10_000 }, (_, at) => `event: copilotMessageChunk\ndata: ${JSON.stringify({ delta: `Line **${at}** of the flood.\n\n` })}\n\n`);
  await p.answers("/v1/query", events.join(""));
  await p.open("OpenBB");
  await p.page.evaluate(() => {
    globalThis.seen = new Set();
    const look = () => {
      globalThis.seen.add(document.querySelectorAll(".answer .markdown p").length);
      requestAnimationFrame(look);
    };
    look();
  });
  await p.ask("flood");
  equal(await p.answer().locator(".markdown p").count(), 10_000, "paragraphs");
  equal(await p.page.locator(".stats dd").last().innerText(), "10000", "events");
  ok((await p.page.evaluate(() => globalThis.seen.size)) > 3, "all of it in one piece");
  // The log is drawn with the next frame.
  await p.page.locator(".events li").last().filter({ hasText: "Line **9999**" }).waitFor();
});

test("page: what the reader scrolled to stays in sight while the answer grows", async (p) => {
  await p.open("OpenBB");
  await p.ask("flood");
  await p.send("slow");
  await p.answer().getByText("5 ").waitFor();
  await p.page.locator(".chat").hover();
  await p.page.mouse.wheel(0, -2000);
  await p.page.waitForFunction(() => {
    const { scrollHeight, scrollTop, clientHeight } = document.querySelector(".chat");
    return scrollHeight - scrollTop - clientHeight > 1000;
  });
  const top = () => p.page.locator(".chat").evaluate((node) => node.scrollTop);
  const before = await top();
  await p.answer().getByText("60 ").waitFor();
  equal(await top(), before, "scrolled to");
  await p.page.keyboard.press("Escape");
  await p.done();
});

test("page: a new chat forgets the one before, also one that still streams", async (p) => {
  await p.open("OpenBB");
  await p.send("slow");
  await p.answer().getByText("5 ").waitFor();
  await p.page.getByRole("button", { name: "New chat" }).click();
  await p.page.locator(".intro").waitFor();
  equal(await p.page.locator(".exchange").count(), 0, "requests in the log");
  await p.ask("hello");
  equal(p.posts.at(-1).body.messages.length, 1, "messages");
});

test("page: it can be used from the keyboard alone", async (p) => {
  await p.open("OpenBB");
  await p.page.getByRole("button", { name: "New chat" }).focus();
  await p.page.keyboard.press("Shift+Tab");
  await p.page.keyboard.press("ArrowDown");
  equal(await p.page.evaluate(() => document.activeElement.selectedOptions?.[0].textContent), "GitHub");
  await p.page.getByLabel("Message", { exact: true }).focus();
  await p.page.keyboard.type("one");
  await p.page.keyboard.press("Shift+Enter");
  await p.page.keyboard.type("two");
  await p.page.keyboard.press("Enter");
  await p.done();
  equal(p.posts.at(-1).body.messages.at(-1).content, "one\ntwo");
  // From the input back to the chips.
  await p.page.keyboard.press("Shift+Tab");
  await p.page.keyboard.press("Shift+Tab");
  const chip = () => p.page.evaluate(() => [document.activeElement.textContent, document.activeElement.ariaPressed]);
  equal(await chip(), ["octo-org/tide-tables", "true"]);
  await p.page.keyboard.press("Space");
  equal(await chip(), ["octo-org/tide-tables", "false"], "the focus after a press");
});

test("page: light and dark, chosen and remembered", async (p) => {
  await p.open("OpenBB");
  const background = () => p.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await p.page.getByRole("button", { name: "Dark" }).click();
  ok((await background()) !== light, "nothing changes");
  await p.page.reload();
  await p.page.getByRole("button", { name: "Light" }).waitFor();
  ok((await background()) !== light, "it is forgotten");
});

test("page: one document, nothing from outside, and a strict policy", async (p) => {
  const asked = [];
  p.page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  const response = await p.page.goto(p.address);
  await p.page.getByLabel("Front end", { exact: true }).waitFor();
  ok(asked.every((path) => ["/", "/playground.json", "/agents.json"].includes(path)), asked.join(" "));
  const headers = response.headers();
  ok(headers["content-security-policy"].startsWith("default-src 'none'; script-src 'nonce-"), "policy");
  equal([headers["x-content-type-options"], headers["referrer-policy"]], ["nosniff", "no-referrer"]);
  const again = await p.page.goto(p.address);
  ok(again.headers()["content-security-policy"] !== headers["content-security-policy"], "one nonce twice");
});

for (const path of ["/below", "/below/"]) {
  test(`page: served at ${path} it finds its agents`, async (p) => {
    p.address += path;
    for (const [front, route] of [["OpenBB", "/v1/query"], ["GitHub", "/github"], ["OpenAI", "/v1/chat/completions"]]) {
      await p.open(front);
      await p.ask("hello");
      equal(new URL(p.posts.at(-1).url).pathname, `/below${route}`);
      ok((await p.said()).length > 0, "no answer");
    }
    equal(p.posts.map(({ url }) => new URL(url).pathname).filter((asked) => !asked.startsWith("/below/")), [], "asked elsewhere");
  });
}

test("page: other pages get no signatures", async (p) => {
  await p.open("GitHub");
  const sign = (headers) =>
    p.page.request.post(`${p.address}/playground/sign`, { headers: { "content-type": "application/json", ...headers }, data: "{}" });
  equal((await sign({ "sec-fetch-site": "cross-site" })).status(), 403);
  equal((await sign({ "sec-fetch-site": "same-site" })).status(), 403);
  equal((await sign({ origin: "http://evil.example" })).status(), 403);
  equal((await sign({ origin: "null" })).status(), 403);
  equal((await sign({ origin: p.address })).status(), 200);
});

for (const [front, path] of [["OpenBB", "/agents.json"], ["OpenAI", "/v1/models"]]) {
  test(`page: ${front} does not wait for ever for ${path}`, async (p) => {
    await p.page.route(`**${path}`, () => {});
    await p.open(front);
    await p.ask("hello");
    ok((await p.said()).includes("goes out without it"), await p.said());
    equal(p.posts.length, 1, "requests");
    await p.ask("again");
    equal(p.posts.length, 2, "requests");
    ok(!(await p.said()).includes("goes out without it"), "it waits again");
  });

  test(`page: ${front} can be stopped while ${path} stalls`, async (p) => {
    // No patience ends here.
    await p.page.addInitScript(() => {
      const { setTimeout: later } = globalThis;
      globalThis.setTimeout = (run, ms, ...more) => (ms >= 500 ? 0 : later(run, ms, ...more));
    });
    await p.page.route(`**${path}`, () => {});
    await p.open(front);
    await p.send("hello");
    await p.page.getByRole("button", { name: "Stop" }).click();
    await p.done();
    equal(await p.said(), "Stopped.");
    equal(p.posts, [], "requests");
  });
}

test("page: the setup stays open when a selection ends outside of it", async (p) => {
  await p.open("GitHub");
  await p.page.getByRole("button", { name: "Setup" }).click();
  const dialog = p.page.getByRole("dialog");
  const { x, y, width, height } = await p.page.getByLabel("Slug of the agent").boundingBox();
  await p.page.mouse.move(x + width / 2, y + height / 2);
  await p.page.mouse.down();
  await p.page.mouse.move(20, y + height / 2);
  await p.page.mouse.up();
  ok(await dialog.isVisible(), "it closed");
  await p.page.mouse.click(20, 400);
  ok(!(await dialog.isVisible()), "a click beside it does not close it");
});

test("page: a landscape phone starts at the top", async (p) => {
  for (const front of ["OpenBB", "GitHub", "OpenAI", "Responses", "Meilisearch"]) {
    await p.open(front);
    // The page goes to the end of a chat in the next frame.
    await p.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    equal(await p.page.locator(".chat").evaluate((node) => node.scrollTop), 0, front);
    const [heading, hint] = [p.page.locator(".intro h2"), p.page.locator(".hint")];
    ok((await heading.boundingBox()).y >= (await p.page.locator("main").boundingBox()).y, `${front}: the heading is under the bar`);
    ok(!(await hint.isVisible()), "keys take the room of the chat");
  }
  await p.shot("landscape-start");
}, { viewport: { width: 844, height: 390 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true });
