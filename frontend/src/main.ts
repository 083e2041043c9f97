import "@xterm/xterm/css/xterm.css";
import "./styles/fonts.css";
import "./styles/tokens.css";
import "./styles/base.css";
import { mount } from "svelte";
import App from "./App.svelte";
import { host } from "./bridge/transport";

// What goes wrong in the page is said in the app's log; nobody sees the page's console.
let reports = 0;
function report(text: string): void {
  if (++reports <= 20) host("report", text.slice(0, 2000)).catch(() => {});
}
addEventListener("error", (event) => report(`${event.message} at ${event.filename}:${event.lineno}`));
addEventListener("unhandledrejection", (event) => report(String((event.reason as Error | undefined)?.stack ?? event.reason)));

// A terminal measures its cells once, when it is put up: with a font that comes later every cell would have the wrong size.
// A font that does not come is no reason for no window.
await document.fonts.load('13px "termic Mono"').catch(() => []);
mount(App, { target: document.getElementById("app")! });
