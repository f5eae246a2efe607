// Drop a film, say what it is, and see it sent; what was left half way is taken up with the same file.
import { announce, send } from "./sending.js";

const API = "/api/vm";

export function showUpload(place, context, added) {
  const { parts } = context;
  const { h } = parts;
  const stop = new AbortController();
  const waiting = h("div", { class: "stack" });
  const input = h("input", {
    type: "file",
    accept: "video/*",
    class: "hidden-from-sight",
    tabindex: -1,
    "aria-label": "A film to send",
  });
  const choose = parts.button("Choose a film", () => input.click(), {
    kind: "main",
  });
  const drop = h("div", { class: "p-drop" }, h("p", {}, "Drop a film here, or"), choose, input);
  const ask = h("div", { hidden: true });
  let [file, resumed] = [null, null];

  place.append(drop, ask, waiting);
  input.addEventListener("change", () => taken(input.files?.[0]));
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    taken(event.dataTransfer?.files[0]);
  });

  const form = parts.form({
    label: "About the film",
    action: "Send it",
    fields: [
      { name: "title", label: "Title", required: true, longest: 200 },
      {
        name: "category",
        label: "Category",
        longest: 100,
        placeholder: "Travel",
      },
      {
        name: "tags",
        label: "Tags",
        hint: "With commas between them.",
        placeholder: "mountains, winter",
      },
    ],
    run: begin,
    more: [parts.button("Not this one", () => taken(null), { kind: "quiet" })],
  });
  const name = h("p", { class: "small soft" });
  ask.append(h("div", { class: "stack" }, name, form.element));

  function taken(chosen) {
    file = chosen ?? null;
    input.value = "";
    const going = resumed;
    resumed = null;
    if (file && going) return void resume(going, file).catch(context.fail);
    ask.hidden = !file;
    drop.hidden = Boolean(file);
    if (!file) return;
    name.textContent = `${file.name}, ${parts.size(file.size)}`;
    form.control("title").value ||= file.name.replace(/\.[^.]+$/, "").replaceAll(/[_-]+/g, " ");
    form.control("title").focus();
  }

  async function begin({ title, category, tags }) {
    const words = (tags ?? "")
      .split(",")
      .map((word) => word.trim())
      .filter(Boolean);
    const said = {
      user_id: context.who.name,
      title,
      category: category ?? null,
      tags: words,
    };
    const chosen = file;
    const submission = await announce(context, chosen, said);
    for (const field of ["title", "category", "tags"]) form.control(field).value = "";
    taken(null);
    void sending(submission, chosen);
  }

  async function resume(submission, chosen) {
    const now = await context.get(`${API}/submissions/${submission.video_id}`);
    if (!now.upload) throw new Error("Nothing is missing of this film any more.");
    await sending(now, chosen);
  }

  async function sending(submission, chosen) {
    const meter = parts.meter(submission.title);
    const line = h("div", { class: "panel" }, meter.element);
    rows.get(submission.video_id)?.remove();
    rows.set(submission.video_id, line);
    waiting.prepend(line);
    const told = (share, word) =>
      meter.set(share, `${Math.floor(share * 100)} % ${word === "sending" ? "sent" : "checked"}`);
    try {
      await send(context, submission, chosen, told, stop.signal);
      meter.set(1, "sent; it is being looked at");
      added();
    } catch (thrown) {
      if (stop.signal.aborted) return;
      meter.set(null, "broken off");
      line.append(
        parts.trouble(thrown),
        parts.button("Go on", () => resume(submission, chosen)),
      );
    }
  }

  // What was announced and has not arrived: after a reload, or on another machine.
  const rows = new Map();
  async function unfinished() {
    const page = await context.get(`${API}/submissions`, {
      user_id: context.who.name,
      limit: 20,
    });
    for (const submission of page.items) {
      const known = rows.get(submission.video_id);
      const refused = submission.status === "refused";
      if (submission.status === "arrived" && known) continue;
      if (submission.status !== "awaited" && !refused) {
        known?.remove();
        rows.delete(submission.video_id);
      } else if (!known) {
        const line = refused ? refusal(submission) : halfWay(submission);
        rows.set(submission.video_id, line);
        waiting.append(line);
      } else if (refused && !known.dataset.refused) {
        const line = refusal(submission);
        known.replaceWith(line);
        rows.set(submission.video_id, line);
      }
    }
  }

  function halfWay(submission) {
    const go = parts.button("Choose the same file", () => {
      resumed = submission;
      input.click();
    });
    return h(
      "div",
      { class: "panel row spread" },
      h("span", {}, `${submission.title} has not arrived as a whole.`),
      go,
    );
  }

  function refusal(submission) {
    const line = h(
      "div",
      { class: "p-trouble" },
      `${submission.title} was refused: ${submission.error ?? "it is no film"}`,
    );
    line.dataset.refused = "yes";
    return line;
  }

  const again = parts.refreshed(unfinished, context.fail);
  return { again, choose: () => input.click(), close: () => stop.abort() };
}
