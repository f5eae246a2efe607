import { untrack } from "svelte";
import type { Pin } from "./desk";

/** In a viewer: go where a note is, once there is something to go to. */
export function arriving(ready: () => boolean, move: (pin: Pin) => unknown): (pin: Pin) => void {
  let wanted = $state.raw<Pin | null>(null);
  $effect(() => {
    const pin = wanted;
    if (!pin || !ready()) return;
    untrack(() => {
      wanted = null;
      void move(pin);
    });
  });
  return (pin) => void (wanted = pin);
}
