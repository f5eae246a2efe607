// One video: how far it is encoded, and then the film; whoever plays it is counted once.

const API = "/api/vm";
const LOOKS_MS = 2000;

export function showVideo(stage, context, id) {
  const { parts } = context;
  const { h } = parts;
  const meter = parts.meter("Encoding");
  const screen = h("div");
  const [title, about, wrong] = [
    h("h2"),
    h("p", { class: "small soft", role: "status" }),
    h("p", { class: "p-trouble", role: "alert", hidden: true }),
  ];
  const close = parts.button("Close", () => context.address.set({ video: null }), {
    kind: "quiet",
    label: "Close the film",
  });
  let [film, playing, timer, left, seen] = [null, "", null, false, null];

  stage.append(
    h(
      "section",
      { class: "panel stack", "aria-label": "The film" },
      h("div", { class: "row spread" }, title, close),
      meter.element,
      wrong,
      screen,
      about,
    ),
  );

  // One view for each time the page is opened, however often somebody pauses, or a request is sent again.
  const request_id = [...crypto.getRandomValues(new Uint32Array(4))].map((word) => word.toString(36)).join("-");
  const count = () =>
    context.post(`${API}/videos/${id}/views`, { request_id }).then((told) => {
      seen = told.view_count;
      again();
    }, context.fail);

  const again = parts.refreshed(async () => {
    const video = await context.get(`${API}/videos/${id}`);
    if (left) return;
    title.textContent = video.title;
    meter.element.hidden = video.status === "ready" || video.status === "failed";
    meter.set(video.progress);
    wrong.textContent = video.error ?? "";
    wrong.hidden = !video.error;
    const views = Math.max(video.view_count, seen ?? 0);
    const facts = [
      parts.length(video.duration / 1000),
      video.resolution,
      `${views} ${views === 1 ? "view" : "views"}`,
      video.category,
    ];
    about.textContent = facts.filter(Boolean).join(" · ");
    // While it is encoded nothing commits: how far it is, is asked for.
    clearTimeout(timer);
    if (!["ready", "failed"].includes(video.status)) timer = setTimeout(again, LOOKS_MS);
    await play(video);
  }, context.fail);

  async function play(video) {
    if (!video.stream_url || playing) return;
    playing = video.stream_url;
    film = await context.viewer("video", screen, {
      url: video.stream_url,
      title: video.title,
      poster: video.thumbnail_url,
      onplay: count,
      onerror: (why) => {
        wrong.textContent = why;
        wrong.hidden = false;
      },
    });
  }

  return {
    id,
    again,
    close() {
      left = true;
      clearTimeout(timer);
      film?.close();
    },
  };
}
