import { untrack } from "svelte";

/** What can be done just now: found in the palette, and by its keys. Screens add theirs while they are shown. */
export interface Command {
  id: string;
  title: string;
  group: string;
  /** `e`, `Shift+E`, `Ctrl+K`, `Escape`, or one after the other: `g h`. */
  keys?: string | undefined;
  /** Further words that find it. */
  words?: string | undefined;
  /** In the keyboard map, but not in the palette. */
  unlisted?: boolean | undefined;
  run: () => void;
}
/** Finds further commands by what was typed, such as a record by its id. */
export type Finder = (text: string, signal: AbortSignal) => Promise<Command[]>;

class Commands {
  #sources = $state.raw<(() => Command[])[]>([]);
  finders = $state.raw<Finder[]>([]);
  paletteOpen = $state(false);
  mapOpen = $state(false);

  get all(): Command[] {
    return this.#sources.flatMap((source) => source());
  }

  /** Offer commands until the returned function is called. */
  add(source: () => Command[]): () => void {
    // Untracked: whoever adds commands in an effect must not run again when others do.
    untrack(() => (this.#sources = [...this.#sources, source]));
    return () => untrack(() => (this.#sources = this.#sources.filter((s) => s !== source)));
  }

  addFinder(finder: Finder): () => void {
    untrack(() => (this.finders = [...this.finders, finder]));
    return () => untrack(() => (this.finders = this.finders.filter((f) => f !== finder)));
  }
}

export const commands = new Commands();

/** In a component: offer these while it is shown. */
export function useCommands(source: () => Command[]): void {
  $effect(() => commands.add(source));
}

/** How well a text fits what was typed: every letter in order, at beginnings of words or beside one another; 0 for not at all. */
export function fits(typed: string, text: string): number {
  const wanted = typed.toLowerCase().replaceAll(" ", "");
  const found = text.toLowerCase();
  if (!wanted) return 1;
  const whole = found.includes(typed.toLowerCase().trim());
  let [at, loose, score] = [0, 0, whole ? 10 : 0];
  for (const letter of wanted) {
    const next = nextOf(letter, found, at);
    if (next < 0) return 0;
    const begins = isBeginning(found, next);
    // Letters from anywhere are in every long text.
    if (!begins && (next !== at || at === 0) && ++loose > 1 && !whole) return 0;
    score += begins ? 3 : next === at ? 2 : 0.2;
    at = next + 1;
  }
  return score / (1 + found.length / 80);
}

const isBeginning = (text: string, at: number): boolean => at === 0 || /[\s/_.:-]/.test(text[at - 1] ?? "");

/** Where a letter goes on: beside the last one, at the beginning of a word, or else anywhere. */
function nextOf(letter: string, text: string, from: number): number {
  if (text[from] === letter) return from;
  for (let at = from; (at = text.indexOf(letter, at)) >= 0; at++) if (isBeginning(text, at)) return at;
  return text.indexOf(letter, from);
}
