// Takes the pictures of the README: `node picture.mjs http://127.0.0.1:7777`, with `cargo run -p hyper-server` running.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const docs = new URL("../../docs/", import.meta.url).pathname;
for (const [colorScheme, name] of [["light", "playground"], ["dark", "playground-dark"]]) {
  const browser = await chromium.launchPersistentContext(mkdtempSync(join(tmpdir(), "picture-")), {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: ["--no-sandbox", "--disable-background-networking"],
    viewport: { width: 1280, height: 800 },
    deviceScaleFactor: 1.5,
    colorScheme,
  });
  const page = await browser.newPage();
  await page.goto(process.argv[2]);
  await page.getByLabel("Front end", { exact: true }).selectOption("OpenBB");
  await page.getByRole("button", { name: "What do the AAPL prices say?" }).click();
  await page.locator(".answer table").waitFor();
  await page.locator('.answer[aria-busy="true"]').waitFor({ state: "detached" });
  await page.locator(".events li .name", { hasText: "copilotFunctionCall" }).first().click();
  await page.locator(".answer").first().evaluate((answer) => answer.scrollIntoView({ block: "end" }));
  await page.evaluate(() => document.querySelectorAll("*").forEach((element) => element.scrollTo({ top: 0 })));
  await page.screenshot({ path: join(docs, `${name}.png`) });
  await browser.close();
}
