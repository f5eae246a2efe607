import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Connection, type Heard } from "../src/live/connection";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const stream = (...texts: string[]): Response => new Response(new Blob(texts).stream(), { status: 200 });
const refusal = (status: number, type: string): Response =>
  new Response(JSON.stringify({ type, status }), { status, headers: { "content-type": "application/problem+json" } });

function connected(answers: (Response | Error)[], last = "") {
  const asked: (string | undefined)[] = [];
  const said: string[] = [];
  const fetching = async (_: unknown, init?: RequestInit): Promise<Response> => {
    asked.push((init?.headers as Record<string, string>)["Last-Event-ID"]);
    const next = answers.shift() ?? new Error("nobody is there");
    if (next instanceof Error) throw next;
    return next;
  };
  const heard = Object.fromEntries(
    ["open", "event", "missed", "lost", "refused", "absent"].map((name) => [
      name,
      (told?: unknown) =>
        said.push(`${name} ${typeof told === "object" ? (told as { id: string }).id : (told ?? "")}`.trim()),
    ]),
  ) as unknown as Heard;
  return { connection: new Connection("/api/events", last, heard, fetching as typeof fetch), asked, said };
}

test("a stream is taken up where it broke off, and tells nothing twice", async () => {
  const { connection, asked, said } = connected([
    stream("event: ready\nid: 1\ndata: {}\n\nevent: a\nid: 2\ndata: {}\n\nevent: b\nid: 3\nda"),
    stream("event: ready\nid: 2\ndata: {}\n\nevent: b\nid: 3\ndata: {}\n\n"),
  ]);
  await vi.advanceTimersByTimeAsync(3000);
  connection.close();
  expect(asked.slice(0, 3)).toEqual([undefined, "2", "3"]);
  expect(said.slice(0, 6)).toEqual(["open 1", "event 2", "lost", "open 2", "event 3", "lost"]);
});

test("whoever comes too late is told so, and begins anew", async () => {
  const { connection, asked, said } = connected(
    [refusal(410, "feed-trimmed"), stream("event: ready\nid: 9\ndata: {}\n\n")],
    "1",
  );
  await vi.advanceTimersByTimeAsync(1500);
  connection.close();
  expect(asked.slice(0, 2)).toEqual(["1", undefined]);
  expect(said.slice(0, 3)).toEqual(["missed", "lost", "open 9"]);
});

test("a service that is away is asked ever more seldom, and one that is closed never", async () => {
  const { connection, asked } = connected([]);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(asked.length).toBeGreaterThan(5);
  expect(asked.length).toBeLessThan(20);
  connection.close();
  const before = asked.length;
  await vi.advanceTimersByTimeAsync(120_000);
  expect(asked.length).toBe(before);
});

test("a session that has ended and a stream that is not served are told", async () => {
  const { connection, said } = connected([refusal(401, "unauthenticated"), refusal(404, "no-such-route")]);
  await vi.advanceTimersByTimeAsync(2000);
  connection.close();
  expect(said).toEqual(["refused", "lost", "absent", "lost"]);
});
