import { session } from "../api/session.svelte";
import { router } from "../app/router.svelte";
import { Connection } from "./connection";
import type { LiveEvent } from "./events";
import { Leader } from "./leader";

export type { LiveEvent } from "./events";
export type Handler = (event: LiveEvent) => void;

const PATH = "/api/events";
const HELD = 1000;

type Told = LiveEvent | "missed" | "open" | "lost" | "absent";
/** `resync` is told where events were missed: load anew what is shown. */
const RESYNC: LiveEvent = { name: "resync", id: "", data: null };

/** A change has an id; that a stream is open or alive is no change, and may be said again. */
function identity(told: Told): string | null {
  if (typeof told === "string") return null;
  const id = (told.data as { id?: unknown } | null)?.id;
  return typeof id === "string" ? `${told.name} ${id}` : null;
}

/**
 * The one stream of what happens. A screen says what it wants to hear of, and shows it at once; somebody who reads may
 * pause it, and what happens meanwhile is told afterwards.
 */
class Live {
  state = $state<"connecting" | "live" | "lost" | "absent" | "off">("off");
  paused = $state(false);
  /** What waits for the end of a pause. */
  waiting = $state(0);
  #handlers = new Set<{ wanted: (event: LiveEvent) => boolean; run: Handler }>();
  #held: LiveEvent[] = [];
  #overfull = false;
  #leader: Leader<Told> | null = null;
  #connection: Connection | null = null;
  #whose = "";

  /** Hear of what happens: of events whose names begin so (`films.`), or of all; until the returned function is called. */
  on(names: string | string[] | ((event: LiveEvent) => boolean), run: Handler): () => void {
    const begins = typeof names === "string" ? [names] : names;
    const wanted = typeof begins === "function" ? begins : (e: LiveEvent) => begins.some((n) => e.name.startsWith(n));
    const handler = { wanted, run };
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  pause(paused = !this.paused): void {
    this.paused = paused;
    if (paused) return;
    const held = this.#overfull ? [RESYNC] : this.#held;
    this.#held = [];
    this.#overfull = false;
    this.waiting = 0;
    for (const event of held) this.#deliver(event);
  }

  /** Follow the stream of whoever is signed in, in the project that is looked at. */
  follow(): void {
    const whose = session.in ? `${session.who?.name}|${router.project ?? ""}` : "";
    if (whose === this.#whose) return this.#seen();
    this.stop();
    this.#whose = whose;
    if (!whose) return;
    this.state = "connecting";
    const name = `penstock-live|${whose}`;
    // Only where the browser trusts the page's origin, whatever its types say.
    const locks = navigator.locks as LockManager | undefined;
    this.#leader = new Leader<Told>(
      new BroadcastChannel(name),
      {
        lead: (last) => this.#connect(last),
        follow: () => this.#disconnect(),
        heard: (told) => this.#heard(told),
        missed: () => this.#heard("missed"),
        identity,
      },
      locks ? { of: locks, name } : null,
    );
    this.#seen();
  }

  stop(): void {
    this.#leader?.close();
    this.#leader = null;
    this.#disconnect();
    this.#whose = "";
    this.state = "off";
  }

  #seen(): void {
    if (document.visibilityState === "visible") this.#leader?.stand();
    else this.#leader?.rest();
  }

  #connect(last: string): void {
    const leader = this.#leader;
    if (!leader) return;
    this.#connection = new Connection(PATH, last, {
      open: (id) => leader.tell("open", id),
      event: (event) => leader.tell(event, event.id),
      missed: () => leader.tell("missed", ""),
      lost: () => leader.tell("lost", ""),
      absent: () => leader.tell("absent", ""),
      refused: () => void session.load().catch(() => undefined),
    });
  }

  #disconnect(): void {
    this.#connection?.close();
    this.#connection = null;
  }

  #heard(told: Told): void {
    if (told === "open") this.state = "live";
    else if (told === "absent") this.state = "absent";
    else if (told === "lost") this.state = this.state === "absent" ? "absent" : "lost";
    else {
      this.state = "live";
      // That the stream is alive moves every tab's place in it, and is no news.
      if (told === "missed") this.#take(RESYNC);
      else if (told.name !== "alive") this.#take(told);
    }
  }

  #take(event: LiveEvent): void {
    if (!this.paused) return this.#deliver(event);
    this.#overfull ||= event === RESYNC || this.#held.length >= HELD;
    if (!this.#overfull) this.#held.push(event);
    this.waiting++;
  }

  #deliver(event: LiveEvent): void {
    for (const { wanted, run } of [...this.#handlers]) if (event === RESYNC || wanted(event)) run(event);
  }
}

export const live = new Live();
document.addEventListener("visibilitychange", () => live.follow());
addEventListener("pagehide", () => live.stop());
addEventListener("pageshow", (event) => event.persisted && live.follow());

/** In a component: hear of these while it is shown. */
export function useLive(names: Parameters<Live["on"]>[0], run: Handler): void {
  $effect(() => live.on(names, run));
}
