import { get } from "../api/call";
import type { Collection, Values } from "./declaration";
import { queryOf, withChange, type Change, type Question } from "./listing";

interface PageOf {
  items: Values[];
  next: string | null;
  count?: { number: number; more: boolean };
  unreadable?: { record: string; why: string }[];
  examined?: number;
}

/** How many are asked for at once: few, so that the first are there soon, and more the further somebody goes. */
const SIZES = [50, 200, 500, 1000];
const TOGETHER = 60;

/** The rows of a list, read page by page as somebody scrolls, and kept up to date while they are shown. */
export class RecordList {
  rows = $state.raw<readonly Values[]>([]);
  next = $state<string | null>(null);
  count = $state.raw<PageOf["count"] | null>(null);
  unreadable = $state.raw<NonNullable<PageOf["unreadable"]>>([]);
  examined = $state(0);
  error = $state.raw<unknown>(null);
  /** False until the first page is there. */
  ready = $state(false);
  /** Changes that may belong to the list, and are seen when it is loaded anew. */
  elsewhere = $state(0);
  #asked: { collection: Collection; question: Question } | null = null;
  #stop = new AbortController();
  #reading = false;
  #pages = 0;
  #told: Change[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Begin anew with a question. */
  async begin(collection: Collection, question: Question): Promise<void> {
    this.#asked = { collection, question };
    await this.again();
  }

  async again(): Promise<void> {
    this.close();
    this.#stop = new AbortController();
    this.#pages = 0;
    this.#reading = false;
    await this.#read(true);
  }

  /** What follows, unless it is on its way. */
  async more(): Promise<void> {
    if (this.ready && this.next && !this.#reading) await this.#read(false);
  }

  /** Something happened; told together with what happens at the same time. */
  hear(change: Change): void {
    this.#told.push(change);
    this.#timer ??= setTimeout(() => this.#take(), TOGETHER);
  }

  close(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#told = [];
  }

  async #read(anew: boolean): Promise<void> {
    if (!this.#asked) return;
    const { collection, question } = this.#asked;
    const { signal } = this.#stop;
    const limit = SIZES[Math.min(this.#pages++, SIZES.length - 1)] ?? 50;
    this.#reading = true;
    try {
      const query = queryOf(question, collection, limit, anew ? null : this.next);
      const page = await get<PageOf>(collection.path, { query, signal });
      if (signal.aborted) return;
      this.rows = anew ? page.items : [...this.rows, ...page.items];
      this.next = page.next;
      this.unreadable = anew ? (page.unreadable ?? []) : [...this.unreadable, ...(page.unreadable ?? [])];
      this.examined = (anew ? 0 : this.examined) + (page.examined ?? 0);
      if (anew) [this.count, this.elsewhere] = [page.count ?? null, 0];
      this.error = null;
      this.ready = true;
    } catch (thrown) {
      if (!signal.aborted) this.error = thrown;
    } finally {
      if (!signal.aborted) this.#reading = false;
    }
  }

  #take(): void {
    this.#timer = undefined;
    const told = this.#told.splice(0);
    if (!this.#asked || !this.ready) return;
    let rows = this.rows;
    for (const change of told) {
      const after = withChange(rows, change, { ...this.#asked, ended: this.next === null });
      rows = after.rows;
      if (after.elsewhere) this.elsewhere++;
    }
    this.rows = rows;
  }
}
