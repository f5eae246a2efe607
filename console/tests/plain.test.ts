import { render } from "@testing-library/svelte";
import { expect, test } from "vitest";
import { plainly } from "../src/api/plain";
import { Problem, type ProblemBody } from "../src/api/problem";
import Trouble from "../src/parts/Trouble.svelte";

const body = (type: string, detail: string): ProblemBody => ({
  type,
  title: "A title",
  status: 422,
  detail,
  hint: "Give the path of a record as its own routes have it.",
  request_id: "01a1e9b1",
});

test("what only programs understand is folded, and what happened is said in plain words", () => {
  const told = plainly(body("not-an-item", "there are no records at /api/novae/comets"));
  expect(told.said).toBe("There is nothing here");
  expect(`${told.said} ${told.todo}`).not.toMatch(/api|route|not-an-item|01a1e9b1/);
  expect(told.details.join(" ")).toMatch(/\/api\/novae\/comets.*routes.*not-an-item · request 01a1e9b1/);
});

test("what a domain says of its own things is said, without a record as programs write it", () => {
  const told = plainly(body("illegal-move", "MusicVideo(project_id=7, name=a) cannot be cut: it is queued"));
  expect(told.said).toBe("This music video cannot be cut: it is queued");
  expect(told.details[0]).toContain("project_id=7");
});

test("an error on a screen has a way onward, and its details folded", () => {
  const error = new Problem(body("not-found", "there is no Project(project_id=0)"));
  const ways = [{ title: "All projects", href: "/console/d/x" }];
  const { container, getByRole } = render(Trouble, { props: { error, again: () => undefined, ways } });
  expect(getByRole("button", { name: "Try again" })).toBeTruthy();
  expect(getByRole("link", { name: "All projects" }).getAttribute("href")).toBe("/console/d/x");
  const folded = container.querySelector("details");
  expect(folded?.open).toBe(false);
  expect(folded?.textContent).toContain("Project(project_id=0)");
  folded?.remove();
  expect(container.textContent).not.toMatch(/project_id|not-found/);
});
