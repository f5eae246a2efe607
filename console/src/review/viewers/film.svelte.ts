import type Hls from "hls.js/light";
import type { Film, ShownFile } from "../desk";

const TRIES = 20;
const PATIENCE = 1500;
const GUESSED = 25;

/** One film in a `<video>`, which stands on a frame exactly. Frames count from 0. */
export class FilmPlayer {
  /** The frame that is seen. */
  frame = $state(0);
  /** In seconds, as the browser tells it. */
  time = $state(0);
  playing = $state(false);
  /** A first picture is there: before, the element would be black. */
  shown = $state(false);
  duration = $state(0);
  rate = $state(GUESSED);
  /** The rate is the film's own: its frames have numbers that count. */
  exact = $state(false);
  broken = $state(false);
  #hls: Hls | null = null;
  #asked = 0;
  #aim: number | null = null;
  /** The frame on which it was seen to stand, until it goes on. */
  #stands: number | null = null;
  #watching = false;
  #onframe: (() => void) | null = null;

  constructor(readonly element: HTMLVideoElement) {
    element.addEventListener("play", () => {
      this.playing = true;
      this.#stands = null;
    });
    element.addEventListener("pause", () => (this.playing = false));
    element.addEventListener("durationchange", () => (this.duration = element.duration || 0));
    element.addEventListener("seeked", () => (this.time = element.currentTime));
    element.addEventListener("error", () => element.hasAttribute("src") && (this.broken = true));
    this.#watch();
  }

  /** How many frames it has, as far as that is known. */
  get frames(): number {
    return Math.max(1, this.#known?.frames ?? Math.round(this.duration * this.rate));
  }
  #known = $state.raw<Film | null>(null);

  /** The frame that is asked for, or else the one that is seen: steps count from there, however quick they come. */
  get aim(): number {
    return this.#aim ?? this.frame;
  }

  /** Told of every frame that is shown. */
  onFrame(run: () => void): void {
    this.#onframe = run;
  }

  knows(film: Film): void {
    this.#known = film;
    this.rate = film.frame_rate;
    this.exact = !film.variable_rate;
    this.duration ||= film.duration_ms / 1000;
  }

  /** Load it; its first frame is shown when this has ended. */
  async open(file: ShownFile): Promise<void> {
    this.close();
    this.broken = false;
    if (file.film) this.knows(file.film);
    const stream = file.viewer === "hls" ? file.stream : null;
    if (stream) await this.#stream(stream);
    else if (file.url) this.element.src = file.url;
    else return void (this.broken = true);
    if (this.element.readyState < 2) await heard(this.element, ["loadeddata", "error"]);
    this.time = this.element.currentTime;
    this.shown = !this.broken;
  }

  /** The same film from a URL that was signed just now, where it was. */
  async renew(url: string): Promise<void> {
    const [at, played] = [this.element.currentTime, this.playing];
    this.broken = false;
    this.#stands = null;
    this.element.src = url;
    await heard(this.element, ["loadeddata", "error"]);
    this.element.currentTime = at;
    if (played && !this.broken) await this.element.play();
  }

  async #stream(url: string): Promise<void> {
    const { default: Hls } = await import("hls.js/light");
    if (!Hls.isSupported()) return void (this.element.src = url); // a browser that knows streams itself
    // A worker would be made from a blob, which the policy forbids.
    const hls = new Hls({ enableWorker: false });
    this.#hls = hls;
    hls.on(Hls.Events.ERROR, (_, told) => told.fatal && (this.broken = true));
    hls.on(Hls.Events.LEVEL_SWITCHED, (_, { level }) => {
      const found = hls.levels[level]?.frameRate;
      if (found && !this.#known) [this.rate, this.exact] = [found, true];
    });
    hls.loadSource(url);
    hls.attachMedia(this.element);
  }

  close(): void {
    this.#hls?.destroy();
    this.#hls = null;
    this.#known = null;
    this.#stands = null;
    this.exact = this.shown = false;
    this.element.removeAttribute("src");
  }

  /** Stand on a frame, and end when it is seen; false if another was asked for meanwhile, or it never came. */
  async stand(frame: number): Promise<boolean> {
    const mine = ++this.#asked;
    const number = Math.min(this.frames - 1, Math.max(0, Math.round(frame)));
    this.#aim = number;
    const stood = await this.#arrive(number, mine);
    if (mine === this.#asked) this.#aim = null;
    return stood;
  }

  async #arrive(number: number, mine: number): Promise<boolean> {
    const rests = this.element.paused && !this.element.seeking;
    this.element.pause();
    // One that was paused just now does not rest: the next picture may be on its way.
    if (rests && this.#stands === number) return true;
    this.#stands = null;
    for (let tries = 0; tries < TRIES && mine === this.#asked; tries++) {
      const seen = this.#next();
      this.element.currentTime = (number + 0.5) / this.rate;
      // A callback may tell of a picture that was on its way before: it is asked again until it fits.
      const at = await seen;
      if (mine !== this.#asked) return false;
      if (at !== null && Math.round(at * this.rate) === number && !this.element.seeking) {
        this.frame = this.#stands = number;
        this.time = this.element.currentTime;
        return true;
      }
      if (at === null && this.frame === number && !this.element.seeking) return true; // it was seen already
    }
    return false;
  }

  async toggle(): Promise<void> {
    this.#asked++;
    this.#aim = null;
    if (!this.element.paused) return this.element.pause();
    if (this.element.ended) this.element.currentTime = 0;
    await this.element.play().catch(() => undefined); // paused again at once: nothing is wrong
  }

  /** The next picture that is shown, as its moment in the film; null if none comes. */
  #next(): Promise<number | null> {
    return new Promise((resolve) => {
      const asked = this.element.requestVideoFrameCallback((_, { mediaTime }) => {
        clearTimeout(timer);
        resolve(mediaTime);
      });
      const timer = setTimeout(() => {
        this.element.cancelVideoFrameCallback(asked);
        resolve(null);
      }, PATIENCE);
    });
  }

  #watch(): void {
    if (this.#watching || !("requestVideoFrameCallback" in this.element)) return;
    this.#watching = true;
    const seen = (_: number, { mediaTime }: VideoFrameCallbackMetadata): void => {
      this.frame = Math.round(mediaTime * this.rate);
      this.time = this.element.currentTime;
      this.shown = true;
      this.#onframe?.();
      this.element.requestVideoFrameCallback(seen);
    };
    this.element.requestVideoFrameCallback(seen);
  }
}

function heard(target: EventTarget, names: string[]): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      for (const name of names) target.removeEventListener(name, end);
      resolve();
    };
    for (const name of names) target.addEventListener(name, end);
  });
}

/** What the second film has to do to be in step with the first while both go on: nothing, hurry, dawdle, or jump. */
export function correction(first: number, second: number, rate: number): number | "jump" {
  const behind = (first - second) * rate;
  if (Math.abs(behind) > 6) return "jump";
  return Math.abs(behind) < 0.5 ? 1 : 1 + Math.max(-0.2, Math.min(0.2, behind * 0.05));
}
