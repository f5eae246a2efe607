import { live } from "./live.svelte";

export const APART = 1000;

/** Runs something now and, however often it is wanted, no more than once in a while: the last wish is never lost. */
export class Calmly {
  #last = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly run: () => void,
    private readonly apart = APART,
  ) {}

  want(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#go(), Math.max(0, this.#last + this.apart - Date.now()));
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #go(): void {
    this.#timer = undefined;
    this.#last = Date.now();
    this.run();
  }
}

/**
 * In a component: load anew when something happens, and every so often, as not everything that work does is told in the
 * stream. Not while nobody looks, nor while the reader has paused it.
 */
export function useFresh(
  run: () => unknown,
  { names = () => true, every = 15_000 }: { names?: Parameters<typeof live.on>[0]; every?: number } = {},
): void {
  $effect(() => {
    const calmly = new Calmly(run);
    const off = live.on(names, () => calmly.want());
    const timer = setInterval(() => document.visibilityState === "visible" && !live.paused && calmly.want(), every);
    return () => {
      off();
      clearInterval(timer);
      calmly.stop();
    };
  });
}
