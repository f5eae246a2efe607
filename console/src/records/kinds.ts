import type { FieldKind } from "../parts/Field.svelte";
import type { DeclaredField } from "./declaration";

export type Kind = DeclaredField["kind"];

const INPUTS: Partial<Record<Kind, FieldKind>> = {
  choice: "choice",
  state: "choice",
  flag: "choice",
  integer: "integer",
  number: "number",
  decimal: "number",
  time: "time",
  day: "date",
  uuid: "key",
  file: "key",
  folder: "key",
};

/** How a value of a kind is typed in. */
export const inputOf = (kind: Kind): FieldKind => INPUTS[kind] ?? "text";

/** What there is to choose from; yes and no of a flag. */
export const choicesOf = (of: { kind: Kind; values?: string[] | null }): string[] =>
  of.kind === "flag" ? ["true", "false"] : (of.values ?? []);

const NUMBERS = new Set<Kind>(["integer", "number", "decimal"]);
export const isNumber = (kind: Kind): boolean => NUMBERS.has(kind);

const SHORT = new Set<Kind>(["text", "choice", "state", "uuid", "integer", "number", "decimal", "flag", "time", "day"]);
/** Can it be said in a cell? */
export const isShort = (kind: Kind): boolean => SHORT.has(kind);

/** `1.4 MB`: a size as people say it. */
export function size(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let [value, n] = [bytes, 0];
  while (value >= 1000 && n < units.length - 1) [value, n] = [value / 1000, n + 1];
  return `${n && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[n]}`;
}

// One of each for all: a browser takes longer to make one than to write a number with it, and lists have many numbers.
const WHOLE = new Intl.NumberFormat("en", { maximumSignificantDigits: 21 });
const BROKEN = new Intl.NumberFormat("en", { maximumSignificantDigits: 8 });

/** A number as people read it; digits that a browser cannot hold stay as they came. */
export function number(value: unknown): string {
  if (typeof value !== "number") return String(value);
  return (Number.isInteger(value) ? WHOLE : BROKEN).format(value);
}
