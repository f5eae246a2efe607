import { get } from "../api/call";
import type { Item } from "./desk";
import type { Comparing } from "./viewer";

/** One of two versions that are looked at together: which it is, since when it is there, and by whom. */
export interface Side {
  title: string;
  at: string | null;
  by: string | null;
}

/** What is told of the version that an item shows; an item without others is its own. */
export function sideOf(item: Item, by: string | null): Side {
  const own = item.versions.find((v) => v.shown);
  return { title: own?.title ?? item.title, at: own?.made_at ?? null, by };
}

interface Told {
  items: { by: string | null }[];
}

/** Who made a record, by its history; null for those who may not read it. A worker is nobody in particular. */
export async function madeBy(record: string): Promise<string | null> {
  const query = { oldest_first: true, limit: 1 };
  const told = await get<Told>(`${record}/history`, { query }).catch(() => null);
  const by = told?.items[0]?.by ?? null;
  return by?.startsWith("task:") ? "a worker" : (by?.replace(/#[^#]*$/, "") ?? null);
}

/** Which of them are seen, from left to right. */
export function seen(comparing: Comparing, both: readonly [Side, Side]): Side[] {
  return comparing === "first" ? [both[0]] : comparing === "second" ? [both[1]] : [...both];
}
