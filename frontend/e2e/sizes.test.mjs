// Every view and dialog where there is little room, at 200 % zoom, and in high contrast.
import { everyView } from "./views.mjs";

everyView([
  { name: "800 px", colorScheme: "dark", width: 800, height: 600 },
  // What a window of 1280 by 960 has left at 200 %.
  { name: "zoom", colorScheme: "light", width: 640, height: 480, deviceScaleFactor: 2 },
  { name: "contrast-dark", colorScheme: "dark", contrast: "more" },
  { name: "contrast-light", colorScheme: "light", contrast: "more" },
]);
