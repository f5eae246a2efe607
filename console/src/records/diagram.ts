import type { Machine } from "./declaration";

export interface Node {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}
export interface Edge {
  from: string;
  to: string;
  moves: string[];
  path: string;
  at: { x: number; y: number };
}
export interface Drawing {
  width: number;
  height: number;
  nodes: Node[];
  edges: Edge[];
}

/** Above this many states only those near the present one are drawn. */
export const MOST = 60;
const LETTER = 7;
const HEIGHT = 30;

/** The states to draw, and the ways between them, each with all moves that go it. */
export function ways(machine: Machine, present: string): { states: string[]; ways: Omit<Edge, "path" | "at">[] } {
  const found = new Map<string, Omit<Edge, "path" | "at">>();
  for (const move of machine.moves)
    for (const from of move.origins) {
      const id = `${from}\u0000${move.to}`;
      const way = found.get(id) ?? { from, to: move.to, moves: [] };
      way.moves.push(move.name);
      found.set(id, way);
    }
  const all = [...found.values()];
  if (machine.states.length <= MOST) return { states: machine.states, ways: all };
  const near = new Set([present]);
  for (const way of all) {
    if (way.from === present) near.add(way.to);
    if (way.to === present) near.add(way.from);
  }
  const states = machine.states.filter((s) => near.has(s)).slice(0, MOST);
  return {
    states,
    ways: all.filter((w) => (w.from === present || w.to === present) && near.has(w.from) && near.has(w.to)),
  };
}

const said = (words: string): string => words.replaceAll("_", " ");

/** Where everything goes. What lays graphs out is loaded when the first is drawn. */
export async function drawn(machine: Machine, present: string): Promise<Drawing> {
  const { Graph, layout } = await import("@dagrejs/dagre");
  const { states, ways: edges } = ways(machine, present);
  const graph = new Graph({ multigraph: false });
  graph.setGraph({ rankdir: "TB", nodesep: 26, ranksep: 40, marginx: 6, marginy: 6, edgesep: 14 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const state of states) graph.setNode(state, { width: said(state).length * LETTER + 24, height: HEIGHT });
  for (const edge of edges) {
    const width = Math.max(...edge.moves.map((m) => said(m).length)) * 6 + 8;
    graph.setEdge(edge.from, edge.to, { width, height: 14 * edge.moves.length, labelpos: "c" });
  }
  layout(graph);
  const whole = graph.graph() as { width?: number; height?: number };
  return {
    width: Math.ceil(whole.width ?? 0),
    height: Math.ceil(whole.height ?? 0),
    nodes: states.map((id) => ({ id, ...(graph.node(id) as Omit<Node, "id">) })),
    edges: edges.map((edge) => {
      const label = graph.edge(edge.from, edge.to) as { points: Point[]; x?: number; y?: number };
      const middle = label.points[Math.floor(label.points.length / 2)] ?? { x: 0, y: 0 };
      return { ...edge, path: curve(label.points), at: { x: label.x ?? middle.x, y: label.y ?? middle.y } };
    }),
  };
}

interface Point {
  x: number;
  y: number;
}

/** A soft line through some points. */
export function curve(points: Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const round = (n: number): number => Math.round(n * 10) / 10;
  let path = `M${round(first.x)} ${round(first.y)}`;
  rest.forEach((point, n) => {
    const next = rest[n + 1];
    if (!next) path += ` L${round(point.x)} ${round(point.y)}`;
    else
      path += ` Q${round(point.x)} ${round(point.y)} ${round((point.x + next.x) / 2)} ${round((point.y + next.y) / 2)}`;
  });
  return path;
}
