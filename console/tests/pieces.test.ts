import { afterEach, expect, test, vi } from "vitest";
import { Problem } from "../src/api/problem";
import { toasts } from "../src/app/toasts.svelte";
import { Form } from "../src/pages/form";
import { Pieces } from "../src/pages/pieces";

const parts = new Pieces();
const problem = (fields: { where: string; message: string }[]): Problem =>
  new Problem({ type: "invalid", title: "", status: 422, detail: "It does not fit", hint: "", request_id: "", fields });

afterEach(() => {
  toasts.all = [];
});

test("a list keeps the elements of what stays, in the order of what it is told", () => {
  const element = parts.h("ul");
  const show = parts.list<{ id: string; text: string }>(
    element,
    (value) => value.id,
    () => {
      const item = parts.h("li");
      return { element: item, update: (value) => (item.textContent = value.text) };
    },
  );
  show([
    { id: "a", text: "one" },
    { id: "b", text: "two" },
  ]);
  const [first, second] = [...element.children];
  show([
    { id: "b", text: "second" },
    { id: "c", text: "third" },
    { id: "a", text: "first" },
  ]);
  expect([...element.children].map((e) => e.textContent)).toEqual(["second", "third", "first"]);
  expect([element.children[0], element.children[2]]).toEqual([second, first]);
  show([]);
  expect(element.children.length).toBe(0);
});

test("a form sends what is shown and filled in, each as what it is", async () => {
  const run = vi.fn();
  const form = new Form({
    label: "Order",
    action: "Order it",
    fields: [
      { name: "text", label: "Text", value: " hello " },
      { name: "count", label: "Count", kind: "number", value: 3 },
      { name: "empty", label: "Empty" },
      { name: "sure", label: "Sure", kind: "truth", value: true },
      { name: "hidden", label: "Hidden", value: "x" },
      { name: "size", label: "Size", kind: "choice", choices: ["small", "large"], value: "large" },
    ],
    run,
  });
  form.show("hidden", false);
  await form.submit();
  expect(run).toHaveBeenCalledWith({ text: "hello", count: 3, sure: true, size: "large" });
  form.choices("size", ["large", "huge"]);
  expect(form.control("size").value).toBe("large");
});

test("what the service finds wrong is told at its field, and all else in passing", async () => {
  const thrown = [problem([{ where: "body.text", message: "has 1 to 100 characters" }]), problem([])];
  const form = new Form({
    label: "Order",
    action: "Order it",
    fields: [{ name: "text", label: "Text" }],
    run: () => Promise.reject(thrown.shift()),
  });
  await form.submit();
  expect(form.control("text").getAttribute("aria-invalid")).toBe("true");
  expect(form.element.querySelector(".error")?.textContent).toBe("has 1 to 100 characters");
  expect(toasts.all).toEqual([]);
  await form.submit();
  expect(form.control("text").hasAttribute("aria-invalid")).toBe(false);
  expect(toasts.all.map((t) => t.text)).toEqual(["It does not fit"]);
});

test("a file that is signed anew is not loaded anew", () => {
  const film = parts.h("video");
  parts.source(film, "http://files/a.mp4?signature=1");
  const before = film.src;
  parts.source(film, "http://files/a.mp4?signature=2");
  expect(film.src).toBe(before);
  parts.source(film, "http://files/b.mp4?signature=2");
  expect(film.src).toContain("b.mp4");
});

test("sizes and lengths are told as people read them", () => {
  expect([0, 999, 1500, 25_000_000].map((n) => parts.size(n))).toEqual(["0 bytes", "999 bytes", "1.5 kB", "25 MB"]);
  expect([4, 64, 3723].map((n) => parts.length(n))).toEqual(["0:04", "1:04", "1:02:03"]);
});

test("what is refreshed while it is being read is read once more", async () => {
  vi.useFakeTimers();
  let release = (): void => {};
  const run = vi.fn(() => new Promise<void>((resolve) => (release = resolve)));
  const again = parts.refreshed(run, () => undefined);
  again();
  again();
  expect(run).toHaveBeenCalledTimes(1);
  release();
  await vi.advanceTimersByTimeAsync(200);
  expect(run).toHaveBeenCalledTimes(2);
  vi.useRealTimers();
});
