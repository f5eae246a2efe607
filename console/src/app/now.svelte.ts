/** The time, for everything that says how long ago something was: one clock for all, which rests while nobody looks. */
class Now {
  at = $state(Date.now());

  constructor() {
    setInterval(() => document.visibilityState === "visible" && (this.at = Date.now()), 10_000);
    document.addEventListener("visibilitychange", () => (this.at = Date.now()));
  }
}

export const now = new Now();

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];
const words = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });

/** `3 h ago`, `in 2 d`, `now`. */
export function relative(moment: number, at: number): string {
  const seconds = (moment - at) / 1000;
  for (const [unit, size] of UNITS)
    if (Math.abs(seconds) >= size) return words.format(Math.trunc(seconds / size), unit);
  return Math.abs(seconds) < 15 ? "now" : words.format(Math.trunc(seconds), "second");
}

/** To the second, in UTC: the same for everybody who reads it. */
export const exact = (moment: Date): string =>
  moment
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, " UTC");
