/** Something that is shown, until it is closed. */
export interface Shown {
  close(): void;
}
type Show = (element: HTMLElement, data: never) => Shown | Promise<Shown>;

// Each is a chunk of its own: a page that shows no film loads no player.
const VIEWERS: Record<string, () => Promise<{ show: Show }>> = {
  video: () => import("./viewers/video"),
  plot: () => import("./viewers/plot"),
  model: () => import("./viewers/model"),
};

/** Show data in an element by a viewer of the console. */
export async function viewer(kind: string, element: HTMLElement, data: unknown): Promise<Shown> {
  const load = VIEWERS[kind];
  if (!load) throw new Error(`There is no viewer ${kind}; there are ${Object.keys(VIEWERS).join(", ")}.`);
  const { show } = await load();
  const shown = await show(element, data as never);
  let open = true;
  return {
    close(): void {
      if (open) shown.close();
      open = false; // a page may close it, and the console does when the page goes
    },
  };
}
