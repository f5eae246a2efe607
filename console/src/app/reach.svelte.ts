import { around } from "../api/call";

const AGAIN = 3000;

/** Does the service answer? While it does not, it is asked every few seconds. */
class Reach {
  away = $state(!navigator.onLine);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #back: (() => void)[] = [];

  constructor() {
    around.reached = (answers) => this.#heard(answers);
    addEventListener("offline", () => this.#heard(false));
    addEventListener("online", () => void this.#ask());
  }

  /** Do something when the service is back. */
  onBack(run: () => void): () => void {
    this.#back.push(run);
    return () => (this.#back = this.#back.filter((r) => r !== run));
  }

  #heard(answers: boolean): void {
    const was = this.away;
    this.away = !answers;
    clearTimeout(this.#timer);
    if (!answers) this.#timer = setTimeout(() => void this.#ask(), AGAIN);
    else if (was) for (const run of this.#back) run();
  }

  async #ask(): Promise<void> {
    this.#heard(
      await fetch("/healthz", { cache: "no-store" }).then(
        (answer) => answer.ok,
        () => false,
      ),
    );
  }
}

export const reach = new Reach();
