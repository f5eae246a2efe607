/** Something that was told, and between which places of the stream. */
interface Told<T> {
  before: string;
  last: string;
  what: T;
}

/** What tabs say to each other. */
type Said<T> =
  | { kind: "beat" | "bye"; from: string; last: string }
  | { kind: "claim"; from: string }
  | { kind: "told"; told: Told<T> }
  /** A tab has not heard all that was told since. */
  | { kind: "again"; from: string; since: string }
  /** What it has not heard; null where the leader does not know it any more. */
  | { kind: "retold"; to: string; told: Told<T>[] | null };

export interface Led<T> {
  /** This tab is to do it, from here on. */
  lead: (last: string) => void;
  /** Another tab does it now. */
  follow: () => void;
  heard: (what: T) => void;
  /** Something was told that this tab did not hear, and nobody can tell it again. */
  missed: () => void;
  /** What tells it from everything else that is told; null where it may be heard twice. */
  identity: (what: T) => string | null;
}

const BEAT = 1000;
const GONE = 2600;
const COURTESY = 150;
/** So much of what was told is remembered, for tabs that have not heard it. */
const REMEMBERED = 200;

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
 *
 * A leader that ends may have told something to some tabs and not to others. So a tab that finds a gap asks for what it
 * has not heard, and one that is ahead of its new leader knows what it is told a second time.
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
  /** What was heard last, without a gap. */
  #remembered: Told<T>[] = [];
  /** What was told while this tab waits for what came before it. */
  #waiting: Told<T>[] | null = null;
  #patience: ReturnType<typeof setTimeout> | undefined;

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
    clearTimeout(this.#patience);
    this.#stop("bye");
    this.#hold?.end();
    this.#hold = null;
  }

  /** As the leader: tell all tabs, this one too. */
  tell(what: T, id: string): void {
    const told = { before: this.last, last: id || this.last, what };
    this.#take(told);
    this.#say({ kind: "told", told });
  }

  close(): void {
    this.rest();
    this.tabs.close();
  }

  #hear(said: Said<T>): void {
    if (said.kind === "told") this.#told(said.told);
    else if (said.kind === "again") this.#retell(said.from, said.since);
    else if (said.kind === "retold") this.#retold(said.to, said.told);
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

  #told(told: Told<T>): void {
    if (this.leading) return;
    if (this.#waiting) this.#waiting.push(told);
    else if (this.#follows(told)) this.#take(told);
    else this.#ask(told);
    if (this.#waiting && this.#waiting.length > REMEMBERED) this.#miss();
    if (this.#standing) this.#expect(GONE);
  }

  /** Has this tab heard all that was told before? */
  #follows({ before }: Told<T>): boolean {
    return this.last === "" || before === this.last || this.#remembered.some((one) => one.last === before);
  }

  #take(told: Told<T>): void {
    const identity = this.led.identity(told.what);
    const twice = identity !== null && this.#remembered.some((one) => this.led.identity(one.what) === identity);
    this.last = told.last;
    this.#remembered.push(told);
    if (this.#remembered.length > REMEMBERED) this.#remembered.shift();
    if (!twice) this.led.heard(told.what);
  }

  #ask(told: Told<T>): void {
    this.#waiting = [told];
    this.#say({ kind: "again", from: this.id, since: this.last });
    this.#patience = setTimeout(() => this.#miss(), GONE);
  }

  #retell(to: string, since: string): void {
    if (!this.leading) return;
    const at = this.#remembered.findLastIndex((one) => one.last === since);
    const first = at < 0 && this.#remembered[0]?.before === since;
    this.#say({ kind: "retold", to, told: at >= 0 || first ? this.#remembered.slice(at + 1) : null });
  }

  #retold(to: string, told: Told<T>[] | null): void {
    const waiting = this.#waiting;
    if (to !== this.id || !waiting) return;
    if (!told) return this.#miss();
    this.#waitNoMore();
    // What was told meanwhile is among them, or comes behind them.
    for (const one of told) this.#take(one);
    for (const one of waiting)
      if (!told.some(({ before, last }) => before === one.before && last === one.last)) this.#told(one);
  }

  /** Whatever is loaded anew has all that was told: to tell of it too would be to tell it twice. */
  #miss(): void {
    this.last = this.#waiting?.at(-1)?.last ?? this.last;
    this.#waitNoMore();
    this.#remembered = [];
    this.led.missed();
  }

  #waitNoMore(): void {
    clearTimeout(this.#patience);
    this.#waiting = null;
  }

  #expect(within: number): void {
    if (this.locks) return; // whose turn it is the browser says, and its timer is not to be stopped
    clearTimeout(this.#watch);
    if (this.leading || !this.#standing) return;
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
    this.#waitNoMore(); // it is all told by the stream
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
