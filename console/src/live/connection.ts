import { headersFor } from "../api/call";
import { problemIn } from "../api/problem";
import { EventReader, type LiveEvent } from "./events";

export interface Heard {
  /** The stream has begun, at this place. */
  open: (id: string) => void;
  event: (event: LiveEvent) => void;
  /** What came between is gone: whoever shows something must load it anew. */
  missed: () => void;
  lost: () => void;
  /** Nobody is signed in any more. */
  refused: () => void;
  /** The service has no such stream. */
  absent: () => void;
}

const FIRST = 500;
const LONGEST = 30_000;
const SILENCE = 45_000;

/** A stream that is taken up where it broke off, ever more patiently, until it is closed. */
export class Connection {
  #closed = new AbortController();
  #tries = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly path: string,
    private last: string,
    private readonly heard: Heard,
    private readonly fetching: typeof fetch = (...asked) => fetch(...asked),
  ) {
    void this.#run();
  }

  close(): void {
    this.#closed.abort();
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    try {
      await this.#follow();
    } catch {
      /* however it ended, it is begun again */
    }
    if (this.#closed.signal.aborted) return;
    this.heard.lost();
    const longest = Math.min(LONGEST, FIRST * 2 ** this.#tries++);
    this.#timer = setTimeout(() => void this.#run(), longest * (0.5 + Math.random() / 2));
  }

  async #follow(): Promise<void> {
    const headers: Record<string, string> = { ...headersFor("GET", {}), Accept: "text/event-stream" };
    if (this.last) headers["Last-Event-ID"] = this.last;
    const own = new AbortController();
    const signal = AbortSignal.any([this.#closed.signal, own.signal]);
    const answer = await this.fetching(this.path, { headers, signal, cache: "no-store", credentials: "same-origin" });
    if (!answer.ok || !answer.body) return this.#refused(answer);
    await this.#read(answer.body, own);
  }

  async #read(body: ReadableStream<Uint8Array>, own: AbortController): Promise<void> {
    const reader = new EventReader();
    const pieces = body
      .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
      .getReader();
    // The service says every few seconds that it is there; one that says nothing is gone.
    let silence = setTimeout(() => own.abort(), SILENCE);
    try {
      for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) {
        clearTimeout(silence);
        silence = setTimeout(() => own.abort(), SILENCE);
        for (const event of reader.read(piece.value)) this.#tell(event);
      }
    } finally {
      clearTimeout(silence);
    }
  }

  #tell(event: LiveEvent): void {
    this.#tries = 0;
    if (event.id) this.last = event.id;
    if (event.name === "ready") this.heard.open(event.id);
    else this.heard.event(event);
  }

  async #refused(answer: Response): Promise<void> {
    const { body } = await problemIn(answer);
    if (body.status === 401) this.heard.refused();
    else if (body.status === 404) {
      this.#tries = 20; // not before it is served by a newer version
      this.heard.absent();
    } else if (body.status === 410 || body.type === "invalid-cursor") {
      this.last = "";
      this.heard.missed();
    }
  }
}
