// Send films in, find them by category and tag, and watch them.
import { showUpload } from "./upload.js";
import { showVideo } from "./player.js";

const API = "/api/vm";

export function mount(element, context) {
  const { parts } = context;
  const { h } = parts;
  const stage = h("div");
  const sent = h("section", { class: "stack", "aria-label": "Send a film" });
  const found = h("ul", { class: "p-cards", "aria-label": "Videos" });
  const none = parts.empty("No video is listed here.", "You see those that you have sent; or find some by category or tag.");
  none.hidden = true;
  const more = parts.button("Show more", next);
  let [shown, cursor, videos] = [null, null, []];

  const filter = parts.form({
    label: "Find videos",
    action: "Find",
    kind: "plain",
    inline: true,
    fields: [
      {
        name: "category",
        label: "Category",
        longest: 100,
        value: context.address.get("category") ?? "",
      },
      {
        name: "tag",
        label: "Tag",
        longest: 100,
        value: context.address.get("tag") ?? "",
      },
    ],
    run: ({ category, tag }) =>
      context.address.set({
        category: tag ? null : (category ?? null),
        tag: tag ?? null,
      }),
    more: [parts.button("Mine", () => context.address.set({ category: null, tag: null }), { kind: "quiet" })],
  });

  const upload = context.may("editor") ? showUpload(sent, context, () => again()) : null;
  element.append(
    h(
      "div",
      { class: "p-columns" },
      h("div", { class: "stack" }, sent, h("div", { class: "panel" }, filter.element)),
      h("div", { class: "stack" }, stage, h("h2", {}, "Videos"), found, none, h("div", {}, more)),
    ),
  );

  const asked = () => {
    const [category, tag] = [context.address.get("category"), context.address.get("tag")];
    return tag ? { tag } : category ? { category } : { user_id: context.who.name };
  };

  const show = parts.list(
    found,
    (video) => video.video_id,
    (first) => {
      const picture = h("img", { alt: "", loading: "lazy" });
      const [state, about, tags] = [h("span"), h("p", { class: "small soft" }), h("p", { class: "small" })];
      const link = h("a", { href: `?video=${first.video_id}` });
      link.addEventListener("click", (event) => {
        event.preventDefault();
        context.address.set({ video: first.video_id });
        scrollTo(0, 0);
      });
      return {
        element: h(
          "li",
          {},
          h("div", { class: "p-media" }, picture),
          h("h3", {}, link),
          h("div", { class: "row spread" }, about, state),
          tags,
        ),
        update(video) {
          link.textContent = video.title;
          parts.source(picture, video.thumbnail_url);
          picture.hidden = !video.thumbnail_url;
          state.replaceChildren(...(video.status === "ready" ? [] : [parts.badge(video.status)]));
          const views = `${video.view_count} ${video.view_count === 1 ? "view" : "views"}`;
          about.textContent = [parts.length(video.duration / 1000), views, video.category].filter(Boolean).join(" · ");
          tags.textContent = (video.tags ?? []).map((tag) => `#${tag}`).join(" ");
        },
      };
    },
  );

  const again = parts.refreshed(async () => {
    const page = await context.get(`${API}/videos`, {
      ...asked(),
      limit: Math.min(200, Math.max(24, videos.length)),
    });
    [videos, cursor] = [page.items, page.next];
    drawn();
    upload?.again();
  }, context.fail);

  async function next() {
    const page = await context.get(`${API}/videos`, {
      ...asked(),
      limit: 24,
      cursor,
    });
    [videos, cursor] = [[...videos, ...page.items], page.next];
    drawn();
  }

  function drawn() {
    show(videos);
    none.hidden = videos.length > 0;
    more.hidden = !cursor;
  }

  function open() {
    const wanted = context.address.get("video");
    if (shown?.id !== wanted) {
      shown?.close();
      stage.replaceChildren();
      shown = wanted && /^[0-9a-f-]{36}$/.test(wanted) ? showVideo(stage, context, wanted) : null;
    }
    for (const name of ["category", "tag"]) filter.control(name).value = context.address.get(name) ?? "";
    videos = [];
    again();
  }

  context.address.onChange(open);
  open();
  context.onEvent((event) => {
    if (event.kind !== "resync" && event.domain !== context.domain) return;
    if (event.kind === "resync" || event.entity !== "video_tags") again();
    if (event.kind === "resync" || event.key.video_id === shown?.id) shown?.again();
  });
  context.offer(() => [
    ...(upload
      ? [
          {
            id: "vm-send",
            title: "Send a film",
            keys: "n",
            run: () => upload.choose(),
          },
        ]
      : []),
    {
      id: "vm-find",
      title: "Find videos by category or tag",
      keys: "f",
      run: () => filter.control("category").focus(),
    },
  ]);
  return () => {
    upload?.close();
    shown?.close();
  };
}
