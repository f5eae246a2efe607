import { render } from "@testing-library/svelte";
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
