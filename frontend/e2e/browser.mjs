// A page in Chromium, and what every test of it needs.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Starts Chromium. It asks nothing of the network: our page is on loopback. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--font-render-hinting=none"],
  });
}

/** Opens the page. What the page complains about is collected in `complaints`. */
export async function open(browser, url, { width = 1280, height = 800, colorScheme = "dark", ...more } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce", permissions: ["clipboard-read", "clipboard-write"], ignoreHTTPSErrors: true, ...more });
  // A warning says where it comes from.
  await context.addInitScript(() => {
    const { warn } = console;
    console.warn = (...said) => warn(...said, new Error("here").stack);
  });
  const page = await context.newPage();
  page.complaints = [];
  page.on("pageerror", (error) => page.complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") page.complaints.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith("data:")) page.complaints.push(`asked outside: ${request.url()}`);
  });
  await page.goto(url);
  await page.waitForSelector(".window");
  return page;
}

/** Returns what axe finds wrong, one line each. */
export async function axe(page) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  // A menu that is open floats over the landmarks: it is a widget of its own, which the rule of landmarks does not know.
  const menus = await page.evaluate(() => [...document.querySelectorAll("[role=menu]")].map((menu) => menu.innerHTML).join(""));
  const ours = (v) => v.nodes.filter((n) => !(v.id === "region" && menus.includes(n.html)));
  return violations.flatMap((v) => ours(v).map((n) => `${v.id}: ${n.target.join(" ")}: ${n.failureSummary?.split("\n").slice(1).join(" ").trim()} ${n.html.slice(0, 160)}`));
}

/** The text that the terminal with the focus shows. Chromium has no GPU here, so that rows are in the DOM. */
export function screen(page) {
  return page.evaluate(() => {
    const group = document.querySelector(".group.focused .xterm-rows") ?? document.querySelector(".xterm-rows");
    return [...(group?.children ?? [])].map((row) => row.textContent.replaceAll("\u00a0", " ").trimEnd()).join("\n");
  });
}
