import { expect, test } from "vitest";
import { words } from "./command";

test.each([
  ["spaces part words", " aider  --no-auto-commits ", ["aider", "--no-auto-commits"]],
  ["quotes keep them together", `sh -c 'echo "a  b"; exec cat'`, ["sh", "-c", `echo "a  b"; exec cat`]],
  ["a word may be empty", `run "" ''`, ["run", "", ""]],
  ["a quote may begin inside of a word", `--name="my agent"`, ["--name=my agent"]],
  ["a backslash makes the next one itself", `a\\ b "c\\"d" 'e\\f'`, ["a b", `c"d`, "e\\f"]],
  ["nothing is expanded", "echo $HOME *", ["echo", "$HOME", "*"]],
  ["nothing is no word", "  ", []],
])("%s", (_, line, want) => expect(words(line)).toEqual(want));

test.each(["sh -c 'open", 'a "b'])("an open quote is no command: %s", (line) => expect(words(line)).toBeUndefined());
