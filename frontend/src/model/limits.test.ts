import { describe, expect, it } from "vitest";
import type { TaskLimit } from "../gen/verbs";
import { chosenOf, limitEdit, limitWords } from "./limits";

const had: TaskLimit[] = [
  { name: "memory", max: 2048, own: true, held: true, uses: 300 },
  { name: "processes", max: 4096, own: false, held: true },
  { name: "cpu_weight", max: 0, own: false, held: false },
];

describe("limits of a task's cage", () => {
  it("are in the form as far as they are the task's own", () => expect(chosenOf(had)).toEqual({ memory: 2048 }));
  it("change nothing when nothing was changed", () => expect(limitEdit(had, chosenOf(had))).toEqual({}));
  it("are as the settings say when a field was emptied", () => expect(limitEdit(had, { memory: null })).toEqual({ memory: -1 }));
  it("are none when a field says 0", () => expect(limitEdit(had, { memory: 2048, processes: 0 })).toEqual({ processes: 0 }));
  it("say what holds and what does not", () => {
    expect(limitWords(had[0])).toBe("Held to 2048; it takes 300 now.");
    expect(limitWords(had[1])).toBe("Held to 4096.");
    expect(limitWords(had[2])).toBe("Not limited.");
    expect(limitWords({ name: "memory", max: 512, own: true, held: false, why: "no cage of the task runs" })).toBe("Not held: no cage of the task runs.");
    expect(limitWords(undefined)).toBe("");
  });
});
