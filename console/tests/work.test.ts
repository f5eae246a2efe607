import { expect, test } from "vitest";
import { placeOf, said, type InboxItem, type RecordLink } from "../src/api/operated";
import { dueText } from "../src/parts/Due.svelte";
import { lineThrough } from "../src/parts/Spark.svelte";
import { filled } from "../src/screens/ops/series";
import { aboutOf } from "../src/screens/work/assigning";
import { actionsFor } from "../src/screens/work/bulk";
import { spokenCron } from "../src/screens/work/cron";
import { lasted, sized } from "../src/screens/work/timing";

test("counts say where nobody has counted further", () => {
  expect(said({ number: 1000, more: true })).toBe("1,000+");
  expect(said({ number: 7, more: false })).toBe("7");
});

test("a record has a place, and what the system keeps for itself has none", () => {
  const link = { domain: "films", path: "/api/films/films/p1/a%2Fb" } as RecordLink;
  expect(placeOf(link)).toBe("/console/d/films/films/p1/a%2Fb");
  expect(placeOf({ ...link, domain: "ops" })).toBeNull();
});

test("that something is overdue is said plainly, and by how much", () => {
  const at = Date.parse("2037-01-02T00:00:00Z");
  const after = (minutes: number): string => dueText(at + minutes * 60_000, at);
  expect([-125, -60 * 50, -3].map(after)).toEqual(["overdue by 2 h", "overdue by 2 d", "overdue by 3 min"]);
  expect([90, 0.5].map(after)).toEqual(["due in 1 h", "due now"]);
});

test("when something runs by the clock is said in words, and what is unusual as it is written", () => {
  const crons = ["* * * * *", "*/5 * * * *", "17 3 * * *", "0 12 * * 1", "30 * * * *", "0 0 1 * *"];
  expect(crons.map(spokenCron)).toEqual([
    "every minute",
    "every 5 minutes",
    "every day at 03:17 UTC",
    "every Monday at 12:00 UTC",
    "every hour, 30 past",
    "0 0 1 * *",
  ]);
});

test("a job is assigned as a job, a record as itself, and what is the system's as nothing", () => {
  const record = { domain: "films", entity: "films.Film", key: { title: "Robot" } } as unknown as RecordLink;
  expect(aboutOf({ job_id: "7" } as InboxItem)).toEqual({ kind: "work.Job", key: { job_id: "7" } });
  expect(aboutOf({ record } as InboxItem)).toEqual({ kind: "films.Film", key: { title: "Robot" } });
  expect(aboutOf({ record: { ...record, domain: "ops" } } as InboxItem)).toBeNull();
});

test("only what a state allows is offered to all that match", () => {
  expect(actionsFor("jobs", "paused")).toEqual(["cancel"]);
  expect(actionsFor("jobs", "")).toEqual([]);
  expect(actionsFor("messages", "dead")).toEqual(["replay", "dismiss"]);
});

test("a line breaks off where nothing is known, and a number alone is a dot", () => {
  expect(lineThrough([0, 2, null, 1], 2, { width: 30, height: 10 })).toBe("M0.0 10.0L10.0 0.0M30.0 5.0h0");
});

test("steps in which nothing was seen are there, and empty", () => {
  const at = (second: number): { at: string } => ({ at: `2037-01-01T00:00:${second}Z` });
  expect(filled([at(10), at(40)], 10)).toEqual([at(10), null, null, at(40)]);
});

test("lengths and sizes are short", () => {
  expect([0.42, 12.4, 185, 7500].map(lasted)).toEqual(["0.4 s", "12 s", "3 min 5 s", "2 h 5 min"]);
  expect([512, 3_210_000, 48_000_000].map(sized)).toEqual(["512 B", "3.2 MB", "48.0 MB"]);
});
