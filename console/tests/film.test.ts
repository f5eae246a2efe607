import { describe, expect, it } from "vitest";
import { FilmPlayer } from "../src/review/viewers/film.svelte";

const RATE = 25;

/** As much of a `<video>` as stands on frames: `show` has a picture seen, also one that was on its way before. */
class Screen extends EventTarget {
  paused = true;
  seeking = false;
  ended = false;
  readyState = 4;
  duration = 4;
  pictures = 0;
  #time = 0;
  #asked = new Map<number, VideoFrameRequestCallback>();

  get currentTime(): number {
    return this.#time;
  }
  set currentTime(at: number) {
    this.#time = at;
    this.seeking = true;
    queueMicrotask(() => {
      this.seeking = false;
      this.show(Math.floor(at * RATE + 1e-6));
    });
  }
  play(): Promise<void> {
    this.paused = false;
    this.dispatchEvent(new Event("play"));
    return Promise.resolve();
  }
  pause(): void {
    this.paused = true;
  }
  hasAttribute = (): boolean => true;
  removeAttribute = (): void => undefined;
  requestVideoFrameCallback(run: VideoFrameRequestCallback): number {
    this.#asked.set(++this.pictures, run);
    return this.pictures;
  }
  cancelVideoFrameCallback(asked: number): void {
    this.#asked.delete(asked);
  }
  /** The picture of a frame is seen. */
  seen: number | null = null;
  show(frame: number): void {
    this.seen = frame;
    const told = [...this.#asked.values()];
    this.#asked.clear();
    for (const run of told) run(0, { mediaTime: frame / RATE } as VideoFrameCallbackMetadata);
  }
  /** It plays up to a moment. */
  reach(frame: number): void {
    this.#time = (frame + 0.5) / RATE;
    this.show(frame);
  }
}

function standing(): { screen: Screen; player: FilmPlayer } {
  const screen = new Screen();
  const player = new FilmPlayer(screen as unknown as HTMLVideoElement);
  player.knows({ frame_rate: RATE, frames: 100, duration_ms: 4000, variable_rate: false, width: 16, height: 9 });
  return { screen, player };
}

describe("a film that stands on a frame", () => {
  it("stands there although the next picture was on its way when it was paused", async () => {
    const { screen, player } = standing();
    await screen.play();
    screen.reach(21);
    await player.toggle();
    const stood = player.stand(21);
    screen.show(22); // presented before the pause was heard of
    expect(await stood).toBe(true);
    expect([screen.seen, player.frame]).toEqual([21, 21]);
  });

  it("is not moved when it is asked to stand where it stands", async () => {
    const { screen, player } = standing();
    await player.stand(7);
    const before = screen.pictures;
    expect(await player.stand(7)).toBe(true);
    expect(screen.pictures).toBe(before);
  });

  it("is moved when it was played since", async () => {
    const { screen, player } = standing();
    await player.stand(7);
    await screen.play();
    screen.reach(9);
    expect(await player.stand(7)).toBe(true);
    expect(screen.seen).toBe(7);
  });

  it("counts steps from the frame that is asked for, however quick they come", async () => {
    const { player } = standing();
    await Promise.all([10, 20, 30].map(() => player.stand(player.aim + 10)));
    expect([player.frame, player.aim]).toEqual([30, 30]);
  });
});
