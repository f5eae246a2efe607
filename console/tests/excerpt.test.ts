import { expect, test } from "vitest";
import { foundIn, operationsOf, type ApiDocument } from "../src/reader/document";
import { excerptOf } from "../src/reader/excerpt";
import { blocksOf, spansOf } from "../src/reader/prose";
import { sampleOf } from "../src/reader/sample";

const file = { type: "string", contentMediaType: "application/octet-stream" };
const whole: ApiDocument = {
  openapi: "3.1.0",
  info: { title: "Films", version: "1", description: "long" },
  paths: {
    "/api/films/{film_id}/poster": {
      post: {
        operationId: "films_poster_send",
        summary: "Films Poster Send",
        tags: ["films"],
        parameters: [
          { name: "kind", in: "query", schema: { anyOf: [{ $ref: "#/components/schemas/Kind" }, { type: "null" }] } },
          { $ref: "#/components/parameters/Project" },
        ],
        requestBody: { content: { "multipart/form-data": { schema: { $ref: "#/components/schemas/Form" } } } },
        responses: {
          200: {
            description: "Sent.",
            content: { "application/json": { schema: { $ref: "#/components/schemas/Film" } } },
            links: {},
          },
          404: { description: "Gone.", content: {} },
        },
      },
    },
    "/api/events": { get: { responses: { 200: { content: { "text/event-stream": {} } } } } },
  },
  components: {
    parameters: { Project: { name: "X-Project", in: "header", schema: { type: "string" } } },
    schemas: {
      Form: {
        type: "object",
        required: ["title"],
        properties: {
          title: { type: "string" },
          poster: { anyOf: [file, { type: "null" }] },
          more: { type: "array", items: file },
        },
      },
      Film: {
        type: "object",
        required: ["title", "maker", "kind"],
        properties: {
          title: { type: "string" },
          kind: { $ref: "#/components/schemas/Kind" },
          maker: { $ref: "#/components/schemas/Maker" },
          note: { type: "string" },
        },
      },
      Kind: { type: "string", enum: ["short", "long"] },
      Maker: {
        type: "object",
        required: ["films"],
        properties: { films: { type: "array", items: { $ref: "#/components/schemas/Film" } } },
      },
      Other: { type: "object" },
    },
  },
};
const [send, stream] = operationsOf(whole);

test("operations are found by every word of theirs", () => {
  expect([send?.title, send?.tag, stream?.id, stream?.tag]).toEqual([
    "Poster Send",
    "films",
    "get /api/events",
    "other",
  ]);
  expect([send?.streams, stream?.streams]).toEqual([false, true]);
  expect(foundIn([send, stream] as never, "POST  poster").map((o) => o.id)).toEqual(["films_poster_send"]);
});

test("an excerpt has one operation, what it refers to, and nothing else", () => {
  const excerpt = excerptOf(whole, send as never, "p1");
  expect(Object.keys(excerpt.paths)).toEqual(["/api/films/{film_id}/poster"]);
  expect(Object.keys(excerpt.components?.schemas ?? {}).toSorted()).toEqual(["Film", "Kind", "Maker"]);
  const told = excerpt.paths["/api/films/{film_id}/poster"]?.post;
  expect(told?.parameters).toEqual([
    { name: "kind", in: "query", schema: { type: "string", enum: ["short", "long"] } },
    { name: "X-Project", in: "header", schema: { type: "string", default: "p1" } },
  ]);
  expect(told?.responses?.[404]).toEqual({ description: "Gone." });
  expect(told?.responses?.[200]).not.toHaveProperty("links");
});

test("a file in a form is one, also if it may be left out, and nothing is filled in for anybody", () => {
  const body = excerptOf(whole, send as never, null).paths["/api/films/{film_id}/poster"]?.post?.requestBody;
  expect(body).toMatchObject({
    content: {
      "multipart/form-data": {
        schema: {
          properties: {
            title: { type: "string", example: "" },
            poster: { type: "string", format: "binary" },
            more: { type: "array", example: [], items: { type: "string", format: "binary" } },
          },
        },
      },
    },
  });
});

test("a sample has what is needed", () => {
  expect(sampleOf(whole, { $ref: "#/components/schemas/Film" })).toEqual({
    title: "",
    kind: "short",
    maker: { films: [] },
  });
});

test("descriptions are paragraphs, lists and code", () => {
  expect(blocksOf("One\ntwo.\n\n- a `b`\n  c\n- d\n\nEnd")).toEqual([
    { list: false, lines: ["One two."] },
    { list: true, lines: ["a `b` c", "d"] },
    { list: false, lines: ["End"] },
  ]);
  expect(spansOf("a `b` <i>")).toEqual([
    { text: "a ", code: false },
    { text: "b", code: true },
    { text: " <i>", code: false },
  ]);
});
