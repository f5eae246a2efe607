import { untrack } from "svelte";

/** What was asked of the service: what came, or what went wrong. While it is asked anew, what came before is shown. */
export class Loaded<T> {
  value = $state.raw<T | null>(null);
  error = $state.raw<unknown>(null);
  #asked = new AbortController();

  constructor(private readonly ask: (signal: AbortSignal) => Promise<T>) {}

  /** Ask; only the last answer counts. */
  async load(): Promise<void> {
    this.#asked.abort();
    const asked = (this.#asked = new AbortController());
    try {
      const value = await this.ask(asked.signal);
      if (asked.signal.aborted) return;
      this.value = value;
      this.error = null;
    } catch (thrown) {
      if (!asked.signal.aborted) this.error = thrown;
    }
  }

  /** Forget what came, as it is of something else. */
  clear(): void {
    this.value = null;
    this.error = null;
  }

  stop(): void {
    this.#asked.abort();
  }
}

/** In a component: asked at once, and anew whenever something changes that `ask` reads before it waits. */
export function useLoaded<T>(ask: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const loaded = new Loaded(ask);
  $effect(() => {
    void loaded.load();
    return () => untrack(() => loaded.stop());
  });
  return loaded;
}
