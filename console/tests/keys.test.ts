import { expect, test } from "vitest";
import { fits, type Command } from "../src/app/commands.svelte";
import { KeyMap, pressed } from "../src/app/keys";

const key = (key: string, code: string, more: KeyboardEventInit = {}): KeyboardEvent =>
  new KeyboardEvent("keydown", { key, code, cancelable: true, ...more });

test("a key is what it says, and where it says nothing Latin, what stands in its place", () => {
  expect(pressed(key("g", "KeyG"))).toBe("g");
  expect(pressed(key("п", "KeyG"))).toBe("g");
  expect(pressed(key("k", "KeyV"))).toBe("k"); // Dvorak
  expect(pressed(key("л", "KeyK", { ctrlKey: true }))).toBe("Ctrl+k");
  expect(pressed(key("K", "KeyK", { metaKey: true, shiftKey: true }))).toBe("Ctrl+Shift+k");
  expect(pressed(key("?", "Slash", { shiftKey: true }))).toBe("?");
  expect(pressed(key(",", "Slash", { shiftKey: true }))).toBe(",");
  expect(pressed(key("Escape", "Escape"))).toBe("Escape");
});

test("one key after the other makes a command, and fields keep their letters", () => {
  const ran: string[] = [];
  const all: Command[] = ["g h", "g p", "e", "Ctrl+K", "Shift+E"].map((keys) => ({
    id: keys,
    title: keys,
    group: "",
    keys,
    run: () => ran.push(keys),
  }));
  const map = new KeyMap(() => all);
  const type = (...events: KeyboardEvent[]): void => events.forEach((e) => map.heard(e));
  type(key("g", "KeyG"), key("p", "KeyP"), key("e", "KeyE"), key("g", "KeyG"), key("e", "KeyE"));
  type(key("k", "KeyK", { ctrlKey: true }), key("E", "KeyE", { shiftKey: true }), key("h", "KeyH"));
  expect(ran).toEqual(["g p", "e", "e", "Ctrl+K", "Shift+E"]);
  const field = document.body.appendChild(document.createElement("input"));
  field.addEventListener("keydown", (e) => map.heard(e));
  field.dispatchEvent(key("e", "KeyE", { bubbles: true }));
  expect(ran.length).toBe(5);
});

test("what was typed finds titles by the beginnings of their words", () => {
  expect(fits("mv sc", "Music videos: Scenes")).toBeGreaterThan(fits("mv sc", "Removed screens"));
  expect(fits("xyz", "Scenes")).toBe(0);
  expect(fits("", "Scenes")).toBe(1);
});
