import { offline, Problem, problemIn } from "./problem";

export interface Asked {
  query?: Record<string, string | number | boolean | string[] | null | undefined>;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Without a project: for what belongs to none, such as the session. */
  everywhere?: boolean;
  /** As nobody, whoever is signed in: for what a link alone opens. */
  anonymous?: boolean;
}

/** What surrounds every request; the frame fills it in, so that nothing here knows of pages. */
export const around = {
  csrf: null as string | null,
  project: null as string | null,
  /** Called when the session has ended; resolves to whether the request may be sent again. */
  renewed: async (): Promise<boolean> => false,
  reached: (_answers: boolean): void => {},
};

const READING = new Set(["GET", "HEAD"]);
const isForm = (body: unknown): body is FormData => body instanceof FormData;

/** Ask the service; a `Problem` is thrown for every answer that is an error. A session that has ended is renewed. */
export async function ask(method: string, path: string, asked: Asked = {}): Promise<Response> {
  for (let tried = 0; ; tried++) {
    const answer = await send(method, path, asked);
    if (answer.ok || answer.status === 304) return answer;
    const problem = await problemIn(answer);
    if (problem.body.type !== "unauthenticated" || tried > 0 || !(await around.renewed())) throw problem;
  }
}

/** Ask for JSON. */
export async function call<T>(method: string, path: string, asked: Asked = {}): Promise<T> {
  const answer = await ask(method, path, asked);
  return (answer.status === 204 ? undefined : await answer.json()) as T;
}

export const get = <T>(path: string, asked: Asked = {}): Promise<T> => call<T>("GET", path, asked);
export const post = <T>(path: string, body?: unknown, asked: Asked = {}): Promise<T> =>
  call<T>("POST", path, { ...asked, body });

/** A path with its query, as `ask` sends it: also what CopyLine shows. */
export function address(path: string, query: Asked["query"] = {}): string {
  const told = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "") continue;
    for (const each of Array.isArray(value) ? value : [value]) told.append(name, String(each));
  }
  return told.size ? `${path}?${told}` : path;
}

/** One segment of a record's path. */
export const segment = (value: string | number): string => encodeURIComponent(String(value));

export function headersFor(method: string, asked: Asked): Record<string, string> {
  const headers: Record<string, string> = { Accept: "application/json", ...asked.headers };
  // A form says by itself where its parts end.
  if (asked.body !== undefined && !isForm(asked.body)) headers["Content-Type"] = "application/json";
  if (!READING.has(method) && around.csrf && !asked.anonymous) headers["X-CSRF-Token"] = around.csrf;
  if (around.project && !asked.everywhere) headers["X-Project"] = around.project;
  return headers;
}

async function send(method: string, path: string, asked: Asked): Promise<Response> {
  try {
    const answer = await fetch(address(path, asked.query), {
      method,
      headers: headersFor(method, asked),
      body: asked.body === undefined ? null : isForm(asked.body) ? asked.body : JSON.stringify(asked.body),
      signal: asked.signal ?? null,
      credentials: asked.anonymous ? "omit" : "same-origin",
      cache: "no-cache",
    });
    around.reached(true);
    return answer;
  } catch (thrown) {
    if (asked.signal?.aborted || thrown instanceof Problem) throw thrown;
    around.reached(false);
    throw offline();
  }
}
