import { plainly } from "../api/plain";
import { problemOf } from "../api/problem";
import { exact, relative } from "../app/now.svelte";
import { toasts } from "../app/toasts.svelte";
import { toneOf, type Tone } from "../parts/Badge.svelte";
import { h, type Child } from "./element";
import { Form, type FormOptions } from "./form";
import "./pieces.css";

export interface ButtonOptions {
  kind?: "plain" | "main" | "danger" | "quiet";
  label?: string;
  disabled?: boolean;
}
export interface Meter {
  element: HTMLElement;
  /** How much of 1 is done; null where nobody knows. */
  set(done: number | null, note?: string): void;
}
export interface Item<T> {
  element: HTMLElement;
  update(value: T): void;
}

const EVERY_MS = 10_000;

/** What pages that domains bring are made of: plain elements that look and behave as the console's own. */
export class Pieces {
  readonly h = h;
  #times = new Set<WeakRef<HTMLTimeElement>>();
  #clock = setInterval(() => this.#tick(), EVERY_MS);

  /** A button; one whose action takes its time waits with it, and tells of what goes wrong. */
  button(text: string, run: (event: Event) => unknown, options: ButtonOptions = {}): HTMLButtonElement {
    const button = h("button", { type: "button", class: `button ${options.kind ?? "plain"}` }, text);
    if (options.label) button.setAttribute("aria-label", options.label);
    button.disabled = options.disabled ?? false;
    button.addEventListener("click", (event) => {
      const done = run(event);
      if (done instanceof Promise) void waited(button, done);
    });
    return button;
  }

  link(text: string, href: string, more: Record<string, string | boolean> = {}): HTMLAnchorElement {
    return h("a", { href, ...more }, text);
  }

  badge(state: string, tone: Tone = toneOf(state)): HTMLElement {
    return h("span", { class: `badge ${tone}` }, h("span", { class: "dot" }), state.replaceAll("_", " ").toLowerCase());
  }

  meter(label: string): Meter {
    const bar = h("progress", { max: 1, "aria-label": label });
    const note = h("span", { class: "soft small number", role: "status" });
    const line = h("div", { class: "row spread small" }, h("span", {}, label), note);
    return {
      element: h("div", { class: "p-meter" }, line, bar),
      set(done, text = done === null ? "" : `${Math.round(done * 100)} %`): void {
        if (done === null) bar.removeAttribute("value");
        else bar.value = done;
        if (note.textContent !== text) note.textContent = text;
      },
    };
  }

  /** How long ago something was, or until it is; exact in its title. Takes ISO text, or seconds since 1970. */
  when(moment: string | number): HTMLTimeElement {
    const at = new Date(typeof moment === "number" ? moment * 1000 : moment);
    const time = h("time", { class: "number", datetime: at.toISOString(), title: exact(at) });
    time.textContent = relative(at.getTime(), Date.now());
    this.#times.add(new WeakRef(time));
    return time;
  }

  form(options: FormOptions): Form {
    return new Form(options);
  }

  /** Keeps the children of an element as a list is: each is made once, kept while it is in the list, and told of news. */
  list<T>(element: HTMLElement, key: (value: T) => string, make: (value: T) => Item<T>): (values: T[]) => void {
    let shown = new Map<string, Item<T>>();
    return (values) => {
      const next = new Map<string, Item<T>>();
      for (const value of values) {
        const item = shown.get(key(value)) ?? make(value);
        item.update(value);
        next.set(key(value), item);
      }
      for (const [name, item] of shown) if (!next.has(name)) item.element.remove();
      let after: Element | null = null;
      for (const { element: child } of next.values()) {
        // Moved only where it is not in its place: a film that is moved stops.
        const wanted: Element | null = after ? after.nextElementSibling : element.firstElementChild;
        if (wanted !== child) element.insertBefore(child, wanted);
        after = child;
      }
      shown = next;
    };
  }

  /** Name and value, one under the other. */
  facts(all: Record<string, Child>): HTMLElement {
    const lines = Object.entries(all).filter(([, value]) => value !== null && value !== undefined && value !== "");
    return h("dl", { class: "p-facts" }, ...lines.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
  }

  /** That there is nothing, and beneath it what can be done about that: buttons and links. */
  empty(title: string, text = "", ...ways: HTMLElement[]): HTMLElement {
    const said = [h("p", {}, title), text ? h("p", { class: "small" }, text) : null];
    return h("div", { class: "p-empty soft" }, ...said, ways.length ? h("div", { class: "row" }, ...ways) : null);
  }

  /** An error where it belongs, with what to do about it. */
  trouble(thrown: unknown): HTMLElement {
    const { said, todo, details } = plainly(problemOf(thrown).body);
    const folded = h("details", { class: "small" }, h("summary", {}, "Details"));
    folded.append(...details.map((line) => h("p", {}, h("code", {}, line))));
    return h("div", { class: "p-trouble", role: "alert" }, h("p", {}, said), h("p", {}, todo), folded);
  }

  /** Set where a film, a sound or a picture comes from, unless it is the same file by a URL that was signed anew. */
  source(element: HTMLMediaElement | HTMLImageElement, url: string | null): void {
    const bare = (text: string): string => text.split("?")[0] ?? "";
    if (!url) element.removeAttribute("src");
    else if (bare(element.src) !== bare(new URL(url, location.href).href)) element.src = url;
  }

  size(bytes: number): string {
    const units = ["bytes", "kB", "MB", "GB", "TB"];
    const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
    return `${(bytes / 1000 ** step).toFixed(step && bytes / 1000 ** step < 10 ? 1 : 0)} ${units[step]}`;
  }

  /** `1:04`, `1:02:03`. */
  length(seconds: number): string {
    const whole = Math.round(seconds);
    const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
    const shown = parts[0] ? parts : parts.slice(1);
    return shown.map((part, n) => (n ? String(part).padStart(2, "0") : String(part))).join(":");
  }

  /** Runs at once, then whenever it is called, one after the other; calls meanwhile are one more run. */
  refreshed(run: () => Promise<unknown>, failed: (thrown: unknown) => void): () => void {
    let [busy, wanted] = [false, false];
    const again = (): void => {
      if (busy) return void (wanted = true);
      busy = true;
      run()
        .catch(failed)
        .finally(() => {
          busy = false;
          if (wanted) setTimeout(again, 150);
          wanted = false;
        });
    };
    again();
    return again;
  }

  close(): void {
    clearInterval(this.#clock);
  }

  #tick(): void {
    for (const each of this.#times) {
      const time = each.deref();
      if (time) time.textContent = relative(new Date(time.dateTime).getTime(), Date.now());
      else this.#times.delete(each);
    }
  }
}

async function waited(button: HTMLButtonElement, done: Promise<unknown>): Promise<void> {
  button.disabled = true;
  button.setAttribute("aria-busy", "true");
  try {
    await done;
  } catch (thrown) {
    toasts.fail(thrown);
  } finally {
    button.disabled = false;
    button.removeAttribute("aria-busy");
  }
}
