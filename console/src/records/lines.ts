import { address, type Asked } from "../api/call";
import { session } from "../api/session.svelte";
import type { Values } from "./declaration";

const PLAIN = /^[\w@%+=:,./-]+$/;

/** A word as a shell takes it. */
export const quoted = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The API call that does the same. */
export function curl(method: string, path: string, more: { query?: Asked["query"]; body?: unknown } = {}): string {
  const words = ["curl"];
  if (session.who?.csrf !== null) words.push("-H @.penstock/key");
  if (method !== "GET") words.push(`-X ${method}`);
  if (more.body !== undefined)
    words.push(`-H 'Content-Type: application/json' -d ${quoted(JSON.stringify(more.body))}`);
  return `${words.join(" ")} ${quoted(location.origin + address(path, more.query))}`;
}

/** A command with its braces filled in; a word of which nothing is known is left out. */
export function command(words: readonly string[], values: Values): string {
  const said: string[] = [];
  for (const word of words) {
    const names = [...word.matchAll(/\{([^}]+)\}/g)].map((found) => found[1] ?? "");
    const known = names.some((name) => (values[name] ?? "") !== "");
    if (names.length && !known) continue;
    said.push(quoted(word.replace(/\{([^}]+)\}/g, (_, name: string) => text(values[name]))));
  }
  return said.join(" ");
}

const text = (value: unknown): string =>
  value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
