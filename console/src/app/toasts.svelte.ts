import { plainly } from "../api/plain";
import { problemOf } from "../api/problem";

export interface Toast {
  id: number;
  kind: "good" | "bad" | "plain";
  text: string;
  more?: string | undefined;
  /** Folded. */
  details?: string[] | undefined;
  action?: { title: string; run: () => void } | undefined;
}

const LASTS = 6000;
const MOST = 4;

class Toasts {
  all = $state<Toast[]>([]);
  #next = 1;

  /** Say something for a few seconds; what went wrong stays until it is closed. */
  say(text: string, more: Partial<Omit<Toast, "id" | "text">> = {}): number {
    const toast: Toast = { id: this.#next++, kind: "plain", text, ...more };
    this.all = [...this.all, toast].slice(-MOST);
    if (toast.kind !== "bad") setTimeout(() => this.close(toast.id), LASTS);
    return toast.id;
  }

  good(text: string, more: Partial<Omit<Toast, "id" | "text">> = {}): number {
    return this.say(text, { ...more, kind: "good" });
  }

  /** Tell of an error, with what to do about it. */
  fail(thrown: unknown): void {
    if (thrown instanceof DOMException && thrown.name === "AbortError") return;
    const { said, todo, details } = plainly(problemOf(thrown).body);
    this.say(said, { kind: "bad", more: todo, details });
  }

  close(id: number): void {
    this.all = this.all.filter((t) => t.id !== id);
  }
}

export const toasts = new Toasts();
