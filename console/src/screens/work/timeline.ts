import type { TimelineEntry } from "../../api/operated";

export interface Row {
  /** The same for the same entry, however often it is read. */
  key: string;
  entry: TimelineEntry;
}

const named = ({ ts, kind, title, task_id, attempt }: TimelineEntry): string =>
  [ts, kind, title, task_id ?? "", attempt?.number ?? ""].join("|");

/** Entries with keys; what has the same name is told apart by its turn. */
export function rowsOf(entries: readonly TimelineEntry[]): Row[] {
  const seen = new Map<string, number>();
  return entries.map((entry) => {
    const name = named(entry);
    const turn = (seen.get(name) ?? 0) + 1;
    seen.set(name, turn);
    return { key: turn > 1 ? `${name}|${turn}` : name, entry };
  });
}

/** What was known, with a page read anew from its beginning: nothing twice, and what has changed as it is now. */
export function renewed(known: readonly TimelineEntry[], first: readonly TimelineEntry[]): TimelineEntry[] {
  const last = first.at(-1);
  if (!last) return [...known];
  const keys = new Set(rowsOf(first).map((row) => row.key));
  const rest = rowsOf(known).filter((row) => !keys.has(row.key));
  const behind = rest.findIndex((row) => row.entry.ts < last.ts || row.entry.ts === last.ts);
  return [...first, ...(behind < 0 ? [] : rest.slice(behind).map((row) => row.entry))];
}
