// Pictures to look at, and that nothing is wider than its screen.

import { equal, ok, test } from "../harness.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };

async function fits(p) {
  const [scrollWidth, clientWidth] = await p.page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  ok(scrollWidth <= clientWidth, "the page scrolls sideways");
}

/** Nothing in the setup is wider than what it lies in, up to the dialog and the screen. */
async function setupFits(p, what) {
  const out = await p.page.locator("#setup").evaluate((dialog) => {
    const box = (node) => node.getBoundingClientRect();
    const inside = [...dialog.querySelectorAll("fieldset *:not(option), fieldset")].filter((node) => {
      const around = box(node.closest("fieldset") === node ? dialog : node.closest("fieldset"));
      return box(node).left < around.left - 0.5 || box(node).right > around.right + 0.5;
    });
    const clipped = [dialog, ...dialog.querySelectorAll(".fields, fieldset, label, select")].filter((node) => node.scrollWidth > node.clientWidth + 1 && node.tagName !== "SELECT");
    if (box(dialog).left < 0 || box(dialog).right > innerWidth) clipped.push(dialog);
    return [...inside, ...clipped].map((node) => `${node.tagName} ${node.className} ${node.textContent.slice(0, 30)}`);
  });
  equal(out, [], `${what}: what is clipped`);
}

for (const colorScheme of ["light", "dark"]) {
  test(`looks: ${colorScheme}`, async (p) => {
    await p.open("OpenBB");
    await p.shot(`${colorScheme}-start`);
    await p.ask("everything");
    await p.shot(`${colorScheme}-end`);
    await p.page.locator(".chat").evaluate((node) => node.scrollTo(0, 0));
    await p.shot(`${colorScheme}-answer`);
    await p.page.getByRole("button", { name: "Setup" }).click();
    await p.shot(`${colorScheme}-setup`);
    await fits(p);
  }, { colorScheme });
}

for (const colorScheme of ["light", "dark"]) {
  test(`looks: a phone, ${colorScheme}`, async (p) => {
    await p.open("OpenBB");
    await p.ask("everything");
    await p.page.locator(".chat").evaluate((node) => node.scrollTo(0, 0));
    await fits(p);
    await p.shot(`phone-${colorScheme}-chat`);
    equal(await p.page.locator(".log").isVisible(), false, "both sides at once");
    await p.page.getByRole("button", { name: "Events" }).tap();
    await fits(p);
    await p.shot(`phone-${colorScheme}-events`);
    equal(await p.page.locator(".chat").isVisible(), false, "both sides at once");
  }, { ...PHONE, colorScheme });
}

for (const width of [390, 360, 320]) {
  for (const colorScheme of ["light", "dark"]) {
    test(`looks: setup on a phone of ${width}, ${colorScheme}`, async (p) => {
      for (const front of ["OpenBB", "GitHub", "OpenAI", "Responses", "Meilisearch"]) {
        await p.open(front);
        await p.page.getByRole("button", { name: "Setup" }).tap();
        await setupFits(p, front);
        if (front === "OpenBB") await p.shot(`phone-${width}-${colorScheme}-setup`);
        // Everything that unfolds as well.
        for (const summary of await p.page.locator("#setup summary").all()) await summary.tap();
        await setupFits(p, `${front}, all open`);
        await fits(p);
      }
    }, { ...PHONE, viewport: { width, height: 780 }, colorScheme });
  }
}

/** Ten agents, some of which have long paths. */
async function ten(p) {
  const names = ["openbb", "github", "openai", "meilisearch"];
  const fronts = Array.from({ length: 10 }, (_, at) => ({ protocol: names[at % 4], path: `/agents/research-department/number-${at}/v1/query` }));
  await p.page.route("**/playground.json", (route) => route.fulfill({ json: { fronts, signing: false } }));
  await p.page.goto(p.address);
  const select = p.page.getByLabel("Front end", { exact: true });
  equal(await select.locator("option").count(), 10, "front ends");
  await select.selectOption({ index: 9 });
  equal(await p.page.locator("#where").innerText(), `POST ${fronts[9].path}`);
  await fits(p);
}

test("looks: ten front ends", async (p) => {
  await ten(p);
  await p.shot("ten");
});

test("looks: ten front ends on a phone", async (p) => {
  await ten(p);
  await p.shot("ten-phone");
}, PHONE);
