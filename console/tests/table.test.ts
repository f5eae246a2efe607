import { fireEvent, render } from "@testing-library/svelte";
import { expect, test } from "vitest";
import Table from "../src/parts/Table.svelte";

test("however many rows there are, at most a hundred are in the document", () => {
  const rows = Array.from({ length: 10_000 }, (_, n) => ({ id: `r${n}` }));
  const { container } = render(Table, {
    props: {
      rows,
      columns: [{ id: "id", title: "Id", text: (r: unknown) => (r as { id: string }).id }],
      key: (r: unknown) => (r as { id: string }).id,
      label: "Rows",
    },
  });
  expect(container.querySelectorAll("tr").length).toBeLessThanOrEqual(100);
  expect(container.querySelector("table")?.getAttribute("aria-rowcount")).toBe("10001");
});

test("what does not fit into its cell is told whole where somebody points at it", async () => {
  const long = "A title that goes on and on";
  const column = { id: "title", title: "Title", text: (r: unknown) => String(r) };
  const { container } = render(Table, {
    props: { rows: [long, "short"], columns: [column], key: (r: unknown) => String(r), label: "Rows" },
  });
  const [cut, whole] = [...container.querySelectorAll("td")] as HTMLTableCellElement[];
  if (!cut || !whole) throw new Error("no cells");
  Object.defineProperty(cut, "scrollWidth", { value: 300 });
  Object.defineProperty(cut, "clientWidth", { value: 100 });
  await fireEvent.pointerOver(cut);
  await fireEvent.focusIn(whole);
  expect([cut.title, whole.title]).toEqual([long, ""]);
});
