// One video: how far it is, its scenes with pictures and clips, and the film once it is cut.

const API = "/api/mv";
const BUSY = ["pending", "queued", "generating_scenes", "composing"];
const CUT = ["queued", "composing"];
const UNSEEN = { failed: "Not filmed", pending: "Not filmed yet" };

export function showFilm(stage, context, id) {
  const { parts } = context;
  const { h } = parts;
  const meter = parts.meter("Scenes");
  const head = h("div", { class: "row spread" });
  const wrong = h("p", { class: "p-trouble", role: "alert", hidden: true });
  const actions = h("div", { class: "row" });
  const screen = h("div", { hidden: true });
  const scenes = h("ol", { class: "p-cards", "aria-label": "Scenes" });
  const clipOf = sceneCard(context, id, () => again());
  const showScenes = parts.list(scenes, (scene) => String(scene.sequence), clipOf);
  let [film, now, filmUrl] = [null, null, ""];

  stage.append(
    h("section", { class: "panel stack", "aria-label": "The video" }, head, meter.element, wrong, screen, actions),
    scenes,
  );

  const again = parts.refreshed(async () => {
    now = await context.get(`${API}/projects/${id}`);
    head.replaceChildren(h("h2", {}, now.conceptPrompt), parts.badge(now.status));
    meter.set(
      now.sceneCount ? now.progress / 100 : null,
      now.sceneCount ? `${now.completedScenes} of ${now.sceneCount} filmed` : "being written",
    );
    const told = [now.errorMessage, failure(now), stale(now)].filter(Boolean).join(" ");
    wrong.textContent = told;
    wrong.hidden = !told;
    showScenes(now.scenes.map((scene) => ({ ...scene, project: now.status })));
    actions.replaceChildren(...buttons());
    await showResult();
  }, context.fail);

  const canCut = () =>
    now &&
    context.may("editor") &&
    now.status === "processing" &&
    now.sceneCount > 0 &&
    now.completedScenes === now.sceneCount &&
    now.staleLips.length === 0;
  const ask = async (verb) => {
    await context.post(`${API}/projects/${id}/${verb}`);
    again();
  };
  const cut = () => ask("compose");
  const idle = () => context.may("editor") && !BUSY.includes(now.status);

  // One that failed goes on with the scenes that it has, or is begun anew where it has none.
  const takeUp = async () => {
    const status = now.sceneCount ? "processing" : "pending";
    await context.ask("PATCH", `${API}/projects/${id}`, { body: { status } });
    if (!now.sceneCount) await context.post(`${API}/projects/${id}/generate`, {});
    again();
  };

  function buttons() {
    const shown = [];
    if (context.may("editor") && now.status === "failed" && !now.failedScenes)
      shown.push(parts.button("Take it up again", takeUp, { kind: "main" }));
    if (canCut()) shown.push(parts.button("Cut the film", cut, { kind: "main" }));
    if (now.failedScenes && idle())
      shown.push(parts.button("Film the failed scenes again", () => ask("retry"), { kind: "main" }));
    if (now.staleLips.length && idle())
      shown.push(parts.button("Move all stale lips again", () => ask("lipsync"), { kind: "main" }));
    if (now.sceneCount && CUT.includes(now.status))
      shown.push(h("span", { class: "soft small", role: "status" }, "The film is being cut."));
    if (now.finalOutputUrl) {
      shown.push(
        h(
          "a",
          {
            class: "button",
            href: now.finalOutputUrl,
            download: "final.mp4",
          },
          "Download the film",
        ),
      );
    }
    return shown;
  }

  async function showResult() {
    const url = now.finalOutputUrl?.split("?")[0] ?? "";
    const key = url && `${url} ${now.updatedAt}`;
    screen.hidden = !url;
    if (key === filmUrl) return;
    filmUrl = key;
    film?.close();
    film = null;
    if (url) {
      const about = {
        url: now.finalOutputUrl,
        title: "The film",
        poster: now.finalThumbnailUrl,
      };
      film = await context.viewer("video", screen, about);
    }
  }

  return {
    id,
    again,
    commands: () =>
      canCut()
        ? [
            {
              id: "mv-cut",
              title: "Cut the film",
              keys: "c",
              run: () => cut().catch(context.fail),
            },
          ]
        : [],
    close: () => film?.close(),
  };
}

/** Which scenes failed, by their places in the film. */
function failure(film) {
  if (!film.failedScenes) return "";
  return `Failed: ${places(film, film.failedSequences)}. Run them again, or film them anew.`;
}

/** Which scenes sing to what is not heard with them. */
function stale(film) {
  if (!film.staleLips.length) return "";
  return `Lips are out of step with the track: ${places(film, film.staleLips)}. Move them again before the film is cut.`;
}

function places(film, sequences) {
  const named = film.scenes.filter((scene) => sequences.includes(scene.sequence));
  return named.map((scene) => `scene ${scene.displaySequence}`).join(", ");
}

function sceneCard(context, id, again) {
  const { parts } = context;
  const { h } = parts;
  return (first) => {
    const picture = h("img", {
      alt: `Scene ${first.displaySequence}`,
      hidden: true,
    });
    const clip = h("video", {
      controls: true,
      preload: "none",
      playsinline: true,
      hidden: true,
    });
    clip.setAttribute("aria-label", `Clip of scene ${first.displaySequence}`);
    const waits = h("span");
    const [state, text, wrong, actions] = [
      h("span", { class: "row" }),
      h("p", { class: "small p-clamped" }),
      h("p", { class: "small" }),
      h("div", { class: "row" }),
    ];
    const meter = parts.meter("Progress");
    const name = h("h3");
    const element = h(
      "li",
      {},
      h("div", { class: "p-media" }, picture, clip, waits),
      h("div", { class: "row spread" }, name, state),
      meter.element,
      text,
      wrong,
      actions,
    );

    const ask = async (scene, verb) => {
      await context.post(`/api/mv/projects/${id}/scenes/${scene.sequence}/${verb}`);
      again();
    };
    return {
      element,
      update(scene) {
        name.textContent = `Scene ${scene.displaySequence}`;
        const out = scene.lips === "stale" ? [parts.badge("lips out of step", "warn")] : [];
        state.replaceChildren(...out, parts.badge(scene.status));
        text.textContent = scene.prompt;
        wrong.textContent = [scene.errorMessage, scene.lipsStaleBecause, ...scene.outdated].filter(Boolean).join("; ");
        meter.element.hidden = ["completed", "failed"].includes(scene.status);
        meter.set(scene.progress / 100, `${scene.progress} %${scene.doing ? `, ${scene.doing}` : ""}`);
        const url = scene.workingVideoClipUrl ?? scene.lipSyncedVideoClipUrl ?? scene.videoClipUrl;
        if (scene.thumbnailUrl) clip.poster = scene.thumbnailUrl;
        parts.source(clip, url);
        parts.source(picture, url ? null : scene.thumbnailUrl);
        clip.hidden = !url;
        picture.hidden = Boolean(url) || !scene.thumbnailUrl;
        waits.textContent =
          url || scene.thumbnailUrl ? "" : (UNSEEN[scene.status] ?? "Being filmed …");
        const over = ["completed", "failed"].includes(scene.status) && !BUSY.includes(scene.project);
        const able = over && context.may("editor");
        actions.replaceChildren(
          ...(able
            ? [
                parts.button("Film it again", () => ask(scene, "regenerate"), {
                  label: `Film it again: scene ${scene.displaySequence}`,
                }),
                ...(scene.lips === "stale" || scene.lips === "missing"
                  ? [
                      parts.button("Move the lips", () => ask(scene, "lipsync"), {
                        label: `Move the lips: scene ${scene.displaySequence}`,
                      }),
                    ]
                  : []),
              ]
            : []),
        );
      },
    };
  };
}
