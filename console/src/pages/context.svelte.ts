import { untrack } from "svelte";
import { ask, call, segment, type Asked } from "../api/call";
import { session, type Role } from "../api/session.svelte";
import { asking, type Question } from "../app/asking.svelte";
import { commands, type Command } from "../app/commands.svelte";
import { router, type Query } from "../app/router.svelte";
import { toasts } from "../app/toasts.svelte";
import { live } from "../live/live.svelte";
import { collectionPath, type Domain, type Values } from "../records/declaration";
import { sendOnce } from "../records/sending";
import { Pieces } from "./pieces";
import { viewer, type Shown } from "./viewer";

/** A change, as `/api/events` tells it; `resync` where some were missed: load anew what is shown. */
export interface PageEvent {
  domain: string | null;
  entity: string | null;
  kind: string;
  key: Record<string, string>;
  old: Record<string, unknown> | null;
  new: Record<string, unknown> | null;
}
/** A record, the key of a change, or the parts of a key in their order. */
type RecordKey = string | number | (string | number)[] | Values;
export interface Place {
  domain: Domain;
  collection?: string | null;
  record?: Values | null;
}

/** What a page that a domain brings may use of the console. Everything it began ends when the page goes. */
export class PageContext {
  readonly domain: string;
  readonly collection: string | null;
  readonly record: Values | null;
  readonly parts = new Pieces();
  /** Whoever is signed in; the name is without what tells keys of one name apart. */
  readonly who = { name: (session.who?.name ?? "").replace(/#[^#]*$/, ""), role: session.who?.role ?? null };
  readonly #declared: Domain;
  #ends: (() => void)[] = [() => this.parts.close()];

  constructor(place: Place) {
    this.#declared = place.domain;
    this.domain = place.domain.name;
    this.collection = place.collection ?? null;
    this.record = place.record ?? null;
  }

  may = (role: Role): boolean => session.may(role);
  get = <T>(path: string, query: Asked["query"] = {}): Promise<T> => call<T>("GET", path, { query });
  /** JSON, or a form with files; what is sent is carried out once. */
  post = async <T>(path: string, body?: unknown): Promise<T | null> => {
    const answer = await sendOnce("POST", path, body);
    return answer.status === 204 ? null : ((await answer.json()) as T);
  };
  /** Any other method, and answers that are no JSON. */
  ask = (method: string, path: string, asked: Asked = {}): Promise<Response> => ask(method, path, asked);

  href = (collection: string, key: RecordKey): string => {
    const names = this.#declared.collections.find((c) => c.name === collection)?.key ?? Object.keys(key);
    const parts = typeof key !== "object" ? [key] : Array.isArray(key) ? key : names.map((n) => String(key[n] ?? ""));
    return router.to([collectionPath(this.domain, collection), ...parts.map(segment)].join("/"));
  };

  /** Where the same is looked at closely, with notes and decisions. */
  review = (collection: string, key: RecordKey): string =>
    this.href(collection, key).replace("/console/d/", "/console/review/");

  onEvent = (listener: (event: PageEvent) => void): (() => void) => {
    const missed: PageEvent = { domain: null, entity: null, kind: "resync", key: {}, old: null, new: null };
    const told = (event: { name: string; data: unknown }): void =>
      listener(event.name === "resync" ? missed : (event.data as PageEvent));
    return this.#until(live.on((event) => typeof event.data === "object" && event.data !== null, told));
  };

  /** The part of the address that is the page's own: what somebody could want to send to another. */
  readonly address = {
    get: (name: string): string | null => router.query.get(name),
    set: (query: Query, how: { replace?: boolean } = {}): void => router.set(query, { replace: false, ...how }),
    onChange: (listener: () => void): (() => void) => this.#until(onQuery(listener)),
  };

  /** Commands for the palette and the keyboard, while the page is shown. */
  offer = (source: () => Omit<Command, "group">[]): (() => void) =>
    this.#until(commands.add(() => source().map((command) => ({ ...command, group: "This page" }))));

  sure = (question: Question): Promise<boolean> => asking.sure(question);
  say = (text: string): void => void toasts.good(text);
  fail = (thrown: unknown): void => toasts.fail(thrown);

  /** A viewer of the console, loaded when it is first wanted: `video`, `plot` or `model`. */
  viewer = async (kind: string, element: HTMLElement, data: unknown): Promise<Shown> => {
    const shown = await viewer(kind, element, data);
    this.#until(() => shown.close());
    return shown;
  };

  close(): void {
    for (const end of this.#ends.splice(0)) end();
  }

  #until(end: () => void): () => void {
    this.#ends.push(end);
    return end;
  }
}

/** Told of each change of the query, and not of what it is at first. */
function onQuery(listener: () => void): () => void {
  let first = true;
  return $effect.root(() => {
    $effect(() => {
      void router.query;
      if (!first) untrack(listener);
      first = false;
    });
  });
}
