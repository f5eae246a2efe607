// A sentence becomes a music video: a form, its scenes as they are filmed, and the film.
import { showFilm } from "./film.js";

const API = "/api/mv";
const LISTED = ["queued", "generating_scenes", "processing", "composing", "completed", "failed"];

export function mount(element, context) {
  const { parts } = context;
  const { h } = parts;
  const stage = h("div", { class: "stack" });
  const videos = h("ul", { class: "p-rows", "aria-label": "Videos" });
  const none = parts.empty("There is no video yet.", "Say what it is about, and have it made.");
  none.hidden = true;
  const beside = h("div", { class: "stack" });
  let shown = null;

  const form = parts.form({
    label: "Make a music video",
    action: "Make the video",
    fields: [
      {
        name: "prompt",
        label: "What it is about",
        kind: "long",
        required: true,
        longest: 5000,
        placeholder: "Robot exploring Austin, Texas",
      },
      {
        name: "character",
        label: "Who is in it",
        required: true,
        longest: 5000,
        placeholder: "Silver metallic humanoid robot",
      },
      {
        name: "director",
        label: "Style",
        kind: "choice",
        choices: [{ value: "", title: "As it comes" }],
      },
      {
        name: "scenes",
        label: "Scenes",
        kind: "number",
        min: 1,
        max: 8,
        hint: "Without a number, as many as the track has room for.",
      },
      {
        name: "audio",
        label: "Track",
        kind: "file",
        accept: "audio/*",
        hint: "Without one, a track is played for it.",
      },
    ],
    run: make,
  });

  if (context.may("editor")) beside.append(h("div", { class: "panel" }, form.element));
  beside.append(
    h(
      "section",
      { class: "panel stack", "aria-labelledby": "videos" },
      h("h2", { id: "videos" }, "Videos"),
      videos,
      none,
    ),
  );
  const columns = h("div", { class: "p-columns" }, beside, stage);
  element.append(columns);

  context.get(`${API}/get_director_configs`).then((directors) => {
    const choices = directors.map((each) => ({
      value: each.name,
      title: `${each.name}: ${each.summary}`,
    }));
    form.choices("director", [{ value: "", title: "As it comes" }, ...choices]);
  }, context.fail);

  async function make({ prompt, character, director, scenes, audio }) {
    const body = new FormData();
    body.set("mode", "music-video");
    body.set("prompt", prompt);
    body.set("characterDescription", character);
    if (director) body.set("directorConfig", director);
    body.set("audio", audio ?? (await played(prompt, scenes)), audio?.name ?? "track.mp3");
    const begun = await context.post(`${API}/projects`, body);
    context.address.set({ video: begun.projectId });
    await context.post(`${API}/projects/${begun.projectId}/generate`, scenes ? { scenes } : {});
    list();
  }

  async function played(prompt, scenes) {
    const answer = await context.ask("GET", `${API}/backing_track`, {
      query: scenes ? { prompt, scenes } : { prompt },
    });
    return answer.blob();
  }

  const showVideos = parts.list(
    videos,
    (video) => video.projectId,
    (video) => {
      const link = h("a", { class: "wide p-clamped", href: `?video=${video.projectId}`, title: video.conceptPrompt }, video.conceptPrompt);
      link.addEventListener("click", (event) => {
        event.preventDefault();
        context.address.set({ video: video.projectId });
      });
      const state = h("span");
      const row = h("li", {}, link, state, parts.when(video.createdAt));
      return {
        element: row,
        update: (told) => state.replaceChildren(parts.badge(told.status)),
      };
    },
  );

  // A few of each state: no list without an end is read.
  const list = parts.refreshed(async () => {
    const pages = await Promise.all(LISTED.map((status) => context.get(`${API}/projects`, { status, limit: 6 })));
    const all = pages.flatMap((page) => page.items).sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
    showVideos(all.slice(0, 12));
    none.hidden = all.length > 0;
  }, context.fail);

  const describing = () =>
    context.may("editor")
      ? ["Describe one, or choose one of the list.", parts.button("Describe a video", describe, { kind: "main" })]
      : ["Choose one of the list."];
  const describe = () => form.control("prompt").focus();

  function show() {
    const wanted = context.address.get("video");
    if (shown?.id === wanted) return;
    shown?.close();
    shown = null;
    stage.replaceChildren();
    columns.classList.toggle("p-open", Boolean(wanted));
    if (wanted && /^[0-9a-f-]{36}$/.test(wanted)) shown = showFilm(stage, context, wanted);
    else stage.append(h("div", { class: "panel" }, parts.empty("No video is open.", ...describing())));
  }

  context.address.onChange(show);
  show();
  context.onEvent((event) => {
    // How far a scene is, is told with the work on it.
    if (event.domain === "work" && event.entity === "progress") {
      if (event.new?.project_id === shown?.id) shown?.again();
      return;
    }
    if (event.kind !== "resync" && event.domain !== context.domain) return;
    if (event.kind === "resync" || event.entity === "projects") list();
    if (event.kind === "resync" || event.key.project_id === shown?.id) shown?.again();
  });
  context.offer(() => [
    {
      id: "mv-new",
      title: "Describe a new video",
      keys: "n",
      run: describe,
    },
    ...(shown?.commands() ?? []),
  ]);
  return () => shown?.close();
}
