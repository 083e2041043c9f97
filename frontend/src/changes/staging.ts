// What the person does with changed files: which paths a row stands for, and how it stands. Pure.
import type { FileChange } from "../gen/verbs";

/** How much of a file is staged; undefined where nothing of it is uncommitted. */
export function stagedState(file: FileChange): "all" | "part" | "none" | undefined {
  switch (file.state) {
    case "staged":
      return "all";
    case "both":
      return "part";
    case "unstaged":
    case "untracked":
      return "none";
    default:
      return undefined; // committed, or conflicts that are for a terminal
  }
}

/** The paths of a row: a renamed file has two. */
export function pathsOf(file: FileChange): string[] {
  return file.old_path ? [file.old_path, file.path] : [file.path];
}

/** Whether git can take it: repositories inside, and what cannot be read, are left alone. */
export function canStage(file: FileChange): boolean {
  return stagedState(file) !== undefined && !file.nested && !file.unread;
}

/** How many files are staged, in part or whole, and how many have changes that are not. */
export function tally(files: readonly FileChange[]): { staged: number; unstaged: number } {
  let staged = 0;
  let unstaged = 0;
  for (const file of files) {
    const state = stagedState(file);
    if (state === "all" || state === "part") staged++;
    if (state === "none" || state === "part") unstaged++;
  }
  return { staged, unstaged };
}
