import { segment } from "./call";
import type { components } from "./schema";

type Of<Name extends keyof components["schemas"]> = components["schemas"][Name];
export type Counted = Of<"Counted">;
export type RecordLink = Of<"RecordLink">;
export type InboxView = Of<"InboxView">;
export type InboxGroup = Of<"InboxGroup">;
export type InboxItem = Of<"InboxItem">;
export type JobStanding = Of<"JobStanding">;
export type JobDetail = Of<"JobDetail">;
export type TaskView = Of<"TaskView">;
export type AttemptView = Of<"AttemptView">;
export type TimelineEntry = Of<"TimelineEntry">;
export type WaitingReason = Of<"WaitingReason">;
export type QueueStanding = Of<"QueueStanding">;
export type WorkerStanding = Of<"WorkerStanding">;
export type DutyView = Of<"DutyView">;
export type ScheduleNow = Of<"ScheduleNow">;
export type BulkQuestion = Of<"BulkQuestion">;
export type BulkPreview = Of<"BulkPreview">;
export type BulkView = Of<"BulkView">;
export type BegunTask = Of<"BegunTask">;
export type AuditView = Of<"AuditView">;
export type AuditPage = Of<"AuditPage">;
export type KeyNow = Of<"KeyNow">;
export type KeyMade = Of<"KeyMade">;
export type HealthView = Of<"HealthView">;
export type SeriesPoint = Of<"SeriesPoint">;

/** A page of a list; pass `next` back as `cursor`, until it is null. */
export interface Page<T> {
  items: T[];
  next: string | null;
}

/** `7`, or `100+` where nobody has counted further. */
export const said = (count: Counted | null | undefined): string =>
  count ? `${count.number.toLocaleString("en")}${count.more ? "+" : ""}` : "–";

/** Where the console shows a record that a link names; null where it is the system's own. */
export function placeOf(link: RecordLink | null | undefined): string | null {
  if (!link || link.domain === "ops") return null;
  return link.path.replace(/^\/api\//, "/console/d/");
}

/** Where it is looked at to decide about it. */
export function placeOfReview(link: RecordLink | null | undefined): string | null {
  return link && link.domain !== "ops" ? link.path.replace(/^\/api\//, "/console/review/") : null;
}

export const placeOfJob = (id: string): string => `/console/work/jobs/${segment(id)}`;
export const placeOfTask = (id: string): string => `/console/work/tasks/${segment(id)}`;
