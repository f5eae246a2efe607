// One light curve or spectrum, drawn; and where it waits for a decision, the evidence and what can be said of it.

const API = "/api/nc";
const HINTS = {
  SPECTRA: ["flux_unit", "unit", "profile", "aperture", "target", "medium", "frame", "member", "object"],
  PHOTOMETRY: [
    "time_system",
    "time_offset",
    "unit",
    "band",
    "columns",
    "delimiter",
    "epoch",
    "outburst",
    "target",
    "table",
    "object",
  ],
};

export function showDataset(stage, context, dataset, changed) {
  const { parts } = context;
  const { h } = parts;
  const plot = h("div");
  const desk = h("div", { class: "stack" });
  const place = `${API}/novae/${dataset.nova_id}/datasets/${dataset.dataset_id}`;
  let [viewer, left] = [null, false];

  stage.append(
    h(
      "section",
      { class: "panel stack", "aria-label": "The data" },
      h(
        "div",
        { class: "row spread" },
        h("h2", {}, dataset.file_name ?? dataset.provider),
        h("span", { class: "soft small" }, dataset.provider),
      ),
      plot,
      desk,
    ),
  );

  async function draw() {
    const key = [dataset.nova_id, dataset.dataset_type, dataset.provider, dataset.dataset_id];
    const record = `novae/datasets/${key.map(encodeURIComponent).join("/")}`;
    try {
      const told = await context.get("/api/review/plot", {
        record,
        file: "data",
      });
      if (left) return;
      viewer = await context.viewer("plot", plot, told);
      const help = "Drag to look closer; double click shows all of it again.";
      plot.append(h("p", { class: "soft small" }, [help, ...told.assumptions].join(" ")));
    } catch (thrown) {
      if (!left) plot.replaceChildren(h("p", { class: "soft" }, thrown.message));
    }
  }

  async function decide() {
    const evidence = await context.get(`${place}/evidence`);
    if (left) return;
    const reason = evidence.verdict?.details?.reason ?? dataset.quarantine_reason_code;
    const picture = evidence.evidence.find((file) => file.name.endsWith(".png"));
    const preview = picture && h("img", { alt: "What could be read of the file" });
    if (preview) preview.src = picture.url;
    desk.replaceChildren(
      h("p", { class: "p-trouble" }, `In quarantine: ${reason}`),
      preview ? h("div", { class: "p-media" }, preview) : "",
      ...(context.may("editor") ? [clearing(), rejecting()] : []),
    );
  }

  const clearing = () =>
    parts.form({
      label: "Clear it",
      action: "Judge it again",
      fields: [
        {
          name: "hint",
          label: "What the file does not say",
          kind: "choice",
          choices: [{ value: "", title: "Nothing" }, ...HINTS[dataset.dataset_type]],
        },
        {
          name: "value",
          label: "Its value",
          longest: 200,
          placeholder: "erg/s/cm2/Angstrom",
        },
        { name: "note", label: "Note for the audit trail", longest: 1000 },
      ],
      run: async ({ hint, value, note }) => {
        const hints = hint && value ? { [hint]: value } : {};
        await context.post(`${place}/clear`, { hints, note: note ?? null });
        context.say("It is judged again.");
        changed();
      },
    }).element;

  const rejecting = () =>
    parts.form({
      label: "Reject it",
      action: "Reject it for good",
      kind: "danger",
      inline: true,
      fields: [
        {
          name: "reason",
          label: "Why it is of no use",
          required: true,
          longest: 1000,
        },
      ],
      run: async ({ reason }) => {
        const sure = await context.sure({
          title: "Reject it for good?",
          text: reason,
          action: "Reject it",
          danger: true,
        });
        if (!sure) return;
        await context.post(`${place}/reject`, { reason });
        changed();
      },
    }).element;

  // Of what is not valid the service keeps a picture as evidence, where it could read anything.
  if (dataset.validation_status === "VALID") void draw();
  else plot.append(h("p", { class: "soft small" }, dataset.failure ?? "It is drawn once it is valid."));
  if (dataset.processing_status === "QUARANTINED") decide().catch(context.fail);
  return {
    close() {
      left = true;
      viewer?.close();
    },
  };
}
