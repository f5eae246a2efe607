import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { APART, Calmly } from "../src/live/fresh.svelte";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("the first wish is done at once, many in a while are one, and the last is never lost", () => {
  const run = vi.fn();
  const calmly = new Calmly(run);
  calmly.want();
  vi.advanceTimersByTime(0);
  expect(run).toHaveBeenCalledTimes(1);
  for (let n = 0; n < 50; n++) calmly.want();
  vi.advanceTimersByTime(APART - 1);
  expect(run).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1);
  expect(run).toHaveBeenCalledTimes(2);
  calmly.want();
  calmly.stop();
  vi.advanceTimersByTime(10 * APART);
  expect(run).toHaveBeenCalledTimes(2);
});
