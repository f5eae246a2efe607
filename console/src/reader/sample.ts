import { resolved, type ApiDocument, type Part } from "./document";

const DEEPEST = 4;
const EMPTY: Record<string, unknown> = { string: "", number: 0, boolean: false, array: [], object: {} };

/** The smallest body that a schema may take: what it needs, and nothing that nobody meant to send. */
export function sampleOf(document: ApiDocument, given: Part, now = new Date(), deep = 0): unknown {
  const schema = resolved(document, given);
  if (deep > DEEPEST) return null;
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [some] = (schema.anyOf ?? schema.oneOf ?? []) as Part[];
  if (some) return sampleOf(document, some, now, deep + 1);
  if (schema.properties) {
    const needed = (schema.required ?? []) as string[];
    const all = Object.entries(schema.properties as Record<string, Part>).filter(([name]) => needed.includes(name));
    return Object.fromEntries(all.map(([name, of]) => [name, sampleOf(document, of, now, deep + 1)]));
  }
  if (schema.format === "date-time") return now.toISOString();
  if (schema.format === "date") return now.toISOString().slice(0, 10);
  if (schema.type === "integer") return schema.minimum ?? 0;
  return EMPTY[String(schema.type)] ?? null;
}
