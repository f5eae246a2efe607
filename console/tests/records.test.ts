import { describe, expect, it } from "vitest";
import { keyIn, recordPlace, type Collection, type Domain, type Machine } from "../src/records/declaration";
import { deedsOf, makerOf, movesOf } from "../src/records/deeds";
import { curve, MOST, ways } from "../src/records/diagram";
import { waysIn } from "../src/records/finder";
import { command, quoted } from "../src/records/lines";

const move = (name: string, origins: string[], to: string, more: object = {}) => ({
  name,
  origins,
  to,
  may: true,
  path: "/x",
  ...more,
});
const machine = (states: string[], moves: object[]): Machine =>
  ({ field: "status", states, initial: states[0], moves }) as Machine;
const route = (method: string, path: string, more: object = {}) => ({
  method,
  path,
  may: true,
  content_type: null,
  body: null,
  summary: null,
  parameters: [...path.matchAll(/\{(\w+)\}/g)].map((m) => ({
    name: m[1],
    place: "path",
    required: true,
    json_schema: {},
  })),
  ...more,
});

describe("a record", () => {
  const collection = { name: "scenes", key: ["project_id", "sequence"] };

  it("has a place by its key, whatever is in it", () => {
    const place = recordPlace("films", collection, { project_id: "a/b c", sequence: 7 });
    expect(place).toBe("/console/d/films/scenes/a%2Fb%20c/7");
    expect(keyIn(collection, "a%2Fb%20c/7")).toEqual({ project_id: "a/b c", sequence: "7" });
    expect(keyIn(collection, "a")).toBeNull();
  });

  it("offers the moves of its state that are for this person and made through a door", () => {
    const moves = [
      move("go", ["a"], "b"),
      move("stop", ["b"], "a"),
      move("hush", ["a"], "c", { may: false }),
      move("own", ["a"], "c", { path: null }),
    ];
    const states = { states: [machine(["a", "b", "c"], moves)] } as unknown as Collection;
    expect(movesOf(states, { status: "a" }).map((m) => m.move.name)).toEqual(["go"]);
  });

  it("offers the routes of its domain that are about it", () => {
    const json = { content_type: "application/json", body: {} };
    const routes = [
      route("PATCH", "/api/mv/projects/{project_id}/scenes/{sequence}", json),
      route("POST", "/api/mv/projects/{project_id}/scenes/{sequence}/trim", json),
      route("DELETE", "/api/mv/projects/{project_id}/scenes/{sequence}"),
      route("POST", "/api/mv/projects/{project_id}/scenes/{sequence}/upload", { content_type: "multipart/form-data" }),
      route("POST", "/api/mv/projects/{project_id}/generate"),
      route("POST", "/api/mv/others/{other_id}/{sequence}"),
      route("GET", "/api/mv/projects/{project_id}/scenes/{sequence}"),
    ];
    const deeds = deedsOf({ routes } as unknown as Domain, collection as unknown as Collection);
    expect(deeds.map((d) => d.title)).toEqual(["Edit", "Trim", "Remove"]);
    expect(deeds.map((d) => [d.edits, d.removes])).toEqual([
      [true, false],
      [false, false],
      [false, true],
    ]);
  });

  it("is made by its own form, or by an action that makes it", () => {
    const routes = [route("POST", "/api/mv/scenes", { content_type: "application/json", body: { a: 1 } })];
    const actions = [{ name: "draw", may: true, creates: ["scenes"], routes: ["POST /api/mv/scenes"], summary: "" }];
    const domain = { routes, actions } as unknown as Domain;
    const left = { ...collection, path: "/api/films/scenes", summary: "", creation: { may: false, body: null } };
    expect(makerOf(domain, left as unknown as Collection)).toMatchObject({ path: "/api/mv/scenes", own: false });
    expect(makerOf({ ...domain, actions: [] }, left as unknown as Collection)).toBeNull();
  });
});

describe("a diagram", () => {
  it("has one way for all moves between two states", () => {
    const moves = [move("go", ["a"], "b"), move("run", ["a"], "b")];
    expect(ways(machine(["a", "b"], moves), "a").ways).toEqual([{ from: "a", to: "b", moves: ["go", "run"] }]);
  });

  it("has only what is near where there are too many", () => {
    const states = Array.from({ length: MOST + 5 }, (_, n) => `s${n}`);
    const moves = states.slice(1).map((to, n) => move(`m${n}`, [states[n] ?? ""], to));
    expect(ways(machine(states, moves), "s9").states).toEqual(["s8", "s9", "s10"]);
  });

  it("has soft lines", () => {
    expect(
      curve([
        { x: 0, y: 0 },
        { x: 0, y: 10 },
        { x: 5, y: 20 },
      ]),
    ).toBe("M0 0 Q0 10 2.5 15 L5 20");
  });
});

describe("the same from elsewhere", () => {
  it("is quoted for a shell, and leaves out what is not known", () => {
    expect(quoted("it's")).toBe("'it'\\''s'");
    const words = ["penstock", "ls", "a.B.c", "status={status}", "at={at.since}..{at.until}", "who={who}"];
    expect(command(words, { status: "in review", "at.since": "2037" })).toBe(
      "penstock ls a.B.c 'status=in review' at=2037..",
    );
  });
});

describe("what was typed", () => {
  const parameter = (name: string, more: object = {}) => ({
    name,
    kind: "text",
    needed: true,
    ranged: false,
    words: [name],
    ...more,
  });
  const pattern = (name: string, parameters: object[], where: string[] = []) => ({
    name,
    may: true,
    parameters,
    where,
  });
  const collection = {
    name: "films",
    key: ["title"],
    fields: [{ name: "title", kind: "text", hidden: false }],
    patterns: [
      pattern("by_status", [parameter("status", { values: ["a", "b"] })], ["title"]),
      pattern("of_project", [
        parameter("project_id"),
        parameter("title", { needed: false, ranged: true, words: ["title.since", "title.starting_with"] }),
      ]),
      pattern("of_job", [parameter("job_id")]),
      pattern("of_two", [parameter("one"), parameter("two")]),
    ],
  };
  const domain = { name: "films", collections: [collection] } as unknown as Domain;

  it("is looked for where its beginning can be asked for, then among choices", () => {
    expect(waysIn(domain, "Rob", "p1").map((w) => w.query)).toEqual([
      { pattern: "of_project", project_id: "p1", "title.starting_with": "Rob" },
      { pattern: "by_status", status: "a", where: ["title>=Rob", "title<Rob\uD7FF"] },
      { pattern: "by_status", status: "b", where: ["title>=Rob", "title<Rob\uD7FF"] },
    ]);
    expect(waysIn(domain, "job-0007", null)[0]?.query).toEqual({ pattern: "of_job", job_id: "job-0007" });
  });
});
