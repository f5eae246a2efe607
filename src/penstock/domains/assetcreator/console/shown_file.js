// A file that a step has made.

/** A picture or a film in place; of anything else its name, and the file itself where it may be had. */
export function shownFile(context, file, open = false) {
  const { h } = context.parts;
  const end = file.name.split(".").at(-1);
  if (file.url && end === "png") {
    const picture = h("img", { alt: file.name, loading: "lazy" });
    picture.src = file.url;
    return h("figure", { class: "p-media square" }, picture);
  }
  if (file.url && end === "mp4") {
    const film = h("video", {
      controls: true,
      loop: true,
      muted: true,
      playsinline: true,
      preload: "metadata",
      "aria-label": file.name,
    });
    film.src = file.url;
    return h("figure", { class: "p-media square" }, film);
  }
  if (file.url && end === "glb") return model(context, file, open);
  return h(
    "p",
    { class: "small" },
    file.url ? context.parts.link(file.name, file.url, { download: file.name }) : file.name,
  );
}

// A page has room for few models at once: the one that is decided about is shown, the others when they are asked for.
function model(context, file, open) {
  const { parts } = context;
  const place = parts.h("figure", { class: "p-media square" });
  const show = () => context.viewer("model", place, { url: file.url, title: file.name });
  const button = parts.button("Show the model", show, {
    label: `Show the model: ${file.name}`,
  });
  place.append(button);
  if (open) show().catch(context.fail);
  return place;
}
