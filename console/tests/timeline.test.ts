import { expect, test } from "vitest";
import type { TimelineEntry } from "../src/api/operated";
import { renewed, rowsOf } from "../src/screens/work/timeline";

const entry = (second: number, title = "form", more: Partial<TimelineEntry> = {}): TimelineEntry =>
  ({ ts: `2037-01-01T00:00:${String(second).padStart(2, "0")}Z`, kind: "change", title, ...more }) as TimelineEntry;

test("entries of one moment and name are told apart", () => {
  const keys = rowsOf([entry(1), entry(1), entry(1, "glaze")]).map((row) => row.key);
  expect(new Set(keys).size).toBe(3);
});

test("what is new comes first, what has changed is as it is now, and nothing is there twice", () => {
  const known = [entry(5, "d", { state: "running" }), entry(4, "c"), entry(3, "b"), entry(2, "a")];
  const first = [entry(6, "e"), entry(5, "d", { state: "done" }), entry(4, "c")];
  const whole = renewed(known, first);
  expect(whole.map((e) => e.title)).toEqual(["e", "d", "c", "b", "a"]);
  expect(whole[1]?.state).toBe("done");
});

test("a page of only new entries leaves out none of the old ones", () => {
  expect(renewed([entry(2, "b"), entry(1, "a")], [entry(9, "x"), entry(8, "y")]).map((e) => e.title)).toEqual([
    "x",
    "y",
    "b",
    "a",
  ]);
});
