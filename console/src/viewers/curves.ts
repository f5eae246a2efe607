import type { Curve, Pin, Plot } from "../review/desk";

/** A way to say where on the x axis: what is stored, as it is shown, and back. */
export interface Unit {
  id: string;
  title: string;
  shown: (x: number) => number;
  stored: (value: number) => number;
}

const ANGSTROM = /^(Å|Angstrom|AA)$/i;
const WAVES: [string, number][] = [
  ["Å", 1],
  ["nm", 0.1],
  ["µm", 1e-4],
];
const MODIFIED = 2_400_000.5;

/** The units that an x axis can be read in, its own first. */
export function unitsOf(plot: Plot): Unit[] {
  const own: Unit = { id: "own", title: plot.x.unit || "", shown: (x) => x, stored: (v) => v };
  if (ANGSTROM.test(plot.x.unit))
    return WAVES.map(([title, size]) => ({ id: title, title, shown: (x) => x * size, stored: (v) => v / size }));
  const first = plot.kind === "light_curve" ? firstOf(plot.series) : null;
  if (first === null) return [own];
  const begins = Math.floor(first);
  return [own, { id: "since", title: `d since ${begins}`, shown: (x) => x - begins, stored: (v) => v + begins }];
}

function firstOf(series: readonly Curve[]): number | null {
  let first: number | null = null;
  for (const { x } of series) for (const each of x) if (each !== null && (first === null || each < first)) first = each;
  return first;
}

/** Is a time told in modified Julian dates? */
const isModified = (plot: Plot): boolean => /\bB?MJD\b/i.test(plot.x.label);

/** The pin of a place on the x axis. */
export function pinAt(plot: Plot, x: number): Pin | null {
  if (!Number.isFinite(x)) return null;
  if (plot.kind === "light_curve") return { julian_date: Number((isModified(plot) ? x + MODIFIED : x).toFixed(5)) };
  return x > 0 ? { wavelength: Number(x.toFixed(3)) } : null;
}

/** Where on the x axis a pin is; null if it is elsewhere. */
export function placeOf(plot: Plot, pin: Pin): number | null {
  if (pin.julian_date != null) return isModified(plot) ? pin.julian_date - MODIFIED : pin.julian_date;
  return pin.wavelength ?? null;
}

/** The curves on one x axis: what has no value at a place is `undefined` there, and a gap is null. */
export interface Table {
  x: number[];
  y: (number | null | undefined)[][];
  error: (number | null)[][];
  limit: boolean[][];
}

export interface Drawing {
  unit: Unit;
  logX: boolean;
  logY: boolean;
}

export function tableOf(plot: Plot, { unit, logX, logY }: Drawing): Table {
  const places = new Map<number, number>();
  const curves = plot.series.map((curve) => pointsOf(curve, unit, logX));
  for (const points of curves) for (const { x } of points) places.set(x, 0);
  const x = [...places.keys()].sort((a, b) => a - b);
  x.forEach((value, n) => places.set(value, n));
  const table: Table = { x, y: [], error: [], limit: [] };
  for (const points of curves) {
    const y = new Array<number | null | undefined>(x.length).fill(undefined);
    const error = new Array<number | null>(x.length).fill(null);
    const limit = new Array<boolean>(x.length).fill(false);
    for (const point of points) {
      const at = places.get(point.x) ?? 0;
      y[at] = logY && point.y !== null && point.y <= 0 ? null : point.y;
      error[at] = point.error;
      limit[at] = point.limit;
    }
    table.y.push(y);
    table.error.push(error);
    table.limit.push(limit);
  }
  return table;
}

interface Point {
  x: number;
  y: number | null;
  error: number | null;
  limit: boolean;
}

function pointsOf(curve: Curve, unit: Unit, logX: boolean): Point[] {
  return curve.x.flatMap((stored, n): Point[] => {
    const x = stored === null ? NaN : unit.shown(stored);
    if (!Number.isFinite(x) || (logX && x <= 0)) return [];
    return [{ x, y: curve.y[n] ?? null, error: curve.error?.[n] ?? null, limit: curve.limit?.[n] ?? false }];
  });
}

/** `wavelength (nm)`. */
export const titled = (label: string, unit: string): string => (unit ? `${label} (${unit})` : label);
