// Look a nova up by any of its names; one that nobody here knows is found elsewhere, and its data with it.
import { showNova } from "./nova.js";
import { showRun } from "./run.js";

const API = "/api/nc";

export function mount(element, context) {
  const { parts } = context;
  const { h } = parts;
  const stage = h("div", { class: "stack" });
  const waiting = h("ul", { class: "p-rows", "aria-label": "In quarantine" });
  const calm = parts.empty("Nothing is in quarantine.");
  calm.hidden = true;
  const novae = h("ul", { class: "p-rows", "aria-label": "Novae" });
  const none = parts.empty("No nova is known yet.", "Type a name such as V1324 Sco.");
  none.hidden = true;
  let shown = null;

  const form = parts.form({
    label: "Look a nova up",
    action: "Look it up",
    fields: [
      {
        name: "name",
        label: "Name",
        required: true,
        longest: 200,
        placeholder: "V1324 Sco",
        value: context.address.get("name") ?? "",
      },
    ],
    run: ({ name }) => {
      const same = context.address.get("name") === name;
      context.address.set({ name, nova: null, run: null, dataset: null });
      if (same) show(true);
    },
  });

  const section = (title, ...inside) => {
    const id = `nova-${title.toLowerCase().replaceAll(" ", "-")}`;
    return h("section", { class: "panel stack", "aria-labelledby": id }, h("h2", { id }, title), ...inside);
  };
  const beside = h(
    "div",
    { class: "stack" },
    h("div", { class: "panel" }, form.element),
    section("In quarantine", waiting, calm),
    section("Novae", novae, none),
  );
  const columns = h("div", { class: "p-columns" }, beside, stage);
  element.append(columns);

  function linked(text, query) {
    const link = h("a", { class: "wide", href: `?${new URLSearchParams(query)}` }, text);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      context.address.set({ name: null, run: null, dataset: null, ...query });
    });
    return link;
  }

  const showNovae = parts.list(
    novae,
    (nova) => nova.nova_id,
    (nova) => ({
      element: h("li", {}, linked(nova.preferred_name, { nova: nova.nova_id }), parts.when(nova.created_at)),
      update() {},
    }),
  );
  const showWaiting = parts.list(
    waiting,
    (each) => each.dataset_id,
    (each) => ({
      element: h(
        "li",
        {},
        linked(each.file_name ?? each.provider, {
          nova: each.nova_id,
          dataset: each.dataset_id,
        }),
        parts.badge(each.reason_code, "bad"),
        parts.when(each.quarantined_at),
      ),
      update() {},
    }),
  );
  const lists = parts.refreshed(async () => {
    const [known, aside] = await Promise.all([
      context.get(`${API}/novae`, { limit: 20 }),
      context.get(`${API}/quarantine`, { limit: 10 }),
    ]);
    showNovae(known.items);
    none.hidden = known.items.length > 0;
    showWaiting(aside.items);
    calm.hidden = aside.items.length > 0;
  }, context.fail);

  const lookUp = () => form.control("name").focus();

  // What is looked at is in the address: a nova, a run that looks for one, or a name and what it may mean.
  function show(anew = false) {
    const [nova, run, name] = ["nova", "run", "name"].map((word) => context.address.get(word));
    const wanted = nova ? `nova ${nova}` : run ? `run ${run}` : name ? `name ${name}` : "";
    if (shown?.wanted === wanted && !anew) return void shown.moved?.();
    shown?.close?.();
    stage.replaceChildren();
    columns.classList.toggle("p-open", Boolean(wanted));
    if (nova) shown = { wanted, ...showNova(stage, context, nova) };
    else if (run) shown = { wanted, ...showRun(stage, context, run) };
    else {
      shown = { wanted };
      if (name) meaning(name).catch((thrown) => stage.replaceChildren(parts.trouble(thrown)));
      else
        stage.append(
          h(
            "div",
            { class: "panel" },
            parts.empty(
              "No nova is open.",
              "Look one up, or choose one of the list.",
              parts.button("Look one up", lookUp, { kind: "main" }),
            ),
          ),
        );
    }
  }

  async function meaning(name) {
    const told = await context.get(`${API}/novae/by-name`, { name });
    const [only] = told.items;
    if (told.items.length === 1) return context.address.set({ name: null, nova: only.nova_id }, { replace: true });
    if (told.items.length > 1) {
      const choices = told.items.map((each) => h("li", {}, linked(each.preferred_name, { nova: each.nova_id })));
      stage.append(section("Several are called so", h("ul", { class: "p-rows" }, ...choices)));
      return;
    }
    const find = async () => {
      const begun = await context.post(`${API}/novae`, {
        candidate_name: name,
      });
      context.address.set({ name: null, run: begun.job_run_id });
    };
    const actions = context.may("editor")
      ? [h("div", { class: "row" }, parts.button("Find it elsewhere", find, { kind: "main" }))]
      : [];
    stage.append(
      section(
        "Not known here",
        h(
          "p",
          {},
          `No nova here is called ${name}. The archives can be asked for it, with its papers, spectra and photometry.`,
        ),
        ...actions,
      ),
    );
  }

  context.address.onChange(() => show());
  show();
  context.onEvent((event) => {
    if (event.kind !== "resync" && event.domain !== context.domain) return;
    lists();
    shown?.again?.();
  });
  context.offer(() => [
    {
      id: "nc-look",
      title: "Look a nova up",
      keys: "n",
      run: lookUp,
    },
    ...(shown?.commands?.() ?? []),
  ]);
  return () => shown?.close?.();
}
