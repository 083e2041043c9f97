// Pictures of views, each compared with a small reference in references/: the mean colour of squares. Fonts are bundled, but
// hinting, system fonts and times differ between machines; a missing part, a wrong colour or a shifted column changes the mean
// of many squares, another antialiasing of none. UPDATE=1 takes new references: look at the whole pictures (PICTURES=DIR) first.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./rig.mjs";

const references = join(root, "frontend/e2e/references");
/** Where whole pictures go, for whoever looks; nowhere unless asked. */
const kept = process.env.PICTURES;
const square = 16; // px
const shades = 32; // of a channel, as kept: coarser is smaller, and far below step
const step = 40; // of 255, of any channel's mean in a square: what text of one grey beside another does not reach
const most = 0.04; // part of the squares: half of a panel that is missing is more

/** Returns what is wrong with a view's picture, in words: nothing or one line. */
export async function compare(page, name) {
  await page.evaluate(() => document.fonts.ready);
  const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
  if (kept) {
    mkdirSync(kept, { recursive: true });
    writeFileSync(join(kept, `${name}.png`), picture);
  }
  const file = join(references, `${name}.png`);
  const reference = process.env.UPDATE || !existsSync(file) ? undefined : readFileSync(file);
  const { small, part } = await means(page, picture, reference);
  if (process.env.UPDATE) {
    mkdirSync(references, { recursive: true });
    writeFileSync(file, Buffer.from(small, "base64"));
    return [];
  }
  if (!reference) return [`${name}: no reference picture; take it with UPDATE=1 and look at it`];
  return part <= most ? [] : [`${name}: ${(part * 100).toFixed(1)} % of the squares differ from references/${name}.png`];
}

/** Returns a picture of the means of squares, and which part of them differs from a reference; 1 when the sizes do. */
async function means(page, picture, reference) {
  const blank = await page.context().newPage(); // the browser at hand decodes pictures
  try {
    return await blank.evaluate(
      async ([whole, other, square, step, shades]) => {
        const pixels = async (text) => {
          const image = new Image();
          image.src = `data:image/png;base64,${text}`;
          await image.decode();
          const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
          context.drawImage(image, 0, 0);
          return context.getImageData(0, 0, image.width, image.height);
        };
        const { width, height, data } = await pixels(whole);
        const [w, h] = [Math.floor(width / square), Math.floor(height / square)];
        const small = new ImageData(w, h);
        const kept = (sum) => Math.round((Math.round((sum / square / square / 255) * (shades - 1)) / (shades - 1)) * 255);
        for (let y = 0; y < h; y++)
          for (let x = 0; x < w; x++) {
            const sums = [0, 0, 0];
            for (let v = 0; v < square; v++)
              for (let u = 0; u < square; u++)
                for (let c = 0; c < 3; c++) sums[c] += data[((y * square + v) * width + x * square + u) * 4 + c];
            small.data.set([...sums.map(kept), 255], (y * w + x) * 4);
          }
        let part = 0;
        if (other) {
          const was = await pixels(other);
          if (was.width !== w || was.height !== h) part = 1;
          else {
            for (let i = 0; i < small.data.length; i += 4)
              if ([0, 1, 2].some((c) => Math.abs(small.data[i + c] - was.data[i + c]) > step)) part += 1 / (w * h);
          }
        }
        const canvas = new OffscreenCanvas(w, h);
        canvas.getContext("2d").putImageData(small, 0, 0);
        const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/png" })).arrayBuffer());
        return { small: btoa(String.fromCharCode(...bytes)), part };
      },
      [picture.toString("base64"), reference?.toString("base64"), square, step, shades],
    );
  } finally {
    await blank.close();
  }
}
