import { spoken } from "../api/declared.svelte";
import type { Collection, Domain, Machine, Move, OwnRoute, Values } from "./declaration";

/** Moves that this person may make of a record as it stands. */
export function movesOf(collection: Collection, values: Values): { machine: Machine; move: Move }[] {
  return collection.states.flatMap((machine) =>
    machine.moves
      .filter((move) => move.may && move.path && move.origins.includes(String(values[machine.field])))
      .map((move) => ({ machine, move })),
  );
}

/** Something a domain's own route does with a record. */
export interface Deed {
  route: OwnRoute;
  title: string;
  /** It changes what the record says. */
  edits: boolean;
  removes: boolean;
}

/**
 * A domain's own routes that are about a record: their paths take parts of its key, the last of them included, and
 * nothing else. Those that take a file have forms of their own elsewhere.
 */
export function deedsOf(domain: Domain, collection: Collection): Deed[] {
  const own = collection.key.at(-1);
  return domain.routes
    .filter((route) => route.may && route.method !== "GET" && (!route.content_type || isJson(route.content_type)))
    .filter((route) => {
      const parts = route.parameters.filter((p) => p.place === "path").map((p) => p.name);
      return own !== undefined && parts.includes(own) && parts.every((part) => collection.key.includes(part));
    })
    .map((route) => deed(route, collection))
    .toSorted((a, b) => Number(b.edits) - Number(a.edits) || Number(a.removes) - Number(b.removes));
}

const isJson = (type: string): boolean => type.startsWith("application/json");

function deed(route: OwnRoute, collection: Collection): Deed {
  const ends = route.path.endsWith("}");
  const last = route.path.split("/").findLast((part) => part && !part.startsWith("{")) ?? "";
  const edits = route.method === "PATCH" || (route.method === "PUT" && ends);
  const removes = route.method === "DELETE";
  const words = { PATCH: "Edit", DELETE: "Remove", PUT: "Set" }[route.method];
  const title = ends
    ? (words ?? spoken(last))
    : [["POST", "PATCH"].includes(route.method) ? "" : words, last.replaceAll("-", " ")].join(" ");
  return { route, title: spoken(title.trim() || collection.name), edits, removes };
}

/** How a record of a collection is made by this person: by its own form, or by an action of its domain. */
export interface Maker {
  path: string;
  body: Record<string, unknown> | null;
  summary: string;
  /** The answer is the record itself. */
  own: boolean;
}

export function makerOf(domain: Domain, collection: Collection): Maker | null {
  const { creation } = collection;
  if (creation.may) return { path: collection.path, body: creation.body, summary: collection.summary, own: true };
  for (const action of domain.actions.filter((a) => a.may && a.creates.includes(collection.name))) {
    const route = domain.routes.find(
      (r) => r.may && r.method === "POST" && action.routes.includes(`POST ${r.path}`) && !r.path.includes("{"),
    );
    if (route?.body && isJson(route.content_type ?? ""))
      return { path: route.path, body: route.body, summary: route.summary ?? action.summary, own: false };
  }
  return null;
}
