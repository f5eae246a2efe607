/** The title of the tab: a count of what waits for somebody, the screen, and whose it is. */
class Title {
  screen = $state("");
  /** Shown before everything: how much needs the reader. */
  count = $state<number | string>(0);

  get text(): string {
    const waiting = this.count ? `(${this.count}) ` : "";
    return `${waiting}${this.screen ? `${this.screen} · ` : ""}Penstock`;
  }
}

export const title = new Title();
