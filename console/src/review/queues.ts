import { spoken } from "../api/declared.svelte";
import type { components } from "../api/schema";

type Schemas = components["schemas"];

/** A record that waits for a decision. */
export interface Waiting {
  record: string;
  title: string;
  state: string | null;
  assignee: string | null;
  since: string | null;
  due: string | null;
  overdue: boolean;
}

/** A list of such records. */
export interface Queue {
  key: string;
  from: "inbox" | "waiting";
  domain: string | null;
  title: string;
  why: string;
  /** `7`, or `100+`. */
  count: string;
  items: Waiting[];
  next: string | null;
}

export const counted = ({ number, more }: Schemas["Counted"]): string => `${number}${more ? "+" : ""}`;
/** What operators look after is no record that people look at. */
const OPERATORS = "ops";

/** A group of the inbox, with what can be looked at in it. */
export function fromInbox(group: Schemas["InboxGroup"]): Queue {
  const items = group.items.flatMap((item): Waiting[] => {
    const link = item.look_at ?? item.record;
    if (!link || link.domain === OPERATORS) return [];
    const { title, since = null, assignee = null, due_at: due = null, overdue = false } = item;
    const state = item.fields?.["status"] ?? (group.key === "reviews" ? "in review" : null);
    return [
      { record: link.path, title, state: typeof state === "string" ? state : null, assignee, since, due, overdue },
    ];
  });
  const { key, title, why, count, next = null } = group;
  const domain = group.domain ?? items[0]?.record.split("/")[2] ?? null;
  return { key, from: "inbox", domain, title, why, count: counted(count), items, next: items.length ? next : null };
}

/** A list of records that wait in one state. */
export function fromWaiting(group: Schemas["WaitingGroup"]): Queue {
  const items = group.items.map(({ record, title, states }): Waiting => {
    const state = Object.values(states).find((s) => s === group.state) ?? null;
    return { record, title, state, assignee: null, since: null, due: null, overdue: false };
  });
  const { key, domain, next } = group;
  const title = `${spoken(group.collection)}: ${group.state.replaceAll("_", " ")}`;
  return {
    key,
    from: "waiting",
    domain,
    title,
    why: "Somebody decides about each.",
    count: counted(group.count),
    items,
    next,
  };
}
