import type { FieldKind } from "./Field.svelte";

export type Read = { value: unknown } | { error: string };

/** What was typed into a field, as the API takes it; an empty field is left out (`undefined`). Times are UTC. */
export function read(kind: FieldKind, typed: string | boolean): Read {
  if (typeof typed === "boolean") return { value: typed };
  // A field of numbers gives numbers, and nothing at all while it is empty.
  const said = String((typed as unknown) ?? "");
  const text = kind === "text" || kind === "long" ? said : said.trim();
  if (text === "") return { value: undefined };
  if (kind === "integer" || kind === "number") return number(kind, text);
  if (kind === "json") return json(text);
  if (kind === "time") return moment(text);
  return { value: text };
}

function number(kind: FieldKind, text: string): Read {
  const value = Number(text);
  if (!Number.isFinite(value)) return { error: `${text} is no number.` };
  if (kind === "integer" && !Number.isInteger(value)) return { error: `${text} is no whole number.` };
  // Digits that would be lost are kept as they were typed.
  return { value: Number.isInteger(value) && !Number.isSafeInteger(value) ? text : value };
}

function json(text: string): Read {
  try {
    return { value: JSON.parse(text) };
  } catch (thrown) {
    return { error: `This is no JSON: ${(thrown as Error).message}` };
  }
}

function moment(text: string): Read {
  const value = new Date(/(Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(value.getTime()) ? { error: `${text} is no time.` } : { value: value.toISOString() };
}

/** A value of a record, as a field shows it to be edited. */
export function typed(kind: FieldKind, value: unknown): string | boolean {
  if (kind === "truth") return value === true;
  if (value === null || value === undefined) return "";
  if (kind === "time") return new Date(String(value)).toISOString().slice(0, 19);
  return kind === "json" ? JSON.stringify(value, null, 2) : String(value);
}
