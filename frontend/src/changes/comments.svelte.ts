// Comments on lines of a diff: kept in the page, by task, until they are sent together as one text.
import { SvelteMap } from "svelte/reactivity";
import { compose, type Comment } from "./comments";

class Comments {
  private readonly byTask = new SvelteMap<string, readonly Comment[]>();
  private next = 1;

  of(task: string): readonly Comment[] {
    return this.byTask.get(task) ?? [];
  }

  add(task: string, comment: Omit<Comment, "id">): void {
    this.byTask.set(task, [...this.of(task), { ...comment, id: this.next++ }]);
  }

  remove(task: string, id: number): void {
    this.byTask.set(task, this.of(task).filter((c) => c.id !== id));
  }

  /** Forgets those that were sent; what was written meanwhile stays. */
  sent(task: string, which: readonly Comment[]): void {
    this.byTask.set(task, this.of(task).filter((c) => !which.includes(c)));
  }

  text(task: string): string {
    return compose(this.of(task));
  }
}

export const comments = new Comments();
