import { expect, test } from "vitest";
import { read, typed } from "../src/parts/fields";

test("what was typed becomes what the API takes", () => {
  expect(read("integer", "7")).toEqual({ value: 7 });
  expect(read("integer", 7 as unknown as string)).toEqual({ value: 7 });
  expect(read("integer", null as unknown as string)).toEqual({ value: undefined });
  expect(read("integer", "7.5")).toEqual({ error: "7.5 is no whole number." });
  expect(read("integer", "90071992547409931")).toEqual({ value: "90071992547409931" });
  expect(read("number", "x")).toEqual({ error: "x is no number." });
  expect(read("text", "  kept ")).toEqual({ value: "  kept " });
  expect(read("key", " p1 ")).toEqual({ value: "p1" });
  expect(read("json", "{")).toHaveProperty("error");
  expect(read("json", '{"a":1}')).toEqual({ value: { a: 1 } });
  expect(read("time", "2037-01-01T10:00")).toEqual({ value: "2037-01-01T10:00:00.000Z" });
  expect(read("truth", false)).toEqual({ value: false });
  expect(read("choice", "")).toEqual({ value: undefined });
});

test("a value is shown as it would be typed", () => {
  expect(typed("time", "2037-01-01T10:00:00+02:00")).toBe("2037-01-01T08:00:00");
  expect(typed("json", { a: 1 })).toBe('{\n  "a": 1\n}');
  expect(typed("integer", null)).toBe("");
  expect(typed("truth", true)).toBe(true);
});
