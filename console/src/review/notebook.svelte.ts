import type { Desk, Note, Reply, Said } from "./desk";

/** The notes on an item, as far as they were read, by their place in it. */
export class Notebook {
  items = $state.raw<Note[]>([]);
  next = $state.raw<string | null>(null);
  open = $state(0);
  known = $state(false);
  error = $state.raw<unknown>(null);
  #asked = 0;

  constructor(readonly desk: Desk) {}

  /** Read anew as much as was read before, up to a bound. */
  async load(): Promise<void> {
    const mine = ++this.#asked;
    try {
      const [most, found] = [Math.max(1, this.items.length), [] as Note[]];
      let cursor: string | null = null;
      do {
        const page = await this.desk.notes(cursor);
        if (mine !== this.#asked) return;
        found.push(...page.items);
        [cursor, this.open] = [page.next, page.open_threads];
      } while (cursor && found.length < Math.min(most, 500));
      [this.items, this.next, this.error] = [found, cursor, null];
    } catch (thrown) {
      if (mine === this.#asked) this.error = thrown;
    } finally {
      this.known = true;
    }
  }

  async more(): Promise<void> {
    const page = await this.desk.notes(this.next);
    const had = new Set(this.items.map((n) => n.note_id));
    this.items = [...this.items, ...page.items.filter((n) => !had.has(n.note_id))];
    this.next = page.next;
  }

  async write(said: Said): Promise<Note> {
    const note = await this.desk.write(said);
    this.items = [...this.items.filter((n) => n.note_id !== note.note_id), note];
    this.open++;
    void this.load(); // so that it stands at its place
    return note;
  }

  async reply(note: Note, text: string): Promise<void> {
    const said = await this.desk.reply(note, text);
    this.#change(note, (n) => ({ ...n, replies: n.replies + 1, first_replies: [...n.first_replies, said] }));
  }

  async edit(said: Note | Reply, text: string): Promise<void> {
    const done = await this.#settle.edit(said, text);
    const note = this.#threadOf(said);
    if (!note) return;
    this.#change(note, (n) =>
      said.note_id === n.note_id
        ? { ...n, ...done }
        : { ...n, first_replies: n.first_replies.map((r) => (r.note_id === done.note_id ? done : r)) },
    );
  }

  async remove(said: Note | Reply): Promise<void> {
    await this.#settle.remove(said);
    await this.load();
  }

  /** Shown at once; as it was if it is refused. */
  async settle(note: Note): Promise<void> {
    const resolves = note.status === "open";
    this.#change(note, (n) => ({ ...n, status: resolves ? "resolved" : "open" }) as Note);
    this.open += resolves ? -1 : 1;
    try {
      const done = await (resolves ? this.#settle.resolve(note) : this.#settle.reopen(note));
      this.#change(note, () => done);
    } catch (thrown) {
      this.#change(note, () => note);
      this.open += resolves ? 1 : -1;
      throw thrown;
    }
  }

  /** All replies of a thread, where there are more than come with it. */
  async whole(note: Note): Promise<void> {
    const page = await this.#settle.replies(note, null);
    this.#change(note, (n) => ({ ...n, first_replies: page.items }));
  }

  get #settle(): NonNullable<Desk["settle"]> {
    if (!this.desk.settle) throw new Error("A guest changes no notes.");
    return this.desk.settle;
  }

  #threadOf(said: Note | Reply): Note | undefined {
    return this.items.find((n) => n.note_id === said.thread_id || n.note_id === said.note_id);
  }

  #change(note: Note, how: (note: Note) => Note): void {
    this.items = this.items.map((n) => (n.note_id === note.note_id ? how(n) : n));
  }
}
