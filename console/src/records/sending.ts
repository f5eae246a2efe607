import { ask, type Asked } from "../api/call";
import type { Values } from "./declaration";

/** A key under which a request is carried out once, however often it is sent. Not of `randomUUID`, which plain http has not. */
export const once = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join("-");

/** A record as it was read, and the mark of that. */
export interface Held {
  values: Values;
  etag: string | null;
}

export async function held(answer: Response): Promise<Held> {
  return { values: (await answer.json()) as Values, etag: answer.headers.get("etag") };
}

/** Send something that must happen once; with an ETag only if the record is still the one that was read. */
export function sendOnce(
  method: string,
  path: string,
  body: unknown,
  more: { etag?: string | null; query?: Asked["query"]; key?: string } = {},
): Promise<Response> {
  const headers: Record<string, string> = {};
  if (method === "POST") headers["Idempotency-Key"] = more.key ?? once();
  if (more.etag) headers["If-Match"] = more.etag;
  return ask(method, path, { headers, ...(body === undefined ? {} : { body }), query: more.query ?? {} });
}
