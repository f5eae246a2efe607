import { keep, kept } from "./kept";

export type Theme = "light" | "dark" | "system";
const ALL: Theme[] = ["system", "light", "dark"];

class Look {
  theme = $state<Theme>("system");

  constructor() {
    this.choose((ALL.find((t) => t === kept("theme")) ?? "system") as Theme);
  }

  choose(theme: Theme): void {
    this.theme = theme;
    keep("theme", theme);
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }

  next(): void {
    this.choose(ALL[(ALL.indexOf(this.theme) + 1) % ALL.length] ?? "system");
  }
}

export const look = new Look();
