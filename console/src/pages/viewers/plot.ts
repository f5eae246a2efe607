import type uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Plot } from "../../review/desk";
import { unitsOf } from "../../viewers/curves";
import { drawPlot } from "../../viewers/plot";
import type { Shown } from "../viewer";

/** Curves as `/api/review/plot` gives them: drag to zoom, double click or 0 for all; + and - and the arrows do it too. */
export function show(element: HTMLElement, plot: Plot): Shown {
  const box = document.createElement("div");
  box.className = "p-plot";
  box.tabIndex = 0;
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", said(plot));
  element.replaceChildren(box);
  let chart = drawn(box, plot);
  const again = (): void => {
    chart.destroy();
    chart = drawn(box, plot);
  };
  const size = new ResizeObserver(() => chart.setSize({ width: box.clientWidth || 300, height: chart.height }));
  size.observe(box);
  // A canvas keeps the colours it was drawn with.
  const look = new MutationObserver(again);
  look.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", again);
  box.addEventListener("keydown", (event) => pressed(event, chart));
  return {
    close(): void {
      size.disconnect();
      look.disconnect();
      scheme.removeEventListener("change", again);
      chart.destroy();
      box.remove();
    },
  };
}

function drawn(box: HTMLElement, plot: Plot): uPlot {
  const [unit] = unitsOf(plot);
  if (!unit) throw new Error(`There is no unit to read ${plot.title} in.`);
  const [logX, logY] = [plot.x.scale === "logarithmic", plot.y.scale === "logarithmic"];
  const nothing = (): void => {};
  return drawPlot(box, plot, { unit, logX, logY, errors: true, range: null }, { drawn: nothing, zoomed: nothing });
}

function said(plot: Plot): string {
  const points = plot.series.reduce((sum, each) => sum + each.total, 0);
  const names = plot.series.map((s) => s.name).slice(0, 8);
  return `${plot.title}: ${plot.y.label} over ${plot.x.label}, ${points} points of ${names.join(", ")}`;
}

function pressed(event: KeyboardEvent, chart: uPlot): void {
  const { min = 0, max = 0 } = chart.scales["x"] ?? {};
  const [low, high] = [min ?? 0, max ?? 0];
  const [middle, half] = [(low + high) / 2, (high - low) / 2];
  const first = chart.data[0];
  const next: Record<string, [number, number]> = {
    "+": [middle - half / 2, middle + half / 2],
    "-": [middle - half * 2, middle + half * 2],
    ArrowLeft: [low - half / 2, high - half / 2],
    ArrowRight: [low + half / 2, high + half / 2],
    "0": [first[0] ?? low, first.at(-1) ?? high],
  };
  const wanted = next[event.key];
  if (!wanted) return;
  event.preventDefault();
  event.stopPropagation();
  chart.setScale("x", { min: wanted[0], max: wanted[1] });
}
