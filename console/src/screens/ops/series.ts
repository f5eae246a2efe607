/** Points with nothing where there was none: one for every step from the first to the last. */
export function filled<Point extends { at: string }>(points: readonly Point[], step: number): (Point | null)[] {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || step <= 0) return [];
  const number = (point: Point): number => Math.round((Date.parse(point.at) - Date.parse(first.at)) / 1000 / step);
  const whole: (Point | null)[] = Array.from({ length: number(last) + 1 }, () => null);
  for (const point of points) whole[number(point)] = point;
  return whole;
}
