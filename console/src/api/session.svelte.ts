import { around, call, get } from "./call";
import type { components } from "./schema";

export type SessionView = components["schemas"]["SessionView"];
export type Role = "viewer" | "editor" | "admin";

const ORDER: Role[] = ["viewer", "editor", "admin"];

/** Who is signed in. The key itself is never kept: the browser has a cookie that no script can read. */
class Session {
  /** Undefined until it is known. */
  who = $state<SessionView | undefined>();
  /** The session has ended under somebody's hands: they sign in again where they are. */
  expired = $state(false);
  /** Somebody is signing out: nothing more is asked in their name. */
  leaving = $state(false);
  #waiting: ((again: boolean) => void)[] = [];
  #tabs = new BroadcastChannel("penstock-session");

  constructor() {
    around.renewed = () => this.#ended();
    this.#tabs.onmessage = () => void this.load();
  }

  get in(): boolean {
    return this.who?.role != null;
  }

  /** Somebody is in, and stays: what follows by itself may go on asking. */
  get holds(): boolean {
    return this.in && !this.expired && !this.leaving;
  }

  may(role: Role): boolean {
    const own = this.who?.role as Role | null | undefined;
    return own != null && ORDER.indexOf(own) >= ORDER.indexOf(role);
  }

  async load(): Promise<void> {
    this.#become(await get<SessionView>("/api/session", { everywhere: true }));
  }

  async signIn(key: string): Promise<void> {
    this.#become(await call<SessionView>("POST", "/api/session", { body: { key }, everywhere: true }));
    this.#tabs.postMessage("changed");
  }

  async signOut(): Promise<void> {
    this.leaving = true;
    await call("DELETE", "/api/session", { everywhere: true }).catch(() => undefined);
    around.csrf = null;
    this.who = { name: "public", role: null, project: null, expires_at: null, csrf: null };
    this.leaving = false;
    this.#tabs.postMessage("changed");
  }

  /** See whether it still holds, if anybody is signed in; a service that is away says nothing of it. */
  async check(): Promise<void> {
    if (this.in && !this.expired) await this.load().catch(() => undefined);
  }

  /** Stop waiting for somebody to sign in again. */
  giveUp(): void {
    this.expired = false;
    for (const go of this.#waiting.splice(0)) go(false);
  }

  #become(told: SessionView): void {
    if (this.in && told.role === null) {
      this.expired = true; // also if another tab has signed out: nothing here is thrown away
      return;
    }
    around.csrf = told.csrf ?? null;
    this.who = told;
    if (told.role !== null) {
      this.expired = false;
      for (const go of this.#waiting.splice(0)) go(true);
    }
  }

  #ended(): Promise<boolean> {
    if (!this.in) return Promise.resolve(false);
    this.expired = true;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

export const session = new Session();
