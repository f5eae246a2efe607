/** What tabs tell each other. */
type Said<T> =
  | { kind: "beat" | "bye"; from: string; last: string }
  | { kind: "claim"; from: string }
  | { kind: "told"; from: string; before: string; last: string; what: T };

export interface Led<T> {
  /** This tab is to do it, from here on. */
  lead: (last: string) => void;
  /** Another tab does it now. */
  follow: () => void;
  heard: (what: T) => void;
  /** Something was told while this tab slept. */
  missed: () => void;
}

const BEAT = 1000;
const GONE = 2600;
const COURTESY = 150;

export interface Tabs {
  postMessage(said: unknown): void;
  onmessage: ((event: MessageEvent) => void) | null;
  close(): void;
}

/** As the browser has them, where it has: `navigator.locks`. */
export interface Locks {
  request(name: string, options: { signal: AbortSignal }, held: () => Promise<unknown>): Promise<unknown>;
}
interface Hold {
  end: () => void;
}

/**
 * One of the tabs that can be seen leads; the others hear from it. A browser has six connections to a service of
 * HTTP/1.1 in all, so a stream for each tab would leave the seventh without an answer.
 *
 * Who leads has a lock, of which the browser gives one, and takes it back from a tab that is gone. Pages that come by plain
 * http from another machine have no locks: there tabs agree by telling each other, and for a moment two may lead.
 */
export class Leader<T> {
  readonly id = crypto.getRandomValues(new Uint32Array(2)).join("-");
  leading = false;
  /** The id of the last thing that was told. */
  last = "";
  #beat: ReturnType<typeof setInterval> | undefined;
  #watch: ReturnType<typeof setTimeout> | undefined;
  #standing = false;
  #hold: Hold | null = null;

  constructor(
    private readonly tabs: Tabs,
    private readonly led: Led<T>,
    private readonly locks: { of: Locks; name: string } | null = null,
  ) {
    tabs.onmessage = ({ data }) => this.#hear(data as Said<T>);
  }

  /** This tab can be seen, so it may lead. */
  stand(): void {
    if (this.#standing) return;
    this.#standing = true;
    if (this.locks) this.#queue(this.locks);
    else this.#expect(COURTESY);
  }

  /** It cannot be seen any more; another may lead, and this one goes on listening. */
  rest(): void {
    this.#standing = false;
    clearTimeout(this.#watch);
    this.#stop("bye");
    this.#hold?.end();
    this.#hold = null;
  }

  /** As the leader: tell all tabs, this one too. */
  tell(what: T, id: string): void {
    const before = this.last;
    if (id) this.last = id;
    this.led.heard(what);
    this.#say({ kind: "told", from: this.id, before, last: this.last, what });
  }

  close(): void {
    this.rest();
    this.tabs.close();
  }

  #hear(said: Said<T>): void {
    if (said.kind === "told") this.#told(said);
    else if (said.kind === "bye") {
      this.last ||= said.last;
      if (this.#standing) this.#expect(Math.random() * COURTESY);
    } else if (said.kind === "beat") this.#beaten(said.from, said.last);
    else if (this.leading) this.#say({ kind: "beat", from: this.id, last: this.last });
    else if (said.from < this.id) this.#expect(GONE);
  }

  #beaten(from: string, last: string): void {
    // Two lead, after both had claimed at once: the one that comes first in order stays.
    if (this.leading && !this.locks && from < this.id) this.#stop("claim");
    if (this.leading) return;
    if (!this.last) this.last = last;
    if (this.#standing) this.#expect(GONE);
  }

  #told(said: Said<T> & { kind: "told" }): void {
    if (this.leading) return;
    const gap = this.last !== "" && said.before !== this.last;
    this.last = said.last;
    // Whatever is loaded anew has it: to tell of it too would be to tell it twice where another leader did.
    if (gap) this.led.missed();
    else this.led.heard(said.what);
    if (this.#standing) this.#expect(GONE);
  }

  #expect(within: number): void {
    clearTimeout(this.#watch);
    if (this.leading || !this.#standing || this.locks) return;
    this.#watch = setTimeout(() => this.#claim(), within);
  }

  #queue({ of, name }: { of: Locks; name: string }): void {
    const given = new AbortController();
    let release = (): void => given.abort();
    const hold: Hold = { end: () => release() };
    this.#hold = hold;
    of.request(name, { signal: given.signal }, () => {
      // What the last one told is heard before this one goes on from there.
      this.#watch = setTimeout(() => this.#hold === hold && this.#begin(), COURTESY);
      return new Promise<void>((resolve) => (release = resolve));
    }).catch(() => undefined); // given up before it was this tab's turn
  }

  #claim(): void {
    this.#say({ kind: "claim", from: this.id });
    this.#watch = setTimeout(() => this.#begin(), COURTESY);
  }

  #begin(): void {
    this.leading = true;
    this.#say({ kind: "beat", from: this.id, last: this.last });
    this.#beat = setInterval(() => this.#say({ kind: "beat", from: this.id, last: this.last }), BEAT);
    this.led.lead(this.last);
  }

  #stop(why: "bye" | "claim"): void {
    if (!this.leading) return;
    this.leading = false;
    clearInterval(this.#beat);
    if (why === "bye") this.#say({ kind: "bye", from: this.id, last: this.last });
    this.led.follow();
  }

  #say(said: Said<T>): void {
    this.tabs.postMessage(said);
  }
}
