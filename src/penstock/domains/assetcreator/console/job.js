// One asset on its way: each step with what it made, the decision that is waited for, and the versions that came of it.
import { shownFile } from "./shown_file.js";
import { showVersions } from "./versions.js";

const API = "/api/ac";
const TYPES = { "3D_CHARACTER": "3D character", PROP: "Prop", "2D_SPRITE": "2D sprite", BACKGROUND: "Background" };
const SPOKEN = {
  "text-to-image": "Draw",
  refine: "Refine",
  "3D": "Model",
  retopo: "Retopology",
  rig: "Rig",
  anim: "Animate",
  export: "Export",
};

export function showJob(stage, context, id) {
  const { parts } = context;
  const { h } = parts;
  const head = h("div", { class: "row spread" });
  const wrong = h("p", { class: "p-trouble", role: "alert", hidden: true });
  const gate = h("section", {
    class: "panel stack",
    "aria-label": "Your decision",
    hidden: true,
  });
  const steps = h("ol", { class: "p-cards", "aria-label": "Steps" });
  const versions = h("section", {
    class: "panel stack",
    "aria-label": "Versions",
    hidden: true,
  });
  const showSteps = parts.list(steps, (step) => `${step.step_name} ${step.round} ${step.ts}`, stepCard(context));
  let [now, asked, shownVersions] = [null, "", null];

  stage.append(h("section", { class: "panel stack", "aria-label": "The asset" }, head, wrong), gate, versions, steps);

  const again = parts.refreshed(async () => {
    now = await context.get(`${API}/jobs/${id}`);
    const concept = now.request?.prompt?.core_concept ?? id;
    const state = now.status === "paused" ? "waits for you" : now.status;
    head.replaceChildren(
      h("div", { class: "row" }, h("h2", {}, concept), parts.badge(state)),
      h("span", { class: "soft small" }, about(now)),
    );
    wrong.textContent = now.error?.message ?? "";
    wrong.hidden = !now.error;
    showSteps(now.steps);
    showGate();
    showLibrary();
  }, context.fail);

  const about = (job) =>
    `${TYPES[job.asset_type] ?? job.asset_type}, at ${SPOKEN[job.current_step] ?? job.current_step}`;

  // Drawn anew only for another run: what somebody types is not taken from under their hands.
  function showGate() {
    const review = context.may("editor") ? now.review : null;
    const about = review ? `${review.step_name} ${review.round} ${review.ts}` : "";
    gate.hidden = !review;
    if (about === asked) return;
    asked = about;
    if (!review) return gate.replaceChildren();
    const form = parts.form({
      label: "Decide",
      action: "Approve",
      fields: [
        {
          name: "notes",
          label: "Notes",
          kind: "long",
          rows: 2,
          longest: 1000,
          hint: "Whoever makes it again is told them.",
        },
      ],
      run: (values) => decide("approved", values),
      more: [
        parts.button("Make it again", () => decide("rejected", form.values)),
        parts.button("Give it up …", giveUp, { kind: "danger" }),
      ],
    });
    const title = `Are you content with ${SPOKEN[review.step_name] ?? review.step_name}, run ${review.round}?`;
    const closely = parts.link("Look closely", context.review("steps", review), { class: "button" });
    gate.replaceChildren(
      h("div", { class: "row spread" }, h("h2", {}, title), closely),
      h("div", { class: review.artifacts.length > 1 ? "p-cards" : "p-single" }, ...review.artifacts.map((file) => shownFile(context, file, true))),
      form.element,
    );
  }

  // The decision is about the very files that were seen.
  async function decide(decision, { notes = null } = {}) {
    const { round, artifacts } = now.review;
    const checksums = Object.fromEntries(artifacts.map((file) => [file.name, file.sha256]));
    await context.post(`${API}/jobs/${id}/review`, {
      decision,
      round,
      checksums,
      notes,
    });
    context.say(decision === "approved" ? "Approved: the next step begins." : "It is made again.");
    again();
  }

  async function giveUp() {
    const sure = await context.sure({
      title: "Give the asset up?",
      text: "The job has failed then. What was made so far stays readable for 90 days.",
      action: "Give it up",
      danger: true,
    });
    if (!sure) return;
    await context.post(`${API}/jobs/${id}/cancel`);
    again();
  }

  function showLibrary() {
    versions.hidden = !now.asset_id || now.version === null;
    if (versions.hidden) return;
    shownVersions ??= showVersions(versions, context, now.asset_id, id);
    shownVersions.again();
  }

  return {
    id,
    again,
    commands: () =>
      now?.review && context.may("editor")
        ? [
            {
              id: "ac-approve",
              title: "Approve what waits",
              keys: "a",
              run: () => decide("approved").catch(context.fail),
            },
            {
              id: "ac-again",
              title: "Have it made again",
              keys: "r",
              run: () => decide("rejected").catch(context.fail),
            },
          ]
        : [],
    close() {},
  };
}

function stepCard(context) {
  const { parts } = context;
  const { h } = parts;
  return (first) => {
    const state = h("span");
    const files = h("div", { class: "stack" });
    const [told, when] = [h("p", { class: "small soft" }), h("p", { class: "small soft" })];
    const name = `${SPOKEN[first.step_name] ?? first.step_name}${first.round > 1 ? `, run ${first.round}` : ""}`;
    let seen = "";
    return {
      element: h("li", {}, h("div", { class: "row spread" }, h("h3", {}, name), state), files, told, when),
      update(step) {
        state.replaceChildren(parts.badge(step.status === "paused" ? "waits for you" : step.status));
        const marks = step.artifacts.map((file) => file.sha256 ?? file.name).join();
        if (marks !== seen) files.replaceChildren(...seenFirst(step.artifacts).map((file) => shownFile(context, file)));
        seen = marks;
        const by = step.approved_by ? `${step.status} by ${step.approved_by.replace(/#[^#]*$/, "")}` : "";
        told.textContent = [by, step.notes && `“${step.notes}”`, step.error?.message].filter(Boolean).join(" · ");
        when.replaceChildren(parts.when(step.ts));
      },
    };
  };
}

/** What can be looked at, before what only has a name. */
const seenFirst = (files) => [...files].sort((a, b) => Number(!a.url) - Number(!b.url));
