import { placeOf, resolved, type Answer, type ApiDocument, type Operation, type Part } from "./document";
import { sampleOf } from "./sample";

/** A document of one operation and what it refers to. The reader would take seconds for the whole. */
export function excerptOf(document: ApiDocument, operation: Operation, project: string | null): ApiDocument {
  const { path, method, described } = operation;
  const told = { ...described, parameters: (described.parameters ?? []).map((p) => parameter(document, p, project)) };
  if (described.requestBody) told.requestBody = body(document, described.requestBody);
  told.responses = Object.fromEntries(
    Object.entries(described.responses ?? {}).map(([status, answer]) => [status, brief(status, answer)]),
  );
  // Whoever is here has a session or a key, and is asked for neither once more.
  const one = { ...told, security: [] };
  return {
    openapi: document.openapi,
    info: { title: document.info.title, version: document.info.version },
    paths: { [path]: { [method.toLowerCase()]: one } },
    components: referred(document, one),
  };
}

function parameter(document: ApiDocument, given: Part, project: string | null): Part {
  const told = resolved(document, given);
  const schema = sendable(document, (told.schema ?? {}) as Part);
  const chosen = project !== null && told.in === "header" && told.name === "X-Project";
  return { ...told, schema: chosen ? { ...schema, default: project } : schema };
}

/** A form's fields, so that the reader knows a file when it sees one; for JSON the least that may be sent. */
function body(document: ApiDocument, given: Part): Part {
  const content = Object.entries((given.content ?? {}) as Record<string, Part>).map(([type, media]) => {
    const schema = (media.schema ?? {}) as Part;
    if (/form/.test(type)) return [type, { ...media, schema: unfilled(sendable(document, schema)) }];
    return [type, /json/.test(type) && !media.example ? { ...media, example: sampleOf(document, schema) } : media];
  });
  return { ...given, content: Object.fromEntries(content) };
}

/** A form is empty at first: what the reader would make up is not meant to be sent. */
function unfilled(form: Part): Part {
  const empty = ([name, of]: [string, Part]): [string, Part] => {
    const made = of.default === undefined && !of.enum && of.format !== "binary";
    const nothing = of.type === "array" ? [] : of.type === "string" ? "" : undefined;
    return [name, made && nothing !== undefined ? { ...of, example: nothing } : of];
  };
  return {
    ...form,
    properties: Object.fromEntries(Object.entries((form.properties ?? {}) as Record<string, Part>).map(empty)),
  };
}

/** All errors look alike, and the reader can make nothing of links. */
function brief(status: string, { links: _, ...answer }: Answer): Answer {
  return Number(status) >= 400 ? { description: answer.description ?? "" } : answer;
}

/** A schema of what is sent as text or as a file: nothing can be null there, so "or null" only hides what it is. */
function sendable(document: ApiDocument, given: Part, deep = 0): Part {
  if (deep > 4) return given;
  const { anyOf, contentMediaType, ...schema } = resolved(document, given);
  const some = ((anyOf ?? []) as Part[]).filter((each) => each.type !== "null");
  if (some.length === 1) return sendable(document, { ...resolved(document, some[0] as Part), ...schema }, deep + 1);
  if (anyOf) schema.anyOf = some;
  if (contentMediaType === "application/octet-stream") schema.format = "binary";
  else if (contentMediaType) schema.contentMediaType = contentMediaType;
  if (schema.items) schema.items = sendable(document, schema.items as Part, deep + 1);
  if (schema.properties)
    schema.properties = Object.fromEntries(
      Object.entries(schema.properties as Record<string, Part>).map(([name, of]) => [
        name,
        sendable(document, of, deep + 1),
      ]),
    );
  return schema;
}

/** The components that something refers to, and those that they refer to. */
function referred(document: ApiDocument, from: unknown): Record<string, Record<string, Part>> {
  const found: Record<string, Record<string, Part>> = {};
  const open = [from];
  while (open.length) {
    const part = open.pop();
    if (typeof part !== "object" || part === null) continue;
    for (const [key, value] of Object.entries(part)) {
      if (key !== "$ref" || typeof value !== "string") {
        open.push(value);
        continue;
      }
      const [section, name] = placeOf(value);
      const target = document.components?.[section]?.[name];
      const known = (found[section] ??= {});
      if (!target || known[name]) continue;
      known[name] = target;
      open.push(target);
    }
  }
  return found;
}
