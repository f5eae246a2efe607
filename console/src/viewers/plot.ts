import uPlot from "uplot";
import type { Plot } from "../review/desk";
import { colourOf } from "./colours";
import { tableOf, titled, type Drawing, type Table } from "./curves";

const INKS = ["--accent", "--warn", "--good", "--bad", "--soft", "--edge"];
const HEIGHT = 420;

export interface DrawnWith extends Drawing {
  errors: boolean;
  /** The part of the x axis that is seen, as it is shown; null for all. */
  range: [number, number] | null;
}

export interface Told {
  drawn: () => void;
  /** Somebody has zoomed; null for all. */
  zoomed: (range: [number, number] | null) => void;
}

/** A plot in an element. A drag zooms, a double click shows all again. */
export function drawPlot(host: HTMLElement, plot: Plot, how: DrawnWith, told: Told): uPlot {
  const table = tableOf(plot, how);
  const ink = (token: string): string => colourOf(host, token);
  const dots = plot.kind === "light_curve";
  const axis = { stroke: ink("--soft"), grid: { stroke: ink("--line"), width: 1 }, ticks: { stroke: ink("--line") } };
  const full: [number, number] = [table.x[0] ?? 0, table.x.at(-1) ?? 1];
  let settled = false;
  const made = new uPlot(
    {
      width: host.clientWidth || 600,
      height: Math.min(HEIGHT, Math.max(260, innerHeight * 0.5)),
      scales: {
        x: { time: false, distr: how.logX ? 3 : 1 },
        y: { distr: how.logY ? 3 : 1, dir: plot.y.inverted ? -1 : 1 },
      },
      axes: [
        // Julian dates are long: on a phone they would stand in each other.
        { ...axis, label: titled(plot.x.label, how.unit.title), labelSize: 26, size: 40, space: 80 },
        {
          ...axis,
          label: titled(plot.y.label, plot.y.unit),
          labelSize: 26,
          size: 66,
          values: (_, all) => all.map(short),
        },
      ],
      series: [
        { label: how.unit.title || plot.x.label },
        ...plot.series.map((series, n) => {
          const stroke = ink(INKS[n % INKS.length] ?? "--accent");
          return dots
            ? { label: series.name, stroke, paths: () => null, points: { show: true, size: 6, fill: stroke, stroke } }
            : { label: series.name, stroke, width: 1.25, points: { show: false } };
        }),
      ],
      legend: { live: false },
      cursor: { drag: { x: true, y: false, setScale: true }, points: { show: false } },
      hooks: {
        draw: [
          (u) => {
            if (how.errors) drawErrors(u, table, plot);
            told.drawn();
          },
        ],
        setScale: [
          (u, key) => {
            if (key !== "x" || !settled) return;
            const { min, max } = u.scales.x ?? {};
            if (min == null || max == null) return;
            told.zoomed(min <= full[0] && max >= full[1] ? null : [min, max]);
          },
        ],
      },
    },
    [table.x, ...table.y] as uPlot.AlignedData,
    host,
  );
  if (how.range) made.setScale("x", { min: how.range[0], max: how.range[1] });
  // The first scale is set in a moment: it is nobody's zoom.
  queueMicrotask(() => (settled = true));
  return made;
}

/** A bar of one standard deviation at every point; where points stand close, the bars are a band. */
function drawErrors(u: uPlot, table: Table, plot: Plot): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.globalAlpha = plot.kind === "light_curve" ? 0.6 : 0.22;
  ctx.lineWidth = Math.max(1, devicePixelRatio);
  const { min = -Infinity, max = Infinity } = u.scales.x as { min?: number; max?: number };
  table.y.forEach((ys, n) => {
    const stroke = u.series[n + 1]?.stroke;
    ctx.strokeStyle = (typeof stroke === "function" ? stroke(u, n + 1) : stroke) as string;
    ctx.beginPath();
    ys.forEach((y, at) => {
      const [x, error] = [table.x[at] ?? 0, table.error[n]?.[at]];
      if (y == null || x < min || x > max) return;
      const left = u.valToPos(x, "x", true);
      if (table.limit[n]?.[at]) return arrow(ctx, left, u.valToPos(y, "y", true));
      if (!error) return;
      ctx.moveTo(left, u.valToPos(y - error, "y", true));
      ctx.lineTo(left, u.valToPos(y + error, "y", true));
    });
    ctx.stroke();
  });
  ctx.restore();
}

/** The true value lies beyond: it was not seen. */
function arrow(ctx: CanvasRenderingContext2D, x: number, y: number): void {
  const size = 7 * devicePixelRatio;
  ctx.moveTo(x, y);
  ctx.lineTo(x, y + size * 2);
  ctx.moveTo(x - size / 2, y + size * 1.4);
  ctx.lineTo(x, y + size * 2);
  ctx.lineTo(x + size / 2, y + size * 1.4);
}

/** Numbers of a y axis: fluxes are very small. */
function short(value: number | null): string {
  if (value === null) return "";
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(1) : String(Number(value.toPrecision(6)));
}
