export interface Question {
  title: string;
  text?: string;
  /** What the button says: the verb, not "OK". */
  action: string;
  danger?: boolean;
}

/** One question at a time, answered in a dialog. */
class Asking {
  question = $state.raw<Question | null>(null);
  #answer: ((yes: boolean) => void) | null = null;

  /** Ask before something is done; false when it is to be left. */
  sure(question: Question): Promise<boolean> {
    this.answer(false);
    this.question = question;
    return new Promise((resolve) => (this.#answer = resolve));
  }

  answer(yes: boolean): void {
    this.question = null;
    this.#answer?.(yes);
    this.#answer = null;
  }
}

export const asking = new Asking();
