import { get } from "../api/call";
import { spoken } from "../api/declared.svelte";

/** What this page looks at of an OpenAPI document; all else is handed to the reader as it is. */
export interface ApiDocument {
  openapi: string;
  info: { title: string; version: string; description?: string };
  paths: Record<string, Record<string, Described>>;
  components?: Record<string, Record<string, Part>>;
}
export type Part = Record<string, unknown>;
export interface Answer {
  description?: string;
  content?: Record<string, unknown>;
  links?: unknown;
}
export interface Described {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: Part[];
  requestBody?: Part;
  responses?: Record<string, Answer>;
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  tag: string;
  title: string;
  /** It answers for ever, so that no form can show what came. */
  streams: boolean;
  described: Described;
  words: string;
}

const METHODS = ["get", "post", "put", "patch", "delete"];
const STREAM = "text/event-stream";
const OTHERS = "other";

export const loadDocument = (signal: AbortSignal): Promise<ApiDocument> =>
  get<ApiDocument>("/openapi.json", { signal, everywhere: true });

/** Every operation, in the order of the document. */
export function operationsOf(document: ApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, all]) =>
    METHODS.filter((method) => all[method]).map((method) => operationOf(path, method, all[method] as Described)),
  );
}

function operationOf(path: string, method: string, described: Described): Operation {
  const { operationId, summary = "", description = "", tags = [], responses = {} } = described;
  const id = operationId ?? `${method} ${path}`;
  return {
    id,
    method: method.toUpperCase(),
    path,
    tag: tags[0] ?? OTHERS,
    title: titled(summary || id, tags[0] ?? ""),
    streams: Object.values(responses).some((answer) => answer.content && STREAM in answer.content),
    described,
    words: [method, path, summary, id, ...tags, description].join(" ").toLowerCase(),
  };
}

/** The domain's own name is above it already. */
function titled(summary: string, tag: string): string {
  const before = `${spoken(tag)} `.toLowerCase();
  return summary.toLowerCase().startsWith(before) ? spoken(summary.slice(before.length)) : summary;
}

/** By tag, in the order in which tags come first. */
export function grouped(operations: Operation[]): [string, Operation[]][] {
  return Object.entries(Object.groupBy(operations, (o) => o.tag)) as [string, Operation[]][];
}

/** Those that have every word that was typed. */
export function foundIn(operations: Operation[], text: string): Operation[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  return operations.filter(({ words }) => wanted.every((word) => words.includes(word)));
}

/** A part, or what it refers to. */
export function resolved(document: ApiDocument, part: Part): Part {
  const { $ref, ...beside } = part;
  if (typeof $ref !== "string") return part;
  const [section, name] = placeOf($ref);
  return { ...document.components?.[section]?.[name], ...beside };
}

/** The section and the name that a reference within the document leads to. */
export function placeOf(ref: string): [string, string] {
  const [, , section = "", name = ""] = ref.split("/");
  return [section, name];
}
