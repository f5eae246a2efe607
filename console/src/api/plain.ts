import type { ProblemBody } from "./problem";

/** An error in words for whoever reads it: what happened, what to do, and what only those need who look into it. */
export interface PlainWords {
  said: string;
  todo: string;
  /** Folded beneath. */
  details: string[];
}

type Words = Pick<PlainWords, "said" | "todo">;
const GONE: Words = {
  said: "There is nothing here",
  todo: "It may have been removed, or the address has a mistake in it.",
};
const REFUSED: Words = {
  said: "Your key does not allow this",
  todo: "Ask an administrator to do it, or for a key that may.",
};
const CHANGED: Words = {
  said: "Somebody has changed it meanwhile",
  todo: "Load it again and see what it is now; then decide anew.",
};
const BUSY: Words = { said: "The service is busy just now", todo: "Wait a moment, then try again. Nothing is lost." };
const AWAY: Words = {
  said: "A part of the system is away",
  todo: "It is looked for by itself: try again in a moment.",
};
const BROKEN: Words = {
  said: "Something went wrong here",
  todo: "Try again. If it happens again, tell whoever looks after the system, with the details beneath.",
};

const BY_TYPE: Record<string, Words> = {
  "not-found": GONE,
  "not-an-item": GONE,
  "invalid-key": GONE,
  "no-such-route": GONE,
  "no-such-place": GONE,
  conflict: CHANGED,
  "precondition-failed": CHANGED,
  "stale-version": CHANGED,
  "stale-note": CHANGED,
  "stale-review": CHANGED,
  "not-permitted": REFUSED,
  forbidden: REFUSED,
  "out-of-scope": REFUSED,
  busy: BUSY,
  "decoding-busy": BUSY,
  "rate-limited": BUSY,
  throttled: BUSY,
  "too-slow": BUSY,
  unavailable: AWAY,
  "not-ready": AWAY,
  unanswered: AWAY,
  "http-error": BROKEN,
  unexpected: BROKEN,
  "unexpected-here": BROKEN,
  error: BROKEN,
};

const RECORD = /\b([A-Z][a-z]\w*)\((?:\w+=[^()]*)\)/g;
/** `Project(project_id=…)`, as programs write a record, becomes "this project". */
const spokenOf = (text: string): string =>
  text.replace(RECORD, (_, kind: string) => `this ${kind.replace(/(?<=.)([A-Z])/g, " $1").toLowerCase()}`);
const asSentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What to say of an error. What a domain says of its own things is said as it is; what only programs understand is not. */
export function plainly(body: ProblemBody): PlainWords {
  const words = BY_TYPE[body.type];
  const own = body.detail || body.title;
  const said = words?.said ?? asSentence(spokenOf(own));
  const raw = said.toLowerCase() === own.toLowerCase() ? [] : [own];
  const hint = words && body.hint ? [body.hint] : [];
  const found = [body.type, ...(body.request_id ? [`request ${body.request_id}`] : [])];
  return { said, todo: words?.todo ?? body.hint, details: [...raw, ...hint, found.join(" · ")] };
}
