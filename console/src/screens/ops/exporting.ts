import { ask, type Asked } from "../../api/call";
import { toasts } from "../../app/toasts.svelte";

/** Have an answer saved as a file; as long as it is, it is the service that bounds it. */
export async function exported(path: string, query: Asked["query"], name: string): Promise<void> {
  const answer = await ask("GET", path, {
    ...(query ? { query } : {}),
    headers: { Accept: "*/*" },
    everywhere: true,
  });
  const text = await answer.text();
  const url = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
  const link = document.createElement("a");
  [link.href, link.download] = [url, name];
  link.click();
  URL.revokeObjectURL(url);
  const { lines, complete } = JSON.parse(text.trimEnd().split("\n").at(-1) ?? "{}") as {
    lines?: number;
    complete?: boolean;
  };
  toasts.good(`${(lines ?? 0).toLocaleString("en")} lines are exported${complete ? "" : "; there are more"}`);
}
