import { spoken } from "../api/declared.svelte";
import type { FieldKind } from "../parts/Field.svelte";
import { read, typed } from "../parts/fields";
import type { Values } from "./declaration";

export type Schema = Record<string, unknown>;

/** One field of a form, made of a JSON Schema. */
export interface FormField {
  name: string;
  label: string;
  kind: FieldKind;
  required: boolean;
  nullable: boolean;
  /** Several texts, one in each line. */
  lines: boolean;
  choices: string[];
  hint: string | undefined;
  min: number | undefined;
  max: number | undefined;
  longest: number | undefined;
  initial: string | boolean;
}

/** The fields of a body. `values` are what a record has already: the form begins with them. */
export function formFields(schema: Schema | null | undefined, values: Values | null = null): FormField[] {
  if (!schema) return [];
  const whole = followed(schema, schema).schema;
  const needed = new Set((whole.required as string[] | undefined) ?? []);
  const properties = Object.entries((whole.properties as Record<string, Schema> | undefined) ?? {});
  const fields = properties.map(([name, part]) => field(name, part, schema, needed.has(name), values));
  return fields.toSorted((a, b) => Number(b.required) - Number(a.required));
}

/** A route may spell `conceptPrompt` what the record calls `concept_prompt`. */
const asStored = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function field(name: string, part: Schema, root: Schema, required: boolean, values: Values | null): FormField {
  const { schema, nullable } = followed(part, root);
  const lines =
    schema.type === "array" && followed((schema.items as Schema | undefined) ?? {}, root).schema.type === "string";
  const kind = lines ? "long" : kindOf(schema, !required && (nullable || values !== null));
  const hint = [part.description ?? schema.description, lines ? "One in each line." : null].filter(Boolean).join(" ");
  const begins = values
    ? (values[name] ?? values[asStored(name)])
    : (part.default ?? (required && kind === "time" ? new Date().toISOString() : null));
  return {
    name,
    label: spoken(name),
    kind,
    required,
    nullable,
    lines,
    choices: schema.type === "boolean" ? ["true", "false"] : ((schema.enum as unknown[] | undefined) ?? []).map(String),
    hint: hint || undefined,
    min: limit(schema, "minimum"),
    max: limit(schema, "maximum"),
    longest: limit(schema, "maxLength"),
    initial: begun(kind, begins, lines),
  };
}

function begun(kind: FieldKind, value: unknown, lines: boolean): string | boolean {
  if (lines) return Array.isArray(value) ? value.join("\n") : "";
  if (kind === "choice") return value === null || value === undefined ? "" : String(value);
  return typed(kind, value);
}

const limit = (schema: Schema, name: string): number | undefined =>
  typeof schema[name] === "number" ? schema[name] : undefined;

const LONG = 400;
const BY_FORMAT: Record<string, FieldKind> = { "date-time": "time", date: "date", uuid: "key" };

function kindOf(schema: Schema, optional: boolean): FieldKind {
  if (schema.enum) return "choice";
  // What may be left open is no tick: a box that is not ticked says no.
  if (schema.type === "boolean") return optional ? "choice" : "truth";
  if (schema.type === "integer" || schema.type === "number") return schema.type;
  if (schema.type !== "string") return "json";
  return BY_FORMAT[String(schema.format)] ?? ((limit(schema, "maxLength") ?? 0) >= LONG ? "long" : "text");
}

/** A schema without its references and without null. */
function followed(part: Schema, root: Schema): { schema: Schema; nullable: boolean } {
  if (typeof part.$ref === "string") {
    const found = part.$ref
      .split("/")
      .slice(1)
      .reduce<unknown>((at, name) => (at as Schema | undefined)?.[name], root);
    return followed((found as Schema | undefined) ?? {}, root);
  }
  const ways = (part.anyOf ?? part.oneOf ?? part.allOf) as Schema[] | undefined;
  if (!ways) return { schema: part, nullable: false };
  const some = ways.filter((way) => way.type !== "null").map((way) => followed(way, root).schema);
  // A decimal is a number or its text: it is typed as a number.
  const chosen = some.length === 1 ? some[0] : some.find((way) => way.type === "number" || way.type === "integer");
  return { schema: chosen ?? {}, nullable: some.length < ways.length };
}

export interface ReadForm {
  body: Values;
  errors: Record<string, string>;
}

/** What was typed, as the API takes it. With `changed`, only what differs from how the form began. */
export function readForm(fields: FormField[], given: Record<string, string | boolean>, changed = false): ReadForm {
  const [body, errors]: [Values, Record<string, string>] = [{}, {}];
  for (const each of fields) {
    const said = given[each.name] ?? each.initial;
    if (changed && String(said) === String(each.initial)) continue;
    const got = each.lines ? { value: texts(String(said)) } : read(each.kind, said);
    if ("error" in got) errors[each.name] = got.error;
    else if (got.value === undefined) {
      if (each.required) errors[each.name] = "This is needed.";
      else if (changed && each.nullable) body[each.name] = null;
    } else body[each.name] = each.kind === "choice" && isFlag(each) ? got.value === "true" : got.value;
  }
  return { body, errors };
}

const isFlag = (field: FormField): boolean => field.choices.join() === "true,false";

function texts(said: string): string[] | undefined {
  const found = said
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  return found.length ? found : undefined;
}
