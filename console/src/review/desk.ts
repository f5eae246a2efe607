import { call, get, post, type Asked } from "../api/call";
import type { components } from "../api/schema";

type Schemas = components["schemas"];
export type Item = Schemas["ReviewItemView"];
export type ShownFile = Schemas["ReviewFileView"];
export type Choice = Schemas["ChoiceView"];
export type Note = Schemas["NoteView"];
export type Reply = Schemas["ReplyView"];
export type NotePage = Schemas["NotePage"];
export type ReplyPage = Schemas["ReplyPage"];
export type Film = Schemas["FilmView"];
export type Waveform = Schemas["WaveformView"];
export type Plot = Schemas["PlotView"];
export type Curve = Plot["series"][number];
export type GuestLink = Schemas["GuestLinkView"];
export type Pin = Schemas["Pin"];
export type Region = Schemas["PinnedRegion"];

/** What somebody says, and where. */
export interface Said {
  text: string;
  pin: Pin | null;
  file: string | null;
  edition: string | null;
}

/** Where one item is looked at: by somebody with a key, or by a guest. Both do the same by other routes. */
export interface Desk {
  readonly guest: boolean;
  item(): Promise<Item>;
  film(file: string): Promise<Film>;
  waveform(file: string): Promise<Waveform>;
  plot(file: string): Promise<Plot>;
  notes(cursor: string | null): Promise<NotePage>;
  write(said: Said): Promise<Note>;
  reply(note: Note, text: string): Promise<Reply>;
  decide(decision: Choice["decision"], mark: string, reason: string | null): Promise<Item>;
  /** What guests do not do. */
  settle?: Settling;
}

export interface Settling {
  replies(note: Note, cursor: string | null): Promise<ReplyPage>;
  edit(said: Note | Reply, text: string): Promise<Reply>;
  remove(said: Note | Reply): Promise<void>;
  resolve(note: Note): Promise<Note>;
  reopen(note: Note): Promise<Note>;
}

const REVIEW = "/api/review";
const notesAt = (note: string): string => `${REVIEW}/notes/${encodeURIComponent(note)}`;
/** A file that no browser shows in place is another's, and its edition may be unknown. */
const told = (said: Said): Partial<Said> =>
  Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null));

/** The desk of a record, by its path: `/api/films/films/p1/Robot`. */
export function deskOf(record: string): Desk {
  const query = { record };
  const drawn =
    <T>(what: string) =>
    (file: string): Promise<T> =>
      get<T>(`${REVIEW}/${what}`, { query: { record, file } });
  return {
    guest: false,
    item: () => get<Item>(`${REVIEW}/items`, { query }),
    film: drawn<Film>("film"),
    waveform: drawn<Waveform>("waveform"),
    plot: drawn<Plot>("plot"),
    notes: (cursor) => get<NotePage>(`${REVIEW}/notes`, { query: { record, order: "position", limit: 50, cursor } }),
    write: (said) => post<Note>(`${REVIEW}/notes`, told(said), { query }),
    reply: (note, text) => post<Reply>(`${notesAt(note.note_id)}/replies`, { text }, { query }),
    decide: (decision, mark, reason) =>
      post<Item>(`${REVIEW}/decisions`, { decision, mark, ...(reason ? { reason } : {}) }, { query }),
    settle: settling(query),
  };
}

function settling(query: NonNullable<Asked["query"]>): Settling {
  const thread = (said: Note | Reply): string | null => (said.thread_id === said.note_id ? null : said.thread_id);
  const moved = (note: Note, how: string): Promise<Note> =>
    post<Note>(`${notesAt(note.note_id)}/${how}`, { version: note.version }, { query });
  return {
    replies: (note, cursor) =>
      get<ReplyPage>(`${notesAt(note.note_id)}/replies`, { query: { ...query, limit: 100, cursor } }),
    edit(said, text) {
      const thread_id = thread(said);
      const body = { version: said.version, text, ...(thread_id ? { thread_id } : {}) };
      return call<Reply>("PATCH", notesAt(said.note_id), { query, body });
    },
    remove: (said) => call("DELETE", notesAt(said.note_id), { query: { ...query, thread_id: thread(said) } }),
    resolve: (note) => moved(note, "resolve"),
    reopen: (note) => moved(note, "reopen"),
  };
}

/** The desk of a guest, at the one item that their link leads to; they say who they are. */
export function guestDesk(token: string, name: () => string): Desk {
  const path = `/guest/${encodeURIComponent(token)}`;
  const asked: Asked = { everywhere: true, anonymous: true };
  const drawn =
    <T>(what: string) =>
    (file: string): Promise<T> =>
      get<T>(`${path}/${what}`, { ...asked, query: { file } });
  return {
    guest: true,
    item: () => get<Item>(`${path}/item`, asked),
    film: drawn<Film>("film"),
    waveform: drawn<Waveform>("waveform"),
    plot: drawn<Plot>("plot"),
    notes: (cursor) => get<NotePage>(`${path}/notes`, { ...asked, query: { order: "position", limit: 50, cursor } }),
    write: (said) => post<Note>(`${path}/notes`, { ...told(said), name: name() }, asked),
    reply: (note, text) => post<Reply>(`${path}/notes/${note.note_id}/replies`, { name: name(), text }, asked),
    decide: (decision, mark, reason) =>
      post<Item>(`${path}/decisions`, { name: name(), decision, mark, ...(reason ? { reason } : {}) }, asked),
  };
}
