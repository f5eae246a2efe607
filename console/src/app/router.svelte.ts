import { around } from "../api/call";

/** The console owns "/" and everything beneath "/console"; all else is the service's. */
export const owned = (path: string): boolean => path === "/" || path === "/console" || path.startsWith("/console/");

/** The page of the API has a policy of its own, which is a document's: it is come to and left by loading. */
export const apart = (path: string): boolean => /^\/console\/api\/?$/.test(path);

export type Query = Record<string, string | number | boolean | null | undefined>;
const PROJECT = "project";

/** Where we are: a path and a query. Every state that somebody could want to send to another is in it. */
class Router {
  path = $state(location.pathname);
  query = $state.raw(new URLSearchParams(location.search));
  /** Counts every navigation but a change of the query: screens begin anew by it. */
  visit = $state(0);

  constructor() {
    around.project = this.project;
    addEventListener("popstate", () => this.#read());
    document.addEventListener("click", (event) => this.#clicked(event));
  }

  /** The project that is looked at; null for all. */
  get project(): string | null {
    return this.query.get(PROJECT) || null;
  }

  /** A path that keeps the project. */
  to(path: string, query: Query = {}): string {
    const [, said = ""] = path.split("?");
    const told = new URLSearchParams(said);
    const project = this.project;
    if (project && !told.has(PROJECT)) told.set(PROJECT, project);
    return joined(bareOf(path), changed(told, query));
  }

  go(path: string, { replace = false }: { replace?: boolean } = {}): void {
    const address = this.to(path);
    if (apart(bareOf(path)) !== apart(this.path)) return location[replace ? "replace" : "assign"](address);
    this.#write(address, replace);
    this.visit++;
    scrollTo(0, 0);
  }

  /** Change some of the query; the screen stays as it is. Null takes a parameter away. */
  set(query: Query, { replace = true }: { replace?: boolean } = {}): void {
    const next = joined(this.path, changed(new URLSearchParams(this.query), query));
    if (next !== joined(this.path, this.query)) this.#write(next, replace);
  }

  choose(project: string | null): void {
    this.set({ [PROJECT]: project }, { replace: false });
    this.visit++;
  }

  #write(address: string, replace: boolean): void {
    history[replace ? "replaceState" : "pushState"](null, "", address);
    this.#read(false);
  }

  #read(anew = true): void {
    if (anew && location.pathname !== this.path) this.visit++;
    this.path = location.pathname;
    this.query = new URLSearchParams(location.search);
    around.project = this.project;
  }

  #clicked(event: MouseEvent): void {
    const link = (event.target as Element | null)?.closest?.("a");
    const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!link || !plain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
    const url = new URL(link.href, location.href);
    if (url.origin !== location.origin || !owned(url.pathname) || url.hash) return;
    if (apart(url.pathname) !== apart(this.path)) return;
    event.preventDefault();
    this.go(url.pathname + url.search);
  }
}

const bareOf = (path: string): string => path.split("?")[0] ?? "";

function changed(told: URLSearchParams, query: Query): URLSearchParams {
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "" || value === false) told.delete(name);
    else told.set(name, String(value));
  }
  return told;
}

const joined = (path: string, query: URLSearchParams): string => (query.size ? `${path}?${query}` : path);

export type Params = Record<string, string>;

/** What the names of a pattern such as `/console/d/:domain` stand for in a path; null where it does not fit. */
export function matched(pattern: string, path: string): Params | null {
  const wanted = pattern.split("/");
  const found = path.replace(/(.)\/$/, "$1").split("/");
  const rest = wanted.at(-1)?.startsWith("*") ? wanted.pop()?.slice(1) : undefined;
  if (rest === undefined ? wanted.length !== found.length : found.length <= wanted.length) return null;
  const params: Params = {};
  for (const [n, part] of wanted.entries()) {
    const given = found[n] ?? "";
    if (part.startsWith(":")) params[part.slice(1)] = decoded(given);
    else if (part !== given) return null;
  }
  if (rest !== undefined) params[rest] = found.slice(wanted.length).join("/");
  return params;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // half an escape is nobody's name, but no reason to fail
  }
}

export const router = new Router();
