import { get, segment } from "../api/call";
import { spoken } from "../api/declared.svelte";
import type { components } from "../api/schema";
import { session } from "../api/session.svelte";
import { router } from "../app/router.svelte";

type Schemas = components["schemas"];
export type Domain = Schemas["DeclaredDomain"];
export type Collection = Schemas["DeclaredCollection"];
export type Pattern = Schemas["DeclaredPattern"];
export type Parameter = Schemas["DeclaredParameter"];
export type DeclaredField = Schemas["DeclaredField"];
export type Machine = Schemas["StateMachine"];
export type Move = Schemas["DeclaredMove"];
export type OwnRoute = Schemas["DeclaredRoute"];
export type Page = Schemas["DeclaredPage"];

/** A record, as the API renders it. */
export type Values = Record<string, unknown>;

let whose = "";
const asked = new Map<string, Promise<Domain>>();

/** All that is declared of a domain; it changes with a deployment alone, so each who asks has it told once. */
export function declaration(name: string): Promise<Domain> {
  const now = `${session.who?.name}|${session.who?.role}|${router.project ?? ""}`;
  if (now !== whose) asked.clear();
  whose = now;
  const known = asked.get(name);
  if (known) return known;
  const told = get<Domain>(`/api/declared/${segment(name)}`);
  asked.set(name, told);
  told.catch(() => asked.delete(name));
  return told;
}

/** A path of the API with its braces filled in. */
export const filled = (path: string, values: Values): string =>
  path.replace(/\{([^}]+)\}/g, (_, name: string) => segment(String(values[name] ?? "")));

/** What tells a record from the others of its collection. */
export const identity = (collection: { key: string[] }, values: Values): string =>
  collection.key.map((name) => String(values[name] ?? "")).join("\u0000");

export const collectionPath = (domain: string, collection: string): string => `/console/d/${domain}/${collection}`;

/** Where the console shows a record. */
export const recordPlace = (domain: string, collection: { name: string; key: string[] }, values: Values): string =>
  [collectionPath(domain, collection.name), ...collection.key.map((n) => segment(String(values[n] ?? "")))].join("/");

/** The parts of a key in an address, each by its name; null where there are more or fewer. */
export function keyIn(collection: { key: string[] }, rest: string): Values | null {
  const parts = rest.split("/");
  if (parts.length !== collection.key.length) return null;
  return Object.fromEntries(collection.key.map((name, n) => [name, unescaped(parts[n] ?? "")]));
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Where a record is looked at and decided about; `path` is that of its own routes. */
export const reviewPlace = (path: string): string => `/console/review/${path.replace("/api/", "")}`;

const NAMES = ["title", "name", "display_name", "label", "primary_name"];

/** The field that a record is called by: a name where there is one, else the last part of its key. */
export function namingField(collection: { key: string[]; fields: DeclaredField[]; called_by?: string | null }): string {
  const fit = (name: string): boolean =>
    collection.fields.some((f) => f.name === name && f.kind === "text" && !f.hidden);
  if (collection.called_by && fit(collection.called_by)) return collection.called_by;
  return NAMES.find(fit) ?? collection.key.at(-1) ?? "";
}

/** How a record is called; a number alone says too little. */
export function nameOf(collection: Collection, values: Values): string {
  const said = collection.called_by ? within(values, collection.called_by) : null;
  if (said) return said;
  const naming = namingField(collection);
  const name = String(values[naming] ?? "");
  if (!name) return collection.key.map((n) => String(values[n] ?? "")).join(" / ");
  return fieldOf(collection, naming)?.kind === "integer" ? `${collection.entity} ${name}` : name;
}

/** What stands at a path of names with points between them, if it is a text. */
function within(values: unknown, path: string): string | null {
  const found = path.split(".").reduce<unknown>((value, name) => (value as Values | null | undefined)?.[name], values);
  return typeof found === "string" ? found : null;
}

export const fieldOf = (collection: Collection, name: string): DeclaredField | undefined =>
  collection.fields.find((f) => f.name === name);

export const titleOf = (named: { name: string; title?: string }): string => named.title || spoken(named.name);
