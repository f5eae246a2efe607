import { ModelStage } from "../../viewers/model";
import type { Shown } from "../viewer";

export interface Model {
  /** A GLB. */
  url: string;
  title: string;
}

const TURN = 0.02;
const TURNS: Record<string, [number, number]> = {
  ArrowLeft: [-TURN, 0],
  ArrowRight: [TURN, 0],
  ArrowUp: [0, TURN],
  ArrowDown: [0, -TURN],
};

/** A model that is turned by dragging, by the wheel and by the arrows; what moves in it moves. */
export async function show(element: HTMLElement, model: Model): Promise<Shown> {
  const canvas = document.createElement("canvas");
  canvas.className = "p-model";
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${model.title}: a model that turns by dragging or by the arrows`);
  element.replaceChildren(canvas);
  const stage = new ModelStage(canvas);
  let open = true;
  function close(): void {
    if (open) stage.close();
    open = false;
    canvas.remove();
  }
  // A page may take its element away without a word.
  stage.ondrawn = () => void (!canvas.isConnected && close());
  canvas.addEventListener("keydown", (event) => {
    const turn = TURNS[event.key];
    if (!turn) return;
    event.preventDefault();
    stage.orbit(...turn);
  });
  try {
    await stage.open(model.url);
  } catch (thrown) {
    close();
    throw thrown;
  }
  stage.choose(0);
  stage.play(true);
  return { close };
}
