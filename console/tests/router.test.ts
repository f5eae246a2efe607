import { beforeEach, expect, test } from "vitest";
import { apart, matched, owned, router } from "../src/app/router.svelte";

beforeEach(() => router.go("/", { replace: true }));

test("a pattern gives the parts of a path their names", () => {
  expect(matched("/console/d/:domain/:collection", "/console/d/films/reels")).toEqual({
    domain: "films",
    collection: "reels",
  });
  expect(matched("/console/d/:domain", "/console/d/a%2Fb%20c")).toEqual({ domain: "a/b c" });
  expect(matched("/console/d/:domain", "/console/d/films/")).toEqual({ domain: "films" });
  expect(matched("/console/d/:domain", "/console/d/%E0")).toEqual({ domain: "%E0" });
  expect(matched("/console/d/:domain", "/console/d/films/reels")).toBeNull();
  expect(matched("/console/r/:kind/*key", "/console/r/film/p1/a%2Fb")).toEqual({ kind: "film", key: "p1/a%2Fb" });
  expect(matched("/", "/")).toEqual({});
});

test("only the console's own paths are followed without a load", () => {
  expect(["/", "/console", "/console/x"].every(owned)).toBe(true);
  expect(["/docs", "/consoles", "/api/x", "/objects/a"].some(owned)).toBe(false);
});

test("the project goes with every link, and can be left", () => {
  router.choose("p1");
  expect(router.to("/console/work")).toBe("/console/work?project=p1");
  expect(router.to("/console/work?project=p2")).toBe("/console/work?project=p2");
  router.go("/console/work");
  expect(router.project).toBe("p1");
  router.choose(null);
  expect(location.search).toBe("");
});

test("the query is changed bit by bit, and what is empty is left out", () => {
  router.set({ tab: "notes", cursor: "abc" });
  router.set({ cursor: null });
  expect(location.search).toBe("?tab=notes");
  const before = router.visit;
  router.set({ tab: "" });
  expect([location.search, router.visit]).toEqual(["", before]);
});

test("the page of the API is a document of its own", () => {
  expect(["/console/api", "/console/api/"].every(apart)).toBe(true);
  expect(["/", "/console", "/console/apis", "/console/api/x"].some(apart)).toBe(false);
});
