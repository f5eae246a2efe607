import { get } from "../api/call";
import type { Collection } from "./declaration";
import { ASKED, type Question } from "./listing";

const MOST = 16;

/**
 * Where a list is asked by a state that nobody has chosen and there is nothing in it: the first other one that has
 * something, by its word in the address. One question for each state there is, however many records there are.
 */
export async function firstFilled(
  query: URLSearchParams,
  collection: Collection,
  question: Question,
): Promise<{ word: string; value: string } | null> {
  const chosen = question.pattern.parameters.filter((p) => p.needed && p.values?.length);
  const [parameter] = chosen;
  const word = parameter?.words[0];
  if (!parameter || !word || chosen.length > 1 || query.has(ASKED + word) || question.where.length) return null;
  const others = (parameter.values ?? []).filter((value) => value !== question.given[word]).slice(0, MOST);
  const asked = others.map((value) =>
    get<{ items: unknown[] }>(collection.path, {
      query: { pattern: question.pattern.name, ...question.given, [word]: value, limit: 1 },
    }),
  );
  const pages = await Promise.all(asked);
  const value = others[pages.findIndex((page) => page.items.length > 0)];
  return value === undefined ? null : { word, value };
}
