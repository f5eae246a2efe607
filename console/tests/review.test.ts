import { describe, expect, it } from "vitest";
import type { Note, Plot, Waveform } from "../src/review/desk";
import { between, clock, isSpeck, marksOf, spokenPin } from "../src/review/pins";
import { pinAt, placeOf, tableOf, unitsOf } from "../src/viewers/curves";
import { correction } from "../src/review/viewers/film.svelte";
import { column, levelFor, levelsOf, windowAt } from "../src/review/viewers/peaks";

const spectrum = (x: (number | null)[], y: (number | null)[]): Plot =>
  ({
    kind: "spectrum",
    title: "",
    x: { label: "wavelength", unit: "Å", scale: "linear", inverted: false },
    y: { label: "flux", unit: "", scale: "linear", inverted: false },
    series: [{ name: "a", x, y, error: null, limit: null, unit: "", total: x.length }],
    assumptions: [],
  }) as Plot;

describe("a pin", () => {
  it("is said in a few words", () => {
    expect(clock(62_500)).toBe("1:02.5");
    expect(clock(3_600_000)).toBe("1:00:00");
    expect(spokenPin({ time_ms: 2500, frame: 60 })).toBe("0:02.5 · frame 60");
    expect(spokenPin({ wavelength: 6562.8 })).toBe("6562.8 Å");
    expect(spokenPin(null)).toBe("");
  });
  it("is a region whichever corner was first, and never outside", () => {
    expect(between({ x: 0.9, y: 0.8 }, { x: 0.5, y: 1.4 })).toMatchObject({
      x: 0.5,
      y: 0.8,
      width: 0.4,
      height: expect.closeTo(0.2, 6),
    });
    expect(isSpeck(between({ x: 0.5, y: 0.5 }, { x: 0.501, y: 0.9 }))).toBe(true);
  });
  it("keeps the number that its note has in the list", () => {
    const notes = [
      { file: "a", pin: null },
      { file: "b", pin: { time_ms: 1 } },
      { file: "a", pin: { time_ms: 2 } },
    ];
    expect(marksOf(notes as Note[], "a").map((m) => m.number)).toEqual([3]);
  });
});

describe("curves", () => {
  it("can be read in other units, and a place is the same in all", () => {
    const plot = spectrum([5000, 6000], [1, 2]);
    const nm = unitsOf(plot).find((u) => u.title === "nm");
    expect(nm?.shown(5000)).toBeCloseTo(500);
    expect(pinAt(plot, nm?.stored(656.28) ?? 0)).toEqual({ wavelength: 6562.8 });
    expect(placeOf(plot, { wavelength: 6562.8 })).toBe(6562.8);
  });
  it("count a modified Julian date from its own zero", () => {
    const plot = { ...spectrum([59000], [1]), kind: "light_curve" };
    plot.x = { ...plot.x, label: "time (MJD)", unit: "d" };
    const pin = pinAt(plot, 59_000.25);
    expect(pin).toEqual({ julian_date: 2_459_000.75 });
    expect(placeOf(plot, pin ?? {})).toBeCloseTo(59_000.25);
  });
  it("stand on one axis, gaps and all, without what a logarithm does not have", () => {
    const plot = spectrum([3, 1, 2, null], [4, -1, null, 9]);
    const [unit] = unitsOf(plot);
    if (!unit) throw new Error("no unit");
    expect(tableOf(plot, { unit, logX: false, logY: false })).toMatchObject({ x: [1, 2, 3], y: [[-1, null, 4]] });
    expect(tableOf(plot, { unit, logX: false, logY: true }).y).toEqual([[null, null, 4]]);
  });
});

describe("a sound", () => {
  const wave = {
    levels: [
      { samples: 2, peaks: btoa(String.fromCharCode(256 - 127, 127, 0, 64)) },
      { samples: 4, peaks: btoa(String.fromCharCode(256 - 127, 127)) },
    ],
  } as unknown as Waveform;
  it("is drawn from the level that fits", () => {
    const levels = levelsOf(wave);
    expect(levelFor(levels, 4, 2)?.samples).toBe(2);
    expect(levelFor(levels, 4, 1)?.samples).toBe(4);
    const [finest] = levels;
    if (!finest) throw new Error("no level");
    expect(column(finest, 0, 2)).toEqual([-1, 1]);
    expect(column(finest, 2, 4)[1]).toBeCloseTo(0.5, 1);
  });
  it("is seen around the moment, and never beyond its ends", () => {
    expect(windowAt(0, 10, 2)).toEqual([0, 5]);
    expect(windowAt(9, 10, 2)).toEqual([5, 10]);
    expect(windowAt(5, 10, 1)).toEqual([0, 10]);
  });
});

describe("two films", () => {
  it("are in step by going a little faster, and by a jump where they are far apart", () => {
    expect(correction(1, 1, 25)).toBe(1);
    expect(correction(1.08, 1, 25)).toBeGreaterThan(1);
    expect(correction(1, 1.08, 25)).toBeLessThan(1);
    expect(correction(2, 1, 25)).toBe("jump");
  });
});
