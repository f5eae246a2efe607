/** What the service says of an error: problem+json, with what to do about it. */
export interface ProblemBody {
  type: string;
  title: string;
  status: number;
  detail: string;
  hint: string;
  request_id: string;
  fields?: { where: string; message: string }[] | null;
}

/** An answer that is an error, or no answer at all (`offline`). */
export class Problem extends Error {
  constructor(readonly body: ProblemBody) {
    super(body.detail || body.title);
    this.name = "Problem";
  }

  get offline(): boolean {
    return this.body.type === "offline";
  }

  /** What does not fit, by the field it is about: the last part of its place. */
  get byField(): Record<string, string> {
    return Object.fromEntries((this.body.fields ?? []).map((f) => [f.where.split(".").at(-1) ?? "", f.message]));
  }
}

export function offline(): Problem {
  return new Problem({
    type: "offline",
    title: "The service does not answer",
    status: 0,
    detail: "The service does not answer.",
    hint: "See whether it runs, and whether this machine is connected. Nothing you typed is lost.",
    request_id: "",
  });
}

/** Whatever was thrown, as something that can be shown. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  const detail = thrown instanceof Error ? thrown.message : String(thrown);
  return new Problem({
    type: "unexpected-here",
    title: "The console made a mistake",
    status: 0,
    detail,
    hint: "Reload the page; if it happens again, report it with these words.",
    request_id: "",
  });
}

export async function problemIn(answer: Response): Promise<Problem> {
  const told = (answer.headers.get("content-type") ?? "").includes("problem+json")
    ? ((await answer.json().catch(() => null)) as ProblemBody | null)
    : null;
  return new Problem(
    told ?? {
      type: "http-error",
      title: answer.statusText || "An error",
      status: answer.status,
      detail: `The service answered ${answer.status}.`,
      hint: "Something between this page and the service may have answered for it.",
      request_id: answer.headers.get("x-request-id") ?? "",
    },
  );
}
