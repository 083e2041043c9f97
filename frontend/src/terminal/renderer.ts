// Draws with WebGL where a GPU does it, else with DOM elements; a lost context is tried again a few times.
import type { WebglAddon } from "@xterm/addon-webgl";
import type { Terminal } from "@xterm/xterm";
import { host } from "../bridge/transport";

/** Names of renderers that are a CPU: their WebGL is slower than the DOM. WebKit tells no name but "Apple GPU". */
const software = /llvmpipe|swiftshader|software|softpipe/i;

let usable: boolean | undefined;

/** Tells whether the window wants WebGL at all. Asked once. */
const wanted = (async () => {
  try {
    return (await host("renderer")) !== "dom";
  } catch {
    return false;
  }
})();

/** Tells whether WebGL 2 is there and is not a CPU. Asked once. */
function gpu(): boolean {
  if (usable !== undefined) return usable;
  try {
    const gl = document.createElement("canvas").getContext("webgl2");
    const info = gl?.getExtension("WEBGL_debug_renderer_info");
    const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
    usable = gl !== null && !software.test(name);
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
  } catch {
    usable = false;
  }
  return usable;
}

const maxLosses = 3;
const pause = 1000; // ms; a driver that restarts needs about that

/** Gives a terminal its renderer. Without WebGL xterm.js draws with the DOM by itself. */
export function addRenderer(terminal: Terminal): { dispose(): void } {
  let addon: WebglAddon | undefined;
  let losses = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let disposed = false;
  const start = async (): Promise<void> => {
    try {
      const { WebglAddon } = await import("@xterm/addon-webgl"); // where the DOM draws, it is never fetched
      if (disposed) return;
      const next = new WebglAddon();
      next.onContextLoss(() => {
        next.dispose();
        addon = undefined;
        if (++losses <= maxLosses) timer = setTimeout(() => void start(), pause);
      });
      terminal.loadAddon(next);
      addon = next;
    } catch {
      usable = false;
    }
  };
  void wanted.then((yes) => {
    if (yes && !disposed && gpu()) void start();
  });
  return {
    dispose() {
      disposed = true;
      clearTimeout(timer);
      addon?.dispose();
    },
  };
}
