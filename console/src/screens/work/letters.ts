import { get } from "../../api/call";
import { placeOfTask, type BulkQuestion, type InboxGroup } from "../../api/operated";

/** Something that could not be done, as the list shows it. */
export interface Letter {
  id: string;
  name: string;
  project: string | null;
  since: string | null;
  error: string | null;
  place: string | null;
  /** Of a message: where the service has it, for its moves. */
  path: string | null;
}

export interface LetterKind {
  id: string;
  title: string;
  /** What can be done with all of them, and in which state they are then. */
  what: BulkQuestion["what"] | null;
  status: string;
  about: string;
  /** Of no project: whoever is bound to one does not see them. */
  whole?: boolean;
}

export const FIRST: LetterKind = {
  id: "tasks",
  title: "Tasks",
  what: "tasks",
  status: "failed",
  about: "Tasks that have failed for good.",
};

export const KINDS: LetterKind[] = [
  FIRST,
  {
    id: "quarantined",
    title: "Quarantine",
    what: "tasks",
    status: "quarantined",
    about: "Tasks that somebody must look at first.",
  },
  {
    id: "messages",
    title: "Messages",
    what: "messages",
    status: "dead",
    about: "Messages that could not be told, and hold back later ones about the same thing.",
  },
  { id: "held", title: "Held", what: null, status: "held", about: "They go on once the one before is decided about." },
  { id: "outbox", title: "Outbox", what: null, status: "pending", about: "Messages that are about to be told." },
  {
    id: "changes",
    title: "Changes",
    what: "feed_letters",
    status: "dead",
    about: "Changes that a handler could not deal with: replay them once it is mended.",
    whole: true,
  },
];

export interface LetterFilter {
  name: string | null;
  errorClass: string | null;
  project: string | null;
  cursor: string | null;
  signal: AbortSignal;
}

interface Listing<T> {
  items: T[];
  next: string | null;
}

/** A page of letters of a kind. */
export async function letters(kind: LetterKind, asked: LetterFilter): Promise<Listing<Letter>> {
  if (kind.what === "tasks") return tasks(kind.status, asked);
  if (kind.id === "outbox") return outbox(asked);
  const key = { messages: "dead_messages", held: "held_messages", changes: "feed_letters" }[kind.id] ?? kind.id;
  const query = { limit: 50, cursor: asked.cursor };
  const everywhere = kind.whole ?? false;
  const group = await get<InboxGroup>(`/api/work/inbox/${key}`, { query, signal: asked.signal, everywhere });
  const items = group.items.map((item) => ({
    id: String(item.fields?.id ?? item.record?.label ?? item.title),
    name: item.title,
    project: item.project ?? null,
    since: item.since,
    error: item.detail ?? null,
    place: null,
    path: item.record?.path ?? null,
  }));
  return { items, next: group.next ?? null };
}

interface TaskRecord {
  task_id: string;
  name: string;
  project_id: string;
  due_at: string;
  error_class?: string | null;
  error?: string | null;
}

async function tasks(status: string, asked: LetterFilter): Promise<Listing<Letter>> {
  const pattern = asked.project
    ? { pattern: "of_project", project_id: asked.project, ...(asked.name ? { name: asked.name } : {}) }
    : { pattern: "by_status" };
  const where = [
    ...(asked.name && !asked.project ? [`name=${asked.name}`] : []),
    ...(asked.errorClass ? [`error_class=${asked.errorClass}`] : []),
  ];
  const query = { ...pattern, status, where, limit: 50, cursor: asked.cursor };
  const page = await get<Listing<TaskRecord>>("/api/ops/tasks", { query, signal: asked.signal });
  const items = page.items.map((task) => ({
    id: task.task_id,
    name: task.name,
    project: task.project_id === "-" ? null : task.project_id,
    since: task.due_at,
    error: [task.error_class, task.error].filter(Boolean).join(": ") || null,
    place: placeOfTask(task.task_id),
    path: null,
  }));
  return { items, next: page.next };
}

interface MessageRecord {
  event_id: string;
  type: string;
  aggregate: string;
  project_id?: string | null;
  ts: string;
  attempts?: number;
  error?: string | null;
}

async function outbox(asked: LetterFilter): Promise<Listing<Letter>> {
  const query = { pattern: "by_status", status: "pending", limit: 50, cursor: asked.cursor };
  const page = await get<Listing<MessageRecord>>("/api/ops/messages", { query, signal: asked.signal });
  const items = page.items.map((message) => ({
    id: message.event_id,
    name: `${message.type} – ${message.aggregate}`,
    project: message.project_id ?? null,
    since: message.ts,
    error: message.error ?? null,
    place: null,
    path: null,
  }));
  return { items, next: page.next };
}
