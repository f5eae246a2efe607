import type { Tone } from "../../parts/Badge.svelte";

/** `0.4 s`, `12 s`, `3 min 5 s`, `2 h 4 min`. */
export function lasted(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const OUTCOMES: Record<string, Tone> = { done: "good", retryable: "warn", handed_back: "idle", cancelled: "idle" };

/** How the outcome of an attempt feels. */
export const toneOfOutcome = (outcome: string): Tone => OUTCOMES[outcome] ?? "bad";

const SIZES = ["B", "kB", "MB", "GB", "TB"];

/** `512 B`, `3.2 MB`. */
export function sized(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < SIZES.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit && value < 100 ? value.toFixed(1) : Math.round(value)} ${SIZES[unit]}`;
}
