import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Leader, type Locks, type Tabs } from "../src/live/leader";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Tabs that hear each other, as those of a browser do. */
class Street {
  all: House[] = [];
  house(): House {
    const house = new House(this);
    this.all.push(house);
    return house;
  }
}
class House implements Tabs {
  onmessage: ((event: MessageEvent) => void) | null = null;
  deaf = false;
  constructor(private readonly street: Street) {}
  postMessage(said: unknown): void {
    if (this.deaf) return;
    for (const other of this.street.all) {
      if (other !== this && !other.deaf)
        queueMicrotask(() => other.onmessage?.({ data: structuredClone(said) } as MessageEvent));
    }
  }
  close(): void {
    this.street.all = this.street.all.filter((h) => h !== this);
  }
}

/** A lock as browsers give it: to one at a time, in the order of asking. */
class Lock implements Locks {
  #queue: Promise<unknown> = Promise.resolve();
  request(_: string, { signal }: { signal: AbortSignal }, held: () => Promise<unknown>): Promise<unknown> {
    const turn = this.#queue.then(() => (signal.aborted ? Promise.reject(new Error("aborted")) : held()));
    this.#queue = turn.catch(() => undefined);
    return turn;
  }
}

function opened(street: Street, locks: Locks | null = null) {
  const house = street.house();
  const heard: string[] = [];
  const leads: string[] = [];
  const leader = new Leader<string>(
    house,
    {
      lead: (last) => leads.push(last),
      follow: () => leads.push("no more"),
      heard: (what) => heard.push(what),
      missed: () => heard.push("missed"),
      identity: (what) => what,
    },
    locks && { of: locks, name: "street" },
  );
  return { leader, house, heard, leads };
}

test("of any number of tabs one leads, and all hear the same", async () => {
  const street = new Street();
  const tabs = Array.from({ length: 7 }, () => opened(street));
  for (const { leader } of tabs) leader.stand();
  await vi.advanceTimersByTimeAsync(5000);
  const leading = tabs.filter((t) => t.leader.leading);
  expect(leading.length).toBe(1);
  leading[0]?.leader.tell("one", "1");
  leading[0]?.leader.tell("two", "2");
  await vi.advanceTimersByTimeAsync(10);
  for (const { heard, leader } of tabs) expect([heard, leader.last]).toEqual([["one", "two"], "2"]);
});

test("when the leader is hidden another goes on where it was, and when it dies too", async () => {
  const street = new Street();
  const [one, two, three] = [opened(street), opened(street), opened(street)];
  one.leader.stand();
  await vi.advanceTimersByTimeAsync(1000);
  one.leader.tell("a", "7");
  two.leader.stand();
  await vi.advanceTimersByTimeAsync(1500);
  expect(two.leader.leading).toBe(false);
  one.leader.tell("b", "8");
  one.leader.rest();
  await vi.advanceTimersByTimeAsync(1000);
  expect([one.leader.leading, two.leads]).toEqual([false, ["8"]]);
  three.leader.stand();
  two.leader.tell("c", "9");
  await vi.advanceTimersByTimeAsync(500);
  two.house.deaf = true; // it is gone without a word
  await vi.advanceTimersByTimeAsync(4000);
  expect(three.leads).toEqual(["9"]);
  expect(one.heard).toEqual(["a", "b", "c"]);
});

test("two that lead at once do not stay two", async () => {
  const street = new Street();
  const [one, two] = [opened(street), opened(street)];
  one.house.deaf = two.house.deaf = true;
  one.leader.stand();
  two.leader.stand();
  await vi.advanceTimersByTimeAsync(3000);
  expect([one.leader.leading, two.leader.leading]).toEqual([true, true]);
  one.house.deaf = two.house.deaf = false;
  await vi.advanceTimersByTimeAsync(3000);
  expect([one.leader.leading, two.leader.leading].filter(Boolean).length).toBe(1);
});

test("a tab that slept through something hears it afterwards, in order", async () => {
  const street = new Street();
  const [one, two] = [opened(street), opened(street)];
  one.leader.stand();
  await vi.advanceTimersByTimeAsync(1000);
  one.leader.tell("a", "1");
  await vi.advanceTimersByTimeAsync(10);
  two.house.deaf = true;
  one.leader.tell("b", "2");
  await vi.advanceTimersByTimeAsync(10);
  two.house.deaf = false;
  one.leader.tell("c", "3");
  one.leader.tell("d", "4");
  await vi.advanceTimersByTimeAsync(10);
  one.leader.tell("e", "5");
  await vi.advanceTimersByTimeAsync(10);
  expect([two.heard, two.leader.last]).toEqual([["a", "b", "c", "d", "e"], "5"]);
});

test("a tab that slept through more than anybody remembers is told that it missed it", async () => {
  const street = new Street();
  const [one, two] = [opened(street), opened(street)];
  one.leader.stand();
  await vi.advanceTimersByTimeAsync(1000);
  one.leader.tell("a", "0");
  await vi.advanceTimersByTimeAsync(10);
  two.house.deaf = true;
  for (let n = 1; n <= 300; n++) one.leader.tell(`b${n}`, `${n}`);
  await vi.advanceTimersByTimeAsync(10);
  two.house.deaf = false;
  one.leader.tell("c", "301");
  await vi.advanceTimersByTimeAsync(10);
  one.leader.tell("d", "302");
  await vi.advanceTimersByTimeAsync(10);
  expect(two.heard).toEqual(["a", "missed", "d"]);
});

test("what a leader told to some before it ended, all hear, and each once", async () => {
  const [street, locks] = [new Street(), new Lock()];
  const [one, two, three] = [opened(street, locks), opened(street, locks), opened(street, locks)];
  for (const { leader } of [one, two, three]) leader.stand();
  await vi.advanceTimersByTimeAsync(1000);
  one.leader.tell("a", "1");
  await vi.advanceTimersByTimeAsync(10);
  three.house.deaf = true; // its last words reach one of two
  one.leader.tell("b", "2");
  await vi.advanceTimersByTimeAsync(10);
  one.leader.close();
  three.house.deaf = false;
  await vi.advanceTimersByTimeAsync(1000);
  expect(two.leads).toEqual(["2"]); // the one that heard it leads on
  two.leader.tell("open", "2'");
  await vi.advanceTimersByTimeAsync(10);
  two.house.deaf = true;
  three.house.deaf = true;
  two.leader.tell("c", "3");
  two.house.deaf = three.house.deaf = false;
  two.leader.close(); // and now the one that did not hear it
  await vi.advanceTimersByTimeAsync(1000);
  expect(three.leads).toEqual(["2'"]);
  expect(three.heard).toEqual(["a", "b", "open"]);
});

test("a tab that is ahead of its new leader does not hear twice what the stream tells again", async () => {
  const [street, locks] = [new Street(), new Lock()];
  const [one, two, three] = [opened(street, locks), opened(street, locks), opened(street, locks)];
  for (const { leader } of [one, two, three]) leader.stand();
  await vi.advanceTimersByTimeAsync(1000);
  one.leader.tell("a", "1");
  await vi.advanceTimersByTimeAsync(10);
  two.house.deaf = true;
  one.leader.tell("b", "2");
  await vi.advanceTimersByTimeAsync(10);
  one.leader.close();
  two.house.deaf = false;
  await vi.advanceTimersByTimeAsync(1000);
  expect(two.leads).toEqual(["1"]);
  two.leader.tell("open", "1'"); // the same place has another name in every stream
  two.leader.tell("b", "2'");
  two.leader.tell("c", "3");
  await vi.advanceTimersByTimeAsync(10);
  expect([two.heard, three.heard]).toEqual([
    ["a", "open", "b", "c"],
    ["a", "b", "open", "c"],
  ]);
});

test("where the browser has locks a leader that is silent for long stays the only one", async () => {
  const [street, locks] = [new Street(), new Lock()];
  const [one, two] = [opened(street, locks), opened(street, locks)];
  one.leader.stand();
  two.leader.stand();
  await vi.advanceTimersByTimeAsync(1000);
  one.house.deaf = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect([one.leads, two.leads]).toEqual([[""], []]);
  one.house.deaf = false;
  one.leader.tell("a", "1");
  await vi.advanceTimersByTimeAsync(10);
  one.leader.close();
  await vi.advanceTimersByTimeAsync(1000);
  expect([two.heard, two.leads]).toEqual([["a"], ["1"]]);
});

test("a farewell that comes after the lock does not keep the next from leading", async () => {
  const [street, locks] = [new Street(), new Lock()];
  const [one, two] = [opened(street, locks), opened(street, locks)];
  one.leader.stand();
  two.leader.stand();
  await vi.advanceTimersByTimeAsync(1000);
  one.house.deaf = true;
  one.leader.close();
  await vi.advanceTimersByTimeAsync(10);
  two.house.onmessage?.({ data: { kind: "bye", from: one.leader.id, last: "7" } } as MessageEvent);
  await vi.advanceTimersByTimeAsync(1000);
  expect(two.leads).toEqual(["7"]);
});

test("a tab that is hidden before its turn comes never leads", async () => {
  const [street, locks] = [new Street(), new Lock()];
  const [one, two] = [opened(street, locks), opened(street, locks)];
  one.leader.stand();
  two.leader.stand();
  await vi.advanceTimersByTimeAsync(1000);
  two.leader.rest();
  one.leader.close();
  await vi.advanceTimersByTimeAsync(1000);
  expect(two.leads).toEqual([]);
});
