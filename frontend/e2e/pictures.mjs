// Pictures of views, compared with references. Fonts are bundled, so that they agree to some pixels between machines;
// what moves by itself (times, versions, directories) is painted over.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./rig.mjs";

const references = join(root, "frontend/e2e/testdata");
const found = process.env.PICTURES ?? join(root, "build/cache/pictures");
/** Part of the pixels that may differ by more than `step`: hinting and antialiasing differ between builds. */
const most = 0.01;
const step = 48; // of 255, in any channel

const moving = ".meta, time, .when, .strip, .mono, .readout, .s11, .xterm, .hint, .glyph, .tick, .cut-line, .status, .calls, .name, .name + br + span, .cm-gap";

/** Returns what is wrong with a view's picture, in words. */
export async function compare(page, name) {
  await page.evaluate(() => document.fonts.ready);
  const picture = await page.screenshot({ mask: [page.locator(moving)], maskColor: "#808080", animations: "disabled", caret: "hide" });
  mkdirSync(found, { recursive: true });
  writeFileSync(join(found, `${name}.png`), await page.screenshot({ animations: "disabled", caret: "hide" }));
  const file = join(references, `${name}.png`);
  if (process.env.UPDATE) {
    mkdirSync(references, { recursive: true });
    writeFileSync(file, picture);
    return [];
  }
  if (!existsSync(file)) return [`${name}: no reference picture; take it with UPDATE=1 and look at it`];
  const part = await differing(page, readFileSync(file), picture);
  if (part <= most) return [];
  writeFileSync(join(found, `${name}-masked.png`), picture);
  return [`${name}: ${(part * 100).toFixed(2)} % of the picture differs from the reference; see build/cache/pictures`];
}

/** Returns which part of the pixels differs; 1 when the sizes do. The browser at hand decodes the pictures. */
async function differing(page, a, b) {
  const blank = await page.context().newPage();
  try {
    return await blank.evaluate(
      async ([one, other, step]) => {
        const pixels = async (text) => {
          const image = new Image();
          image.src = `data:image/png;base64,${text}`;
          await image.decode();
          const canvas = new OffscreenCanvas(image.width, image.height);
          const context = canvas.getContext("2d");
          context.drawImage(image, 0, 0);
          return context.getImageData(0, 0, image.width, image.height);
        };
        const [x, y] = [await pixels(one), await pixels(other)];
        if (x.width !== y.width || x.height !== y.height) return 1;
        let n = 0;
        for (let i = 0; i < x.data.length; i += 4)
          if (Math.abs(x.data[i] - y.data[i]) > step || Math.abs(x.data[i + 1] - y.data[i + 1]) > step || Math.abs(x.data[i + 2] - y.data[i + 2]) > step) n++;
        return n / (x.width * x.height);
      },
      [a.toString("base64"), b.toString("base64"), step],
    );
  } finally {
    await blank.close();
  }
}
