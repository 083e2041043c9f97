// Pictures of views, compared with the references that docs/window shows. Fonts are bundled, but hinting, system fonts and
// times differ between machines: what is compared is the mean colour of squares, which a missing part, a wrong colour or
// a shifted column changes, and another antialiasing does not.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./rig.mjs";

const references = join(root, "docs/window");
const found = process.env.PICTURES ?? join(root, "build/cache/pictures");
const square = 16; // px
const step = 24; // of 255, of any channel's mean in a square
const most = 0.03; // part of the squares: a column of text that moved by a word is more

/** Returns what is wrong with a view's picture, in words. */
export async function compare(page, name) {
  await page.evaluate(() => document.fonts.ready);
  const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
  mkdirSync(found, { recursive: true });
  writeFileSync(join(found, `${name}.png`), picture);
  const file = join(references, `${name}.png`);
  if (process.env.UPDATE) {
    mkdirSync(references, { recursive: true });
    writeFileSync(file, picture);
    return [];
  }
  if (!existsSync(file)) return [`${name}: no reference picture; take it with UPDATE=1 and look at it`];
  const part = await differing(page, readFileSync(file), picture);
  return part <= most ? [] : [`${name}: ${(part * 100).toFixed(1)} % of the picture differs from docs/window; see ${found}`];
}

/** Returns which part of the squares differs; 1 when the sizes do. The browser at hand decodes the pictures. */
async function differing(page, a, b) {
  const blank = await page.context().newPage();
  try {
    return await blank.evaluate(
      async ([one, other, square, step]) => {
        const means = async (text) => {
          const image = new Image();
          image.src = `data:image/png;base64,${text}`;
          await image.decode();
          const [w, h] = [Math.floor(image.width / square), Math.floor(image.height / square)];
          const canvas = new OffscreenCanvas(image.width, image.height);
          const context = canvas.getContext("2d");
          context.drawImage(image, 0, 0);
          const { data } = context.getImageData(0, 0, image.width, image.height);
          const sums = new Float64Array(w * h * 3);
          for (let y = 0; y < h * square; y++)
            for (let x = 0; x < w * square; x++)
              for (let c = 0; c < 3; c++) sums[((y / square | 0) * w + (x / square | 0)) * 3 + c] += data[(y * image.width + x) * 4 + c];
          return { w, h, sums };
        };
        const [x, y] = [await means(one), await means(other)];
        if (x.w !== y.w || x.h !== y.h) return 1;
        let n = 0;
        for (let i = 0; i < x.sums.length; i += 3)
          if ([0, 1, 2].some((c) => Math.abs(x.sums[i + c] - y.sums[i + c]) / (square * square) > step)) n++;
        return n / (x.w * x.h);
      },
      [a.toString("base64"), b.toString("base64"), square, step],
    );
  } finally {
    await blank.close();
  }
}
