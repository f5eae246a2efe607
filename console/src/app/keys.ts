import { commands, type Command } from "./commands.svelte";

const PATIENCE = 1200;
const TYPED = new Set(["INPUT", "TEXTAREA", "SELECT"]);
/** Nobody types into these: letters are commands there too. */
const UNTYPED = new Set(["range", "checkbox", "radio", "button"]);

/** What was pressed, as commands name it. Where a layout has no Latin letters, the place of the key counts. */
export function pressed(event: KeyboardEvent): string {
  const latin = /^[\x20-\x7e]$/.test(event.key);
  const place = /^(?:Key|Digit)(.)$/.exec(event.code)?.[1]?.toLowerCase();
  let key = latin
    ? event.key.toLowerCase()
    : event.key.length === 1
      ? (place ?? BY_PLACE[event.code] ?? event.key)
      : event.key;
  if (!latin && event.shiftKey && event.code === "Slash") key = "?";
  const letter = /^[a-z]$/.test(key) || key.length > 1;
  const marks = [
    event.ctrlKey || event.metaKey ? "Ctrl+" : "",
    event.altKey ? "Alt+" : "",
    event.shiftKey && letter ? "Shift+" : "",
  ];
  return marks.join("") + (key.length === 1 ? key : key);
}

const BY_PLACE: Record<string, string> = { Slash: "/", Period: ".", Comma: ",", BracketLeft: "[", BracketRight: "]" };

const spelled = (keys: string): string[] =>
  keys.split(" ").map((k) => k.replace(/(^|\+)([A-Z])$/, (_, p, c) => p + c.toLowerCase()));

function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  if (target instanceof HTMLInputElement && UNTYPED.has(target.type)) return false;
  return !!target && (TYPED.has(target.tagName) || target.isContentEditable);
}

/** Runs the command whose keys were pressed; sequences such as `g h` have a second between their keys. */
export class KeyMap {
  #before: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly find: () => Command[] = () => commands.all) {}

  listen(target: EventTarget = document): () => void {
    const heard = (event: Event): void => this.heard(event as KeyboardEvent);
    target.addEventListener("keydown", heard);
    return () => target.removeEventListener("keydown", heard);
  }

  heard(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing || ["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
    const key = pressed(event);
    const free = key.startsWith("Ctrl+");
    // In a dialog only its own keys count, and in a field only those that type nothing.
    if (!free && (isTyping(event) || document.querySelector("dialog[open]:modal"))) return;
    const typed = [...this.#before, key];
    const all = this.find().filter((c) => c.keys);
    const found =
      all.findLast((c) => same(spelled(c.keys ?? ""), typed)) ??
      all.findLast((c) => same(spelled(c.keys ?? ""), [key]));
    clearTimeout(this.#timer);
    this.#before = [];
    if (found) {
      event.preventDefault();
      found.run();
    } else if (all.some((c) => begins(spelled(c.keys ?? ""), typed))) {
      this.#before = typed;
      this.#timer = setTimeout(() => (this.#before = []), PATIENCE);
    }
  }
}

const same = (a: string[], b: string[]): boolean => a.length === b.length && a.every((k, n) => k === b[n]);
const begins = (a: string[], b: string[]): boolean => a.length > b.length && b.every((k, n) => k === a[n]);
