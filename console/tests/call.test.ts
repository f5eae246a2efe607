import { afterEach, expect, test, vi } from "vitest";
import { address, around, ask, get, post } from "../src/api/call";
import { Problem } from "../src/api/problem";

const answers = (...all: (Response | Error)[]) => {
  const asked: [string, RequestInit][] = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    asked.push([url, init]);
    const next = all.shift();
    if (!next || next instanceof Error) throw next ?? new TypeError("gone");
    return next;
  });
  return asked;
};
const json = (body: unknown, status = 200, type = "application/json"): Response =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": type } });
const problem = (type: string, status: number): Response =>
  json({ type, status, detail: "no", title: "", hint: "do", request_id: "r1" }, status, "application/problem+json");

afterEach(() => {
  vi.unstubAllGlobals();
  Object.assign(around, { csrf: null, project: null, renewed: async () => false, reached: () => {} });
});

test("what changes something carries the token, and everything the project", async () => {
  Object.assign(around, { csrf: "token", project: "p1" });
  const asked = answers(json({}), json({}), json({}));
  await get("/api/x");
  await post("/api/x", { a: 1 });
  await get("/api/session", { everywhere: true });
  const headers = asked.map(([, init]) => init.headers as Record<string, string>);
  expect(headers.map((h) => h["X-CSRF-Token"])).toEqual([undefined, "token", undefined]);
  expect(headers.map((h) => h["X-Project"])).toEqual(["p1", "p1", undefined]);
  expect(asked[1]?.[1].body).toBe('{"a":1}');
});

test("a request that met the end of a session is sent again once somebody has signed in", async () => {
  let renewals = 0;
  around.renewed = async () => (renewals++, true);
  const asked = answers(problem("unauthenticated", 401), json({ done: true }));
  expect(await post("/api/x", { typed: "long" })).toEqual({ done: true });
  expect([renewals, asked.map(([, init]) => init.body)]).toEqual([1, ['{"typed":"long"}', '{"typed":"long"}']]);
});

test("an error is a problem with its hint, and no answer is one too", async () => {
  const heard: boolean[] = [];
  around.reached = (answered) => void heard.push(answered);
  answers(problem("conflict", 409), new TypeError("gone"), new Response("<html>", { status: 502 }));
  await expect(ask("GET", "/a")).rejects.toMatchObject({ body: { type: "conflict", hint: "do", request_id: "r1" } });
  await expect(ask("GET", "/a")).rejects.toMatchObject({ offline: true });
  await expect(ask("GET", "/a")).rejects.toBeInstanceOf(Problem);
  expect(heard).toEqual([true, false, true]);
});

test("an address leaves out what is empty and repeats what is many", () => {
  expect(address("/a", { b: "x y", c: null, d: ["1", "2"], e: "" })).toBe("/a?b=x+y&d=1&d=2");
});
