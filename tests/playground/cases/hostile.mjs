// An agent that wants to run scripts in the reader's browser, or to have it call somebody.

import { canary, equal, ok, test } from "../harness.mjs";

async function attacked(p, front) {
  const away = await canary();
  await p.page.addInitScript(() => {
    globalThis.hits = 0;
    globalThis.hit = () => (globalThis.hits += 1);
  });
  const asked = [];
  // A request that the policy stopped has no response.
  p.page.on("response", (response) => asked.push(response.url()));
  await p.open(front);
  await p.ask(`hostile ${away.address}`);
  return { away, asked };
}

async function unharmed(p, { away, asked }) {
  // What would load late has had its time.
  await p.page.waitForTimeout(400);
  equal(await p.page.evaluate(() => globalThis.hits), 0, "scripts that ran");
  equal(away.heard, [], "what was fetched from outside");
  equal(asked.filter((url) => !url.startsWith(p.address) && !/^(data|about):/.test(url)), [], "responses");
  ok(p.page.url().startsWith(p.address), "the page went away");
  const links = await p.page.locator(".answer a").evaluateAll((all) => all.map((a) => [a.protocol, a.rel, a.target]));
  for (const [protocol, rel, target] of links) {
    ok(["http:", "https:", "mailto:"].includes(protocol), `a link to ${protocol}`);
    ok(rel.includes("noopener") && rel.includes("noreferrer") && target === "_blank", "a link that tells where it was");
  }
  const odd = await p.page.locator(".answer").evaluateAll((all) => all.flatMap((answer) => [...answer.querySelectorAll("script, style, link, base, object, embed, form, img:not([src^='data:']), [onload], [onerror], [onclick]")].map((node) => node.outerHTML)));
  equal(odd, [], "elements made of text");
  away.close();
}

for (const front of ["OpenBB", "GitHub", "OpenAI", "Responses", "Meilisearch"]) {
  test(`hostile: Markdown in ${front}`, async (p) => {
    const attack = await attacked(p, front);
    ok((await p.said()).includes("<script>hit()</script>"), "markup is not shown as text");
    await unharmed(p, attack);
    await p.shot(`hostile-${front.toLowerCase()}`);
  });
}

test("hostile: HTML in the frame runs nothing, loads nothing and goes nowhere", async (p) => {
  const attack = await attacked(p, "OpenBB");
  const frame = p.answer().locator("iframe.artifact-frame");
  equal(await frame.getAttribute("sandbox"), "");
  await frame.scrollIntoViewIfNeeded();
  const inside = p.answer().frameLocator("iframe.artifact-frame");
  ok(await inside.getByText("A page that means no good.").isVisible(), "the page does not show");
  for (const name of ["#leave", "#top", "#here", "text"]) {
    await inside.locator(name).first().click({ force: true });
  }
  for (const frame of p.page.frames().slice(1)) ok(frame.url() === "about:srcdoc", `a frame at ${frame.url()}`);
  await unharmed(p, attack);
});

test("hostile: opened events and sources are text as well", async (p) => {
  const attack = await attacked(p, "OpenBB");
  for (const kind of ["status", "artifact", "source"]) {
    await p.page.locator(`.events li.${kind} summary`).first().click();
  }
  await p.page.locator(".request summary").click();
  await p.answer().locator(".suggestions button").click();
  await p.done();
  await unharmed(p, attack);
});
