import type { InboxItem, InboxView } from "../../api/operated";

export interface About {
  kind: string;
  key: Record<string, string>;
}

/** What is assigned where an item of the inbox is: its job, or the record; null for what is nobody's. */
export function aboutOf(item: InboxItem): About | null {
  if (item.job_id) return { kind: "work.Job", key: { job_id: item.job_id } };
  if (!item.record || item.record.domain === "ops") return null;
  return { kind: item.record.entity, key: item.record.key };
}

/** Which item it is, among all of the inbox. */
export const idOf = (group: string, item: InboxItem): string =>
  `${group}|${item.job_id ?? item.task_id ?? item.record?.path ?? item.title}|${String(item.fields?.id ?? "")}`;

/** The inbox with somebody else at an item: what is shown before the service has said yes. */
export function assignedTo(view: InboxView, item: InboxItem, assignee: string | null): InboxView {
  const swap = (each: InboxItem): InboxItem => (each === item ? { ...each, assignee } : each);
  return { ...view, groups: view.groups.map((g) => ({ ...g, items: g.items.map(swap) })) };
}
