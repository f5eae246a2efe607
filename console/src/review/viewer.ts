import type { Component } from "svelte";
import type { Desk, Pin, Region, ShownFile } from "./desk";
import type { Mark } from "./pins";

/** How two versions are looked at together. */
export type Comparing = "first" | "second" | "wipe" | "side";
export const WAYS: Comparing[] = ["wipe", "side", "first", "second"];

export interface ViewerProps {
  file: ShownFile;
  desk: Desk;
  /** The same file of another version, to compare with. */
  other: ShownFile | null;
  comparing: Comparing;
  marks: Mark[];
  /** The note that is looked at, by its id. */
  chosen: string | null;
  onmark: (mark: Mark) => void;
  /** The next drag draws a region. */
  drawing: boolean;
  region: Region | null;
  ondrawn: (region: Region) => void;
  /** Somebody has pointed at a place: the note that is being written is about it. */
  onplace: (pin: Pin | null) => void;
  /** A URL that was signed just now: the one of a page that stood open for long has ended. */
  fresh: (file: string) => Promise<string | null>;
}

/** What every viewer can be asked. */
export interface ViewerHandle {
  /** Go where a note is. */
  goTo: (pin: Pin) => unknown;
  /** Where we are; null where there is no such place. */
  here: () => Pin | null;
}

type Load = () => Promise<{ default: Component<ViewerProps, ViewerHandle> }>;

const film: Load = () => import("./viewers/FilmViewer.svelte");
const plot: Load = () => import("./viewers/PlotViewer.svelte");
/** Each is loaded when a file is first shown by it. */
export const VIEWERS: Record<ShownFile["viewer"], Load> = {
  video: film,
  hls: film,
  audio: () => import("./viewers/SoundViewer.svelte"),
  picture: () => import("./viewers/PictureViewer.svelte"),
  model: () => import("./viewers/ModelViewer.svelte"),
  spectrum: plot,
  light_curve: plot,
  other: () => import("./viewers/OtherViewer.svelte"),
};

/** Where regions can be drawn, and two versions compared. */
export const hasRegions = (viewer: ShownFile["viewer"]): boolean => ["video", "hls", "picture"].includes(viewer);
export const canCompare = hasRegions;
