import { describe, expect, it } from "vitest";
import type { Collection, Values } from "../src/records/declaration";
import { columnsOf, queryOf, questionIn, withChange, type Change, type Question } from "../src/records/listing";

const field = (name: string, kind: string, more: object = {}) => ({ name, kind, key: false, hidden: false, ...more });
const films = {
  name: "films",
  key: ["project_id", "title"],
  version: null,
  states: [{ field: "status", states: ["draft", "done"], initial: "draft", moves: [] }],
  fields: [
    field("project_id", "text", { key: true }),
    field("title", "text", { key: true }),
    field("status", "state"),
    field("notes", "map"),
    field("guest", "text", { hidden: true }),
    field("created_at", "time"),
  ],
  patterns: [
    {
      name: "by_status",
      may: true,
      parameters: [
        { name: "status", kind: "state", needed: true, ranged: false, words: ["status"], values: ["draft", "done"] },
        {
          name: "created_at",
          kind: "time",
          needed: false,
          ranged: true,
          words: ["created_at.since", "created_at.until"],
        },
      ],
      order: { fields: ["created_at"], backwards: false },
      where: ["title"],
      takes: ["where", "fields", "count"],
    },
    {
      name: "of_project",
      may: true,
      parameters: [{ name: "project_id", kind: "text", needed: true, ranged: false, words: ["project_id"] }],
      order: { fields: ["title"], backwards: true },
      where: [],
      takes: [],
    },
  ],
} as unknown as Collection;

const film = (title: string, at: number, status = "draft"): Values => ({
  project_id: "p1",
  title,
  status,
  created_at: `2037-01-01T00:00:0${at}Z`,
});
const told = (now: Values | null, title = String(now?.title)): Change => ({
  domain: "films",
  entity: "films",
  kind: "update",
  key: { project_id: "p1", title },
  old: null,
  new: now,
});
const asked = (query: string): Question => questionIn(new URLSearchParams(query), films) as Question;

describe("a question", () => {
  it("begins with the first state, and needs what nobody can guess", () => {
    expect(asked("").given).toEqual({ status: "draft" });
    expect(asked("").missing).toEqual([]);
    expect(asked("pattern=of_project").missing.map((p) => p.name)).toEqual(["project_id"]);
    expect(questionIn(new URLSearchParams("pattern=of_project"), films, { project: "p1" })?.given).toEqual({
      project_id: "p1",
    });
  });

  it("takes only what belongs to its pattern, and several conditions", () => {
    const question = asked("q.status=done&q.project_id=p1&where=title>a%0Atitle<b&fields=title,guest,nothing");
    expect(question.given).toEqual({ status: "done" });
    expect(question.where).toEqual(["title>a", "title<b"]);
    expect(question.columns).toEqual(["title"]);
    expect(queryOf(question, films, 50, null)).toMatchObject({ count: 100, where: ["title>a", "title<b"], limit: 50 });
    expect(queryOf(question, films, 50, "next")).not.toHaveProperty("count");
    expect(queryOf(asked("pattern=of_project&q.project_id=p1"), films, 50, null)).not.toHaveProperty("fields");
  });

  it("shows what tells most, and nothing that is hidden", () => {
    expect(columnsOf(films, [])).toEqual(["title", "status", "project_id", "created_at"]);
  });
});

describe("a change", () => {
  const rows = [film("a", 1), film("b", 3)];
  const list = { collection: films, question: asked(""), ended: true };
  const titles = (change: Change, more: object = {}) =>
    withChange(rows, change, { ...list, ...more }).rows.map((row) => row.title);

  it("is seen in its row, and takes away what does not belong there any more", () => {
    const now = withChange(rows, told({ ...film("b", 3), views: 7 }), list).rows;
    expect(now[1]).toMatchObject({ title: "b", views: 7 });
    expect(titles(told(film("b", 3, "done")))).toEqual(["a"]);
    expect(titles(told(null, "a"))).toEqual(["b"]);
    expect(titles(told(film("c", 2, "done")))).toEqual(["a", "b"]);
  });

  it("puts what is new where it belongs, unless that is further on", () => {
    expect(titles(told(film("c", 2)))).toEqual(["a", "c", "b"]);
    expect(titles(told(film("a", 5)))).toEqual(["b", "a"]);
    expect(titles(told(film("c", 9)))).toEqual(["a", "b", "c"]);
    expect(titles(told(film("c", 9)), { ended: false })).toEqual(["a", "b"]);
    expect(titles(told(film("c", 0)), { question: asked("cursor=x") })).toEqual(["a", "b"]);
  });

  it("is told of where only the service can say whether it belongs", () => {
    expect(withChange(rows, told(film("c", 2)), { ...list, question: asked("where=title>x") }).elsewhere).toBe(true);
    const bounded = asked("q.created_at.since=2037-01-01T00:00:00Z");
    expect(withChange(rows, told(film("c", 2)), { ...list, question: bounded }).elsewhere).toBe(true);
  });
});
