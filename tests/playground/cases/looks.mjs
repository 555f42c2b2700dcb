// Pictures to look at, and that nothing is wider than its screen.

import { equal, ok, test } from "../harness.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };

async function fits(p) {
  const [scrollWidth, clientWidth] = await p.page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  ok(scrollWidth <= clientWidth, "the page scrolls sideways");
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

test("looks: a phone", async (p) => {
  await p.open("OpenBB");
  await p.ask("everything");
  await p.page.locator(".chat").evaluate((node) => node.scrollTo(0, 0));
  await fits(p);
  await p.shot("phone-chat");
  equal(await p.page.locator(".log").isVisible(), false, "both sides at once");
  await p.page.getByRole("button", { name: "Events" }).tap();
  await fits(p);
  await p.shot("phone-events");
  equal(await p.page.locator(".chat").isVisible(), false, "both sides at once");
}, PHONE);
