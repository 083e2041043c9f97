// Every view and dialog, dark and light, at two sizes, each beside its reference picture.
import { everyView } from "./views.mjs";

everyView([
  { name: "dark", colorScheme: "dark", pictures: true },
  { name: "light", colorScheme: "light", pictures: true },
  { name: "small-dark", colorScheme: "dark", width: 960, height: 600, pictures: true },
  { name: "small-light", colorScheme: "light", width: 960, height: 600, pictures: true },
]);
