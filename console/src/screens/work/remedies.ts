import {
  placeOf,
  placeOfJob,
  placeOfReview,
  placeOfTask,
  type InboxItem,
  type WaitingReason,
} from "../../api/operated";
import type { Role } from "../../api/session.svelte";
import type { Way } from "../../parts/Ways.svelte";

/** Whoever looks, and what they can do about something: wherever it is said that somebody must, this is beside it. */
export interface Hands {
  may: (role: Role) => boolean;
  to: (path: string) => string;
  retry: (task: string) => unknown;
  cancel: (task: string) => unknown;
}

export interface InboxHands extends Hands {
  /** Of a message that could not be told. */
  move: (path: string, to: "revive" | "dismiss") => unknown;
}

export interface JobHands extends Hands {
  /** Where what waits is looked at. */
  review?: string | null;
  resume?: (() => unknown) | null;
}

const LETTERS = "/console/work/letters?tab=";

/** Where an item of the inbox leads. */
export function placeOfItem(item: InboxItem): string | null {
  if (item.task_id) return placeOfTask(item.task_id);
  return item.job_id ? placeOfJob(item.job_id) : placeOf(item.record);
}

/** What can be done about an item of the inbox by whoever looks, the most likely first. */
export function waysOf(group: string, item: InboxItem, hands: InboxHands): Way[] {
  const { may, to } = hands;
  if (item.task_id) return may("admin") ? settled(item.task_id, hands) : [];
  if (group === "dead_messages" && item.record && may("admin")) return told(item.record.path, hands);
  if (group === "held_messages") return [{ title: "See the one before", href: to(`${LETTERS}messages`) }];
  if (group === "feed_letters") return [{ title: "Replay …", href: to(`${LETTERS}changes`) }];
  if (group === "expiring") return may("admin") ? [{ title: "See uploads", href: to("/console/ops/uploads") }] : [];
  const looked = may("editor") ? placeOfReview(item.look_at ?? (group === "reviews" ? item.record : null)) : null;
  if (looked) return [{ title: "Review", href: to(looked) }];
  const place = placeOfItem(item);
  return place ? [{ title: "Open", href: to(place) }] : [];
}

function told(path: string, { move }: InboxHands): Way[] {
  return [
    { title: "Replay", run: () => move(path, "revive") },
    { title: "Dismiss", run: () => move(path, "dismiss"), danger: true },
  ];
}

function settled(task: string, { retry, cancel }: Hands): Way[] {
  return [
    { title: "Try again", run: () => retry(task) },
    { title: "Give up", run: () => cancel(task), danger: true },
  ];
}

const SETTLED = ["failed", "dead", "quarantine", "gone"];
/** Is it others who can do something about it? */
export const isForOthers = (reason: WaitingReason, { may }: Hands): boolean =>
  SETTLED.includes(reason.kind) && !may("admin");

/** What can be done about something that waits for this reason, by whoever looks. */
export function remedies(reason: WaitingReason, hands: JobHands): Way[] {
  const { may, to } = hands;
  const admin = may("admin");
  switch (reason.kind) {
    case "review":
      return hands.review && may("editor") ? [{ title: "Review it", href: to(hands.review), main: true }] : [];
    case "failed":
    case "dead":
    case "quarantine":
      return admin && reason.task_id ? settled(reason.task_id, hands) : [];
    case "gone":
      return hands.resume ? [{ title: "Go on from a step …", run: hands.resume }] : [];
    case "nobody":
    case "lost":
      return admin ? [{ title: "See workers", href: to("/console/work/queues?tab=workers") }] : [];
    case "outage":
      return admin ? [{ title: "See health", href: to("/console/ops/health") }] : [];
    default:
      return [];
  }
}
