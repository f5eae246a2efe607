import { get } from "../api/call";
import { declared, spoken } from "../api/declared.svelte";
import type { Command } from "../app/commands.svelte";
import { router } from "../app/router.svelte";
import {
  declaration,
  identity,
  nameOf,
  namingField,
  recordPlace,
  type Collection,
  type Domain,
  type Pattern,
  type Values,
} from "./declaration";

/** One way to look for what was typed: a declared list, asked so that it answers with what begins so. */
export interface Way {
  domain: Domain;
  collection: Collection;
  query: Record<string, string | string[]>;
}

const MOST_WAYS = 12;
const FOUND = 4;
const LAST = "\uD7FF";

/** Records whose name or id begins with a text, found through the lists that are declared. */
export async function found(text: string, signal: AbortSignal): Promise<Command[]> {
  if (text.length < 2) return [];
  const domains = await Promise.all(declared.domains.map((d) => declaration(d.name).catch(() => null)));
  const ways = domains
    .filter((d) => d !== null)
    .flatMap((domain) => waysIn(domain, text, router.project))
    .slice(0, MOST_WAYS);
  const answers = await Promise.all(ways.map((way) => asked(way, signal).catch(() => [])));
  const all = new Map(answers.flat().map((each) => [each.id, each]));
  return [...all.values()];
}

async function asked({ domain, collection, query }: Way, signal: AbortSignal): Promise<Command[]> {
  const page = await get<{ items: Values[] }>(collection.path, { query: { ...query, limit: FOUND }, signal });
  return page.items.map((values) => ({
    id: `found-${domain.name}-${collection.name}-${identity(collection, values).replaceAll(/[^\w-]/g, "_")}`,
    title: `${nameOf(collection, values)} · ${spoken(collection.name)}`,
    group: "Records",
    run: () => router.go(recordPlace(domain.name, collection, values)),
  }));
}

/** The lists that a text can be looked for in, the best first. */
export function waysIn(domain: Domain, text: string, project: string | null): Way[] {
  const ways: (Way & { rank: number })[] = [];
  for (const collection of domain.collections)
    for (const pattern of collection.patterns.filter((p) => p.may))
      for (const { rank, query } of questions(collection, pattern, text, project))
        ways.push({ domain, collection, query: { pattern: pattern.name, ...query }, rank });
  return ways.toSorted((a, b) => a.rank - b.rank);
}

function questions(
  collection: Collection,
  pattern: Pattern,
  text: string,
  project: string | null,
): { rank: number; query: Record<string, string | string[]> }[] {
  const needed = pattern.parameters.filter((p) => p.needed);
  const open = needed.filter((p) => !(p.name === "project_id" && project));
  const known: Record<string, string> = open.length < needed.length && project ? { project_id: project } : {};
  const prefix = pattern.parameters.flatMap((p) => p.words).find((word) => word.endsWith(".starting_with"));
  if (!open.length && prefix) return [{ rank: 0, query: { ...known, [prefix]: text } }];
  const [only] = open;
  if (only && open.length === 1 && isName(only) && text.length >= 6)
    return [{ rank: 1, query: { ...known, [only.name]: text } }];
  const name = namingField(collection);
  const isText = collection.fields.some((f) => f.name === name && f.kind === "text");
  if (!isText || !pattern.where.includes(name) || !open.every((p) => p.values?.length)) return [];
  // Few are examined for each, however many there are: the service sees to it.
  const where = [`${name}>=${text}`, `${name}<${text}${LAST}`];
  if (!only) return [{ rank: 2, query: { ...known, where } }];
  if (open.length > 1) return [];
  return (only.values ?? []).map((value) => ({ rank: 3, query: { ...known, [only.name]: value, where } }));
}

const isName = (p: { kind: string; name: string }): boolean =>
  p.kind === "text" && p.name.endsWith("_id") && p.name !== "project_id";
