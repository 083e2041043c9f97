// shots.mjs: takes the pictures of docs/window.md anew, from the built page with real tasks in it. make screenshots runs it.
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { launch, open } from "./browser.mjs";
import { Rig, root } from "./rig.mjs";
import { leave, populate, scenes } from "./scenes.mjs";

const into = join(root, "docs/pictures");
const wanted = { dark: ["first-run", "control", "new-task", "held"], light: ["review", "cage", "settings-control-plane"] };

mkdirSync(into, { recursive: true });
const rig = new Rig();
const url = await rig.page();
const browser = await launch();
/** Keeps a picture with the colours that it needs: a screenshot of a window has few. */
async function keep(page, name) {
  await page.evaluate(() => document.fonts.ready);
  const file = join(into, `${name}.png`);
  await page.screenshot({ path: file, animations: "disabled", caret: "hide" });
  execFileSync("convert", [file, "-strip", "+dither", "-colors", "96", `PNG8:${file}`]);
}
try {
  const first = await open(browser, url);
  await first.getByText("Claude Code", { exact: true }).waitFor();
  await keep(first, "first-run");
  await first.context().close();
  await populate(rig);
  for (const [colorScheme, names] of Object.entries(wanted)) {
    const page = await open(browser, url, { colorScheme });
    for (const { name, show, close = leave } of scenes(rig)) {
      if (name !== "main" && !names.includes(name)) continue; // main is where the others begin
      await show(page);
      if (names.includes(name)) await keep(page, name);
      await close(page);
    }
    await page.context().close();
  }
} finally {
  await browser.close();
  await rig.close();
}
