import { router } from "../../app/router.svelte";

const RESTS = 250;

/** In a viewer: keep the moment that is looked at in the address, once the reader rests there. */
export function useMoment(): (ms: number) => void {
  let later: ReturnType<typeof setTimeout> | undefined;
  $effect(() => () => clearTimeout(later));
  return (ms) => {
    clearTimeout(later);
    later = setTimeout(() => router.set({ t: Math.round(ms) || null }), RESTS);
  };
}
