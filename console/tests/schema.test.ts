import { describe, expect, it } from "vitest";
import { formFields, readForm } from "../src/records/schema";

const schema = {
  $defs: { Mood: { enum: ["calm", "loud"], type: "string" } },
  properties: {
    mood: { $ref: "#/$defs/Mood" },
    title: { type: "string", maxLength: 100 },
    lyrics: { type: "string", maxLength: 5000 },
    views: { type: "integer", minimum: 0, default: 3 },
    score: { anyOf: [{ type: "number" }, { type: "string", pattern: "x" }, { type: "null" }] },
    tags: { anyOf: [{ type: "array", items: { type: "string" } }, { type: "null" }] },
    loud: { type: "boolean", default: false },
    asked: { anyOf: [{ type: "boolean" }, { type: "null" }] },
    notes: { type: "object" },
    begins_at: { type: "string", format: "date-time" },
  },
  required: ["title", "begins_at"],
};
const by = (fields: ReturnType<typeof formFields>) => Object.fromEntries(fields.map((f) => [f.name, f]));

describe("a form", () => {
  it("names its fields in words, however they are spelled", () => {
    const named = ["begins_at", "conceptPrompt", "audioS3Key", "id"].map((name) => [name, { type: "string" }]);
    const labels = formFields({ properties: Object.fromEntries(named) }).map((f) => f.label);
    expect(labels).toEqual(["Begins at", "Concept prompt", "Audio s3 key", "Id"]);
  });

  it("is made of a schema, what is needed first", () => {
    const fields = formFields(schema);
    expect(fields.slice(0, 2).map((f) => f.name)).toEqual(["title", "begins_at"]);
    const kinds = Object.fromEntries(fields.map((f) => [f.name, f.kind]));
    expect(kinds).toEqual({
      mood: "choice",
      title: "text",
      lyrics: "long",
      views: "integer",
      score: "number",
      tags: "long",
      loud: "truth",
      asked: "choice",
      notes: "json",
      begins_at: "time",
    });
    expect(by(fields).mood?.choices).toEqual(["calm", "loud"]);
    expect([by(fields).views?.initial, by(fields).views?.min]).toEqual(["3", 0]);
  });

  it("is read as the API takes it", () => {
    const fields = formFields(schema);
    const given = { title: "Robot", begins_at: "2037-01-01T00:00:00", tags: "a\n b \n", asked: "true", score: "1.5" };
    expect(readForm(fields, given)).toEqual({
      errors: {},
      body: {
        title: "Robot",
        begins_at: "2037-01-01T00:00:00.000Z",
        tags: ["a", "b"],
        asked: true,
        score: 1.5,
        views: 3,
        loud: false,
      },
    });
    expect(readForm(fields, { title: "", notes: "{" }).errors).toMatchObject({ title: "This is needed." });
  });

  it("that edits begins with what the record has, however the route spells it", () => {
    const route = { properties: { conceptPrompt: { type: "string" }, title: { type: "string" } } };
    const fields = formFields(route, { concept_prompt: "A robot", title: "Robot" });
    expect(fields.map((f) => f.initial)).toEqual(["A robot", "Robot"]);
    expect(readForm(fields, { conceptPrompt: "A robot", title: "Fox" }, true).body).toEqual({ title: "Fox" });
  });

  it("that edits sends only what was changed, and takes away what was emptied", () => {
    const fields = formFields({ properties: schema.properties }, { title: "Robot", score: 2, views: 1 });
    expect(readForm(fields, { title: "Robot", score: "", views: "4" }, true).body).toEqual({ score: null, views: 4 });
  });
});
