// The versions of an asset, the latest first: a picture, a turntable, and all files in one.
import { shownFile } from "./shown_file.js";

const API = "/api/ac";

export function showVersions(place, context, asset, job) {
  const { parts } = context;
  const { h } = parts;
  const list = h("ol", { class: "p-cards" });
  const actions = h("div", { class: "row" });
  place.append(h("div", { class: "row spread" }, h("h2", {}, "Versions"), actions), list);

  if (context.may("editor")) {
    const another = async () => {
      const begun = await context.post(`${API}/jobs/${job}/again`, {});
      context.address.set({ job: begun.job_id });
    };
    actions.append(parts.button("Make another version", another));
  }

  const show = parts.list(
    list,
    (version) => String(version.version),
    (version) => {
      const zip = `${API}/assets/${encodeURIComponent(asset)}/versions/${version.version}/zip`;
      const seen = version.files.filter((file) => file.url);
      const download = h(
        "a",
        {
          class: "button",
          href: zip,
          download: `${asset}-v${version.version}.zip`,
        },
        "Download",
      );
      download.setAttribute("aria-label", `Download version ${version.version}`);
      const size = version.bytes ? parts.size(version.bytes) : `${version.files.length} files`;
      return {
        element: h(
          "li",
          {},
          h("div", { class: "row spread" }, h("h3", {}, `Version ${version.version}`), parts.when(version.created_at)),
          ...seen.map((file) => shownFile(context, file)),
          h("div", { class: "row spread" }, h("span", { class: "small soft" }, size), download),
        ),
        update() {},
      };
    },
  );
  const again = parts.refreshed(async () => {
    const page = await context.get(`${API}/assets/${encodeURIComponent(asset)}/versions`, { limit: 12 });
    show(page.items);
  }, context.fail);
  return { again };
}
