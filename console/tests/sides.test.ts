import { render } from "@testing-library/svelte";
import { expect, test } from "vitest";
import { now } from "../src/app/now.svelte";
import type { Item } from "../src/review/desk";
import SideLabels from "../src/review/SideLabels.svelte";
import { sideOf, type Side } from "../src/review/sides";
import type { Comparing } from "../src/review/viewer";

const ago = (minutes: number): string => new Date(now.at - minutes * 60_000).toISOString();
const both: [Side, Side] = [
  { title: "refine, run 2", at: ago(5), by: "Ann Ortiz" },
  { title: "refine, run 1", at: ago(120), by: "a worker" },
];
function labels(comparing: Comparing): string[] {
  const { container } = render(SideLabels, { props: { both, comparing } });
  return [...container.querySelectorAll("p")].map((p) => (p.textContent ?? "").replace(/\s+/g, " ").trim());
}

test("two versions that are compared are both labelled: which, when, and by whom", () => {
  const named = ["Left refine, run 2 5m ago by Ann Ortiz", "Right refine, run 1 2h ago by a worker"];
  expect(labels("wipe")).toEqual(named);
  expect(labels("side")).toEqual(named);
});

test("where only one of them is seen, it says which", () => {
  expect(labels("first")).toEqual(["refine, run 2 5m ago by Ann Ortiz"]);
  expect(labels("second")).toEqual(["refine, run 1 2h ago by a worker"]);
});

test("an item is labelled as its own among its versions, and one without others by its title", () => {
  const version = { record: "/api/x", title: "run 2", states: {}, shown: true, made_at: "2037-01-01T00:00:00Z" };
  const item = { title: "Fox: run 2", versions: [{ ...version, shown: false, title: "run 1" }, version] };
  expect(sideOf(item as unknown as Item, null)).toEqual({ title: "run 2", at: version.made_at, by: null });
  expect(sideOf({ title: "Fox", versions: [] } as unknown as Item, "Ann").title).toBe("Fox");
});
