import type { Component } from "svelte";
import type { Role } from "../api/session.svelte";
import { matched, type Params } from "./router.svelte";

export interface Screen {
  /** Such as `/console/work/jobs/:job_id`; `*rest` at the end takes all that follows. */
  path: string;
  title: string;
  /** Loaded when it is first shown: what one screen needs costs no other anything. */
  load: () => Promise<{ default: Component<{ params: Params }> | Component<Record<string, never>> }>;
  /** Shown to this role and those above. */
  role?: Role;
  /** Shown to anybody, also without a key. */
  open?: boolean;
  /** In the navigation, if it belongs there. */
  nav?: { group: string; icon: string; keys?: string; count?: () => number | string | null };
}

const screens: Screen[] = [];

/** Add screens; the first whose path fits is shown, so those with names come after those with words. */
export function addScreens(...more: Screen[]): void {
  screens.push(...more);
}

export const allScreens = (): readonly Screen[] => screens;

export function screenAt(path: string): { screen: Screen; params: Params } | null {
  for (const screen of screens) {
    const params = matched(screen.path, path);
    if (params) return { screen, params };
  }
  return null;
}
