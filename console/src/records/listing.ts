import type { Asked } from "../api/call";
import type { Collection, DeclaredField, Parameter, Pattern, Values } from "./declaration";
import { identity, namingField } from "./declaration";
import { isShort } from "./kinds";

/** What a list is asked, as its address says it. */
export interface Question {
  pattern: Pattern;
  given: Record<string, string>;
  /** Without these it cannot be asked. */
  missing: Parameter[];
  where: string[];
  columns: string[];
  cursor: string | null;
}

/** Parameters of a pattern stand in the address behind this, so that none is taken for one of the console's own. */
export const ASKED = "q.";
const SHOWN = 7;
const COUNTED = 100;

/** The question that an address asks; null where nobody has declared a list that this person may ask. */
export function questionIn(
  query: URLSearchParams,
  collection: Collection,
  more: { first?: string | undefined; project?: string | null } = {},
): Question | null {
  const open = collection.patterns.filter((p) => p.may);
  const named = (name: string | null | undefined): Pattern | undefined => open.find((p) => p.name === name);
  const pattern = named(query.get("pattern")) ?? named(more.first) ?? open[0];
  if (!pattern) return null;
  const given: Record<string, string> = {};
  for (const parameter of pattern.parameters) {
    for (const word of parameter.words) {
      const said = query.get(ASKED + word) ?? (parameter.needed ? usual(parameter, collection, more.project) : "");
      if (said) given[word] = said;
    }
  }
  const missing = pattern.parameters.filter((p) => p.needed && !p.words.some((word) => given[word]));
  const where = pattern.where.length ? (query.get("where")?.split("\n").filter(Boolean) ?? []) : [];
  const columns = columnsOf(collection, query.get("fields")?.split(",") ?? [], pattern);
  return { pattern, given, missing, where, columns, cursor: query.get("cursor") };
}

/** What a list is asked by before anybody says something else. */
function usual(parameter: Parameter, collection: Collection, project: string | null | undefined): string {
  if (parameter.name === "project_id" && project) return project;
  const machine = collection.states.find((m) => m.field === parameter.name);
  return machine?.initial ?? parameter.values?.[0] ?? "";
}

/** The fields that a list shows: the chosen ones, or those that tell most in a short line. */
export function columnsOf(collection: Collection, chosen: string[], pattern?: Pattern): string[] {
  const seen = collection.fields.filter((f) => !f.hidden);
  const known = chosen.filter((name) => seen.some((f) => f.name === name));
  if (known.length) return known;
  // What all rows have in common is said once, above them; a state is shown all the same.
  const common = pattern?.parameters.filter((p) => p.needed && p.kind !== "state").map((p) => p.name) ?? [];
  const name = namingField(collection);
  const short = seen.filter(
    (f) => isShort(f.kind) && f.name !== collection.version && (f.name === name || !common.includes(f.name)),
  );
  const texts = short.filter((f) => f.kind === "text" && !f.key && !f.written_by).slice(0, 2);
  const rank = (f: DeclaredField): number =>
    f.name === name ? 0 : f.kind === "state" ? 1 : f.key ? 2 : texts.includes(f) ? 3 : (RANKS[f.kind] ?? 7);
  return short
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, SHOWN)
    .map((f) => f.name);
}

const RANKS: Partial<Record<DeclaredField["kind"], number>> = { choice: 3, time: 4, integer: 5, number: 5, decimal: 5 };

/** The query that asks it; with `more`, what follows and is not counted again. */
export function queryOf(
  question: Question,
  collection: Collection,
  limit: number,
  more: string | null,
): NonNullable<Asked["query"]> {
  const { pattern, given, where, columns, cursor } = question;
  const takes = (word: string): boolean => pattern.takes.includes(word);
  const fields = [...new Set([...columns, ...pattern.order.fields, ...collection.key, ...bound(pattern)])];
  const hidden = new Set(collection.fields.filter((f) => f.hidden).map((f) => f.name));
  return {
    pattern: pattern.name,
    ...given,
    ...(where.length ? { where } : {}),
    ...(takes("fields") ? { fields: fields.filter((f) => !hidden.has(f)).join(",") } : {}),
    ...(takes("count") && more === null && !cursor ? { count: COUNTED } : {}),
    limit,
    cursor: more ?? cursor,
  };
}

const bound = (pattern: Pattern): string[] => pattern.parameters.filter((p) => !p.ranged).map((p) => p.name);

/** A change of a record, as the stream tells it. */
export interface Change {
  domain: string;
  entity: string;
  kind: string;
  key: Record<string, string>;
  old: Values | null;
  new: Values | null;
}

/**
 * The rows after a change; `elsewhere` where it may belong to the list and its place cannot be told from here: the list
 * is narrowed by what only the service can compare.
 */
export function withChange(
  rows: readonly Values[],
  change: Change,
  list: { collection: Collection; question: Question; ended: boolean },
): { rows: readonly Values[]; elsewhere: boolean } {
  const { collection, question } = list;
  const id = identity(collection, change.key);
  const at = rows.findIndex((row) => identity(collection, row) === id);
  const [now, others] = [change.new, at < 0 ? rows : rows.toSpliced(at, 1)];
  if (!now || !agrees(now, question)) return { rows: others, elsewhere: false };
  const before = rows[at];
  if (before && inOrder(before, now, list) === 0) return { rows: rows.with(at, now), elsewhere: false };
  if (at < 0 && isNarrowed(question)) return { rows, elsewhere: true };
  return { rows: placed(others, now, list), elsewhere: false };
}

function agrees(values: Values, { pattern, given }: Question): boolean {
  return bound(pattern).every((n) => !(n in given) || !(n in values) || String(values[n]) === given[n]);
}

const isNarrowed = ({ pattern, given, where }: Question): boolean =>
  where.length > 0 || pattern.parameters.some((p) => p.ranged && p.words.some((word) => given[word]));

function placed(
  rows: readonly Values[],
  now: Values,
  list: { collection: Collection; question: Question; ended: boolean },
): readonly Values[] {
  const found = rows.findIndex((row) => inOrder(row, now, list) > 0);
  const at = found < 0 ? rows.length : found;
  // Before the first of a later page, or behind the last that was read: it is met there.
  if ((at === 0 && list.question.cursor) || (found < 0 && !list.ended)) return rows;
  return rows.toSpliced(at, 0, now);
}

function inOrder(
  a: Values,
  b: Values,
  { collection, question }: { collection: Collection; question: Question },
): number {
  const { fields, backwards } = question.pattern.order;
  for (const name of [...fields, ...collection.key]) {
    const [left, right] = [a[name], b[name]];
    if (left === right) continue;
    const first = typeof left === "number" && typeof right === "number" ? left < right : String(left) < String(right);
    return first === backwards ? 1 : -1;
  }
  return 0;
}

/** `100+` */
export const counted = (count: { number: number; more: boolean } | null): string | null =>
  count && `${count.number}${count.more ? "+" : ""}`;
