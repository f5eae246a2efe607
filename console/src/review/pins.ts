import type { Note, Pin, Region } from "./desk";

/** `1:02.5`: where in a film or a sound. */
export function clock(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  const [hours, minutes] = [Math.floor(whole / 3_600_000), Math.floor(whole / 60_000) % 60];
  const seconds = ((whole % 60_000) / 1000).toFixed(3).replace(/\.?0+$/, "");
  const [before = "0", behind] = seconds.split(".");
  const tail = before.padStart(2, "0") + (behind ? `.${behind}` : "");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${tail}` : `${minutes}:${tail}`;
}

/** Where a note is, in a few words. */
export function spokenPin(pin: Pin | null): string {
  if (!pin) return "";
  const words: string[] = [];
  if (pin.time_ms != null)
    words.push(pin.end_ms != null ? `${clock(pin.time_ms)} to ${clock(pin.end_ms)}` : clock(pin.time_ms));
  if (pin.frame != null) words.push(`frame ${pin.frame}`);
  if (pin.region) words.push("region");
  if (pin.point) words.push("point");
  if (pin.wavelength != null) words.push(`${rounded(pin.wavelength)} Å`);
  if (pin.julian_date != null) words.push(`JD ${rounded(pin.julian_date)}`);
  return words.join(" · ");
}

const rounded = (value: number): string => String(Number(value.toFixed(value > 1e5 ? 4 : 2)));

/** A region between two corners, whichever was first, within the picture. */
export function between(a: { x: number; y: number }, b: { x: number; y: number }): Region {
  const [left, right] = [Math.min(a.x, b.x), Math.max(a.x, b.x)].map(inside) as [number, number];
  const [top, bottom] = [Math.min(a.y, b.y), Math.max(a.y, b.y)].map(inside) as [number, number];
  const short = (value: number): number => Math.round(value * 1e4) / 1e4;
  const [x, y] = [short(left), short(top)];
  return { x, y, width: Math.min(1 - x, short(right - left)), height: Math.min(1 - y, short(bottom - top)) };
}

const inside = (value: number): number => Math.min(1, Math.max(0, value));

/** Too small to be meant: somebody has clicked. */
export const isSpeck = (region: Region): boolean => region.width < 0.005 || region.height < 0.005;

/** Notes on one file that say where, with the number each has in the list. */
export interface Mark {
  note: Note;
  number: number;
}

export const marksOf = (notes: readonly Note[], file: string): Mark[] =>
  notes
    .map((note, n) => ({ note, number: n + 1 }))
    .filter(({ note }) => note.file === file && note.pin && !note.deleted);
