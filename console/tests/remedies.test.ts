import { expect, test } from "vitest";
import type { InboxItem, RecordLink, WaitingReason } from "../src/api/operated";
import type { Role } from "../src/api/session.svelte";
import { isForOthers, remedies, waysOf, type InboxHands, type JobHands } from "../src/screens/work/remedies";

const ORDER: Role[] = ["viewer", "editor", "admin"];
function hands(role: Role, called: string[] = []): InboxHands & JobHands {
  return {
    may: (least) => ORDER.indexOf(role) >= ORDER.indexOf(least),
    to: (path) => path,
    retry: (task) => called.push(`retry ${task}`),
    cancel: (task) => called.push(`cancel ${task}`),
    move: (path, to) => called.push(`${to} ${path}`),
    review: "/console/review/films/takes/1",
    resume: () => called.push("resume"),
  };
}
const link = (path: string, domain = "films"): RecordLink => ({ domain, path }) as RecordLink;
const item = (more: Partial<InboxItem>): InboxItem => ({ title: "It", since: null, ...more }) as InboxItem;
const titles = (ways: { title: string }[]): string[] => ways.map((w) => w.title);

test("wherever the inbox says that something must be done, whoever may do it has the button for it", () => {
  const record = link("/api/films/films/1");
  const look_at = link("/api/films/takes/1");
  const dead = link("/api/ops/messages/7", "ops");
  const groups: [string, InboxItem, string[]][] = [
    ["reviews", item({ record, job_id: "7", look_at }), ["Review"]],
    ["reviews", item({ record, job_id: "7" }), ["Review"]],
    ["assigned", item({ record }), ["Open"]],
    ["films.0", item({ record }), ["Open"]],
    ["films.1", item({ record, look_at }), ["Review"]],
    ["quarantined_tasks", item({ task_id: "t" }), ["Try again", "Give up"]],
    ["dead_tasks", item({ task_id: "t" }), ["Try again", "Give up"]],
    ["dead_messages", item({ record: dead }), ["Replay", "Dismiss"]],
    ["held_messages", item({}), ["See the one before"]],
    ["feed_letters", item({ record: dead }), ["Replay …"]],
    ["expiring", item({ record: dead }), ["See uploads"]],
    ["over_quota", item({ record }), ["Open"]],
  ];
  for (const [group, each, expected] of groups)
    expect(titles(waysOf(group, each, hands("admin"))), group).toEqual(expected);
});

test("nobody is offered what they may not do", () => {
  expect(waysOf("dead_tasks", item({ task_id: "t" }), hands("editor"))).toEqual([]);
  expect(titles(waysOf("reviews", item({ job_id: "7", look_at: link("/api/x") }), hands("viewer")))).toEqual(["Open"]);
  const reason = { kind: "quarantine", text: "", task_id: "t" } as WaitingReason;
  expect(remedies(reason, hands("editor"))).toEqual([]);
  expect([isForOthers(reason, hands("editor")), isForOthers(reason, hands("admin"))]).toEqual([true, false]);
});

test("beside each reason that waits for a person there is what the person does about it", () => {
  const called: string[] = [];
  const done = (kind: string): string[] => {
    const ways = remedies({ kind, text: "", task_id: "t" } as WaitingReason, hands("admin", called));
    for (const way of ways) way.run?.();
    return ways.map((way) => way.href ?? way.title);
  };
  expect(done("review")).toEqual(["/console/review/films/takes/1"]);
  for (const kind of ["failed", "dead", "quarantine"]) expect(done(kind)).toEqual(["Try again", "Give up"]);
  expect(done("gone")).toEqual(["Go on from a step …"]);
  expect(done("nobody")).toEqual(["/console/work/queues?tab=workers"]);
  expect(done("working")).toEqual([]);
  expect(called).toContain("retry t");
  expect(called.at(-1)).toBe("resume");
});
