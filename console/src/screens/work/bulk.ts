import type { BulkQuestion } from "../../api/operated";

export type BulkAction = BulkQuestion["action"];

/** What may be done with all records of a kind that are in a state, as the service allows it. */
const ALLOWED: Record<BulkQuestion["what"], Partial<Record<BulkAction, readonly string[]>>> = {
  tasks: { retry: ["failed", "quarantined"], cancel: ["failed", "quarantined", "waiting", "running"] },
  messages: { replay: ["dead"], dismiss: ["dead"] },
  feed_letters: { replay: ["dead"] },
  jobs: { retry: ["failed"], cancel: ["failed", "paused", "running"] },
};

export function actionsFor(what: BulkQuestion["what"], status: string): BulkAction[] {
  return Object.entries(ALLOWED[what])
    .filter(([, states]) => states?.includes(status))
    .map(([action]) => action as BulkAction);
}

export const WORDS: Record<BulkAction, { verb: string; done: string; danger: boolean }> = {
  retry: { verb: "Try again", done: "tried again", danger: false },
  replay: { verb: "Replay", done: "replayed", danger: false },
  cancel: { verb: "Give up", done: "given up", danger: true },
  dismiss: { verb: "Dismiss", done: "dismissed", danger: true },
};

export const THINGS: Record<BulkQuestion["what"], string> = {
  tasks: "tasks",
  messages: "messages",
  feed_letters: "changes",
  jobs: "jobs",
};
