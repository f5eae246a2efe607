import { get } from "../api/call";
import { said, type InboxView } from "../api/operated";
import { session } from "../api/session.svelte";
import { Calmly } from "../live/fresh.svelte";
import { live } from "../live/live.svelte";
import { title } from "./title.svelte";

const EVERY = 30_000;

/** How much needs whoever is signed in: in the title of the tab and in the navigation. */
class Inbox {
  count = $state<string | null>(null);
  #calmly = new Calmly(() => void this.load());

  /** Begin to look; whoever is signed in, and in whichever project. */
  follow(): () => void {
    this.#calmly.want();
    const off = live.on(
      () => true,
      () => this.#calmly.want(),
    );
    const look = (): void => {
      if (document.visibilityState === "visible" && !live.paused) this.#calmly.want();
    };
    const timer = setInterval(look, EVERY);
    return () => {
      off();
      clearInterval(timer);
      this.#calmly.stop();
    };
  }

  async load(): Promise<void> {
    if (!session.in || session.expired || document.visibilityState !== "visible") return;
    try {
      this.heard(await get<InboxView>("/api/work/inbox", { query: { limit: 1 } }));
    } catch {
      /* what it was is still shown: the frame says when the service is away */
    }
  }

  /** A screen has asked for all of it. */
  heard(view: InboxView): void {
    this.count = view.count.number ? said(view.count) : null;
    title.count = this.count ?? 0;
  }
}

export const inbox = new Inbox();
