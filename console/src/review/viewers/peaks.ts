import type { Waveform } from "../desk";

/** Lowest and highest of each bucket, one after the other, from -1 to 1. */
export interface Level {
  samples: number;
  peaks: Int8Array;
}

/** The levels of a waveform, the finest first. */
export const levelsOf = (found: Waveform): Level[] =>
  found.levels.map(({ samples, peaks }) => ({
    samples,
    peaks: Int8Array.from(atob(peaks), (letter) => letter.charCodeAt(0)),
  }));

/** The coarsest level that still has a bucket for every column. */
export function levelFor(levels: readonly Level[], samples: number, columns: number): Level | undefined {
  return levels.findLast((level) => samples / level.samples >= columns) ?? levels[0];
}

/** Lowest and highest of what a column shows of a part of the sound, from -1 to 1. */
export function column(level: Level, from: number, to: number): [number, number] {
  const count = level.peaks.length / 2;
  const first = Math.min(count - 1, Math.max(0, Math.floor(from / level.samples)));
  const last = Math.min(count, Math.max(first + 1, Math.ceil(to / level.samples)));
  let [low, high] = [127, -127];
  for (let n = first; n < last; n++) {
    low = Math.min(low, level.peaks[2 * n] ?? 0);
    high = Math.max(high, level.peaks[2 * n + 1] ?? 0);
  }
  return low > high ? [0, 0] : [low / 127, high / 127];
}

/** The part of a sound that is seen at a zoom, around a moment, in seconds. */
export function windowAt(moment: number, duration: number, zoom: number): [number, number] {
  const width = duration / zoom;
  const from = Math.min(duration - width, Math.max(0, moment - width / 2));
  return [from, from + width];
}
