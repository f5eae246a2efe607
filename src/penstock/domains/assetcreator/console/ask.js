// Ask for an asset in words, follow its gates, decide at each of them, and take the versions away.
import { showJob } from "./job.js";

const API = "/api/ac";
const NEW = "+";
const TYPES = [
  { value: "3D_CHARACTER", title: "3D character" },
  { value: "PROP", title: "Prop" },
  { value: "2D_SPRITE", title: "2D sprite" },
  { value: "BACKGROUND", title: "Background" },
];
const MODELLED = ["3D_CHARACTER", "PROP"];

export function mount(element, context) {
  const { parts } = context;
  const { h } = parts;
  const stage = h("div", { class: "stack" });
  const beside = h("div", { class: "stack" });
  const jobs = h("ul", { class: "p-rows", "aria-label": "Assets asked for" });
  const none = parts.empty("Nothing was asked for in this project.");
  none.hidden = true;
  let shown = null;

  const form = parts.form({
    label: "Ask for an asset",
    action: "Ask for it",
    fields: [
      {
        name: "project",
        label: "Project",
        kind: "choice",
        choices: [{ value: NEW, title: "A new project" }],
      },
      {
        name: "name",
        label: "Name of the project",
        longest: 200,
        placeholder: "Robots",
      },
      {
        name: "type",
        label: "Type",
        kind: "choice",
        choices: TYPES,
        required: true,
      },
      {
        name: "core_concept",
        label: "What it is",
        kind: "long",
        rows: 2,
        required: true,
        longest: 1000,
        placeholder: "Space ranger robot with a red scarf",
      },
      {
        name: "style",
        label: "Style",
        longest: 1000,
        placeholder: "Flat colours, thick outline",
      },
      {
        name: "details",
        label: "Details",
        kind: "long",
        rows: 2,
        longest: 1000,
      },
      {
        name: "platform",
        label: "Platform",
        kind: "choice",
        choices: ["PC", "MOBILE", "CONSOLE"],
      },
      {
        name: "budget",
        label: "Triangles at most",
        kind: "number",
        min: 200,
        max: 100000,
        hint: "Left empty: 2,000 for mobile, 5,000 for others.",
      },
    ],
    run: ask,
  });
  const project = form.control("project");
  const type = form.control("type");
  const fit = () => {
    form.show("name", project.value === NEW);
    form.show("budget", MODELLED.includes(type.value));
  };
  project.addEventListener("change", () => {
    fit();
    context.address.set({ of: project.value === NEW ? null : project.value });
  });
  type.addEventListener("change", fit);
  fit();

  if (context.may("editor")) beside.append(h("div", { class: "panel" }, form.element));
  beside.append(
    h(
      "section",
      { class: "panel stack", "aria-labelledby": "asked-for" },
      h("h2", { id: "asked-for" }, "Asked for"),
      jobs,
      none,
    ),
  );
  const columns = h("div", { class: "p-columns" }, beside, stage);
  element.append(columns);

  async function ask({ name, type: asset_type, core_concept, style, details, platform, budget, project: chosen }) {
    let project_id = chosen;
    if (project_id === NEW) {
      const begun = await context.post(`${API}/projects`, {
        name: name ?? core_concept.slice(0, 60),
      });
      project_id = begun.project_id;
      await listProjects();
    }
    const prompt = { core_concept, style: style ?? "", details: details ?? "" };
    const constraints = {
      platform,
      ...(budget === undefined ? {} : { poly_count_budget: budget }),
    };
    const job = await context.post(`${API}/jobs`, {
      project_id,
      asset_type,
      prompt,
      constraints,
    });
    context.address.set({ of: project_id, job: job.job_id });
  }

  async function listProjects() {
    const page = await context.get(`${API}/projects`, { limit: 50 });
    const choices = page.items.map((each) => ({
      value: each.project_id,
      title: each.name,
    }));
    form.choices("project", [...choices, { value: NEW, title: "A new project" }]);
    const wanted = context.address.get("of") ?? choices[0]?.value ?? NEW;
    if ([...project.options].some((each) => each.value === wanted)) project.value = wanted;
    fit();
  }

  const showJobs = parts.list(
    jobs,
    (job) => job.job_id,
    (first) => {
      const link = h(
        "a",
        { class: "wide p-clamped", href: `?job=${first.job_id}`, title: first.request?.prompt?.core_concept },
        first.request?.prompt?.core_concept ?? "An asset",
      );
      link.addEventListener("click", (event) => {
        event.preventDefault();
        context.address.set({ job: first.job_id });
      });
      const state = h("span");
      return {
        element: h("li", {}, link, state, parts.when(first.created_at)),
        update: (job) => state.replaceChildren(parts.badge(job.status === "paused" ? "waits for you" : job.status)),
      };
    },
  );

  const list = parts.refreshed(async () => {
    if (!project.dataset.known) await listProjects();
    project.dataset.known = "yes";
    const chosen = project.value;
    const page = chosen === NEW ? { items: [] } : await context.get(`${API}/jobs`, { project_id: chosen, limit: 20 });
    showJobs(page.items.sort((a, b) => (a.created_at < b.created_at ? 1 : -1)));
    none.hidden = page.items.length > 0;
  }, context.fail);

  const describing = () =>
    context.may("editor")
      ? ["Describe one, or choose one of the list.", parts.button("Describe an asset", describe, { kind: "main" })]
      : ["Choose one of the list."];
  const describe = () => form.control("core_concept").focus();

  function show() {
    const wanted = context.address.get("job");
    const of = context.address.get("of");
    if (of && project.value !== of && [...project.options].some((each) => each.value === of)) project.value = of;
    fit();
    list();
    if (shown?.id === wanted) return;
    shown?.close();
    shown = null;
    stage.replaceChildren();
    columns.classList.toggle("p-open", Boolean(wanted));
    if (wanted) shown = showJob(stage, context, wanted);
    else stage.append(h("div", { class: "panel" }, parts.empty("No asset is open.", ...describing())));
  }

  context.address.onChange(show);
  show();
  context.onEvent((event) => {
    if (event.kind !== "resync" && event.domain !== context.domain) return;
    if (event.kind === "resync" || event.entity === "jobs") list();
    shown?.again();
  });
  context.offer(() => [
    {
      id: "ac-new",
      title: "Describe a new asset",
      keys: "n",
      run: describe,
    },
    ...(shown?.commands() ?? []),
  ]);
  return () => shown?.close();
}
