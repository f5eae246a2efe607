// One nova: what is known of it, its light curves and spectra, what waits for a decision, its runs, and its bundle.
import { showDataset } from "./dataset.js";

const API = "/api/nc";

export function showNova(stage, context, id) {
  const { parts } = context;
  const { h } = parts;
  const facts = h("section", {
    class: "panel stack",
    "aria-label": "The nova",
  });
  const data = h("ul", {
    class: "p-rows",
    "aria-label": "Light curves and spectra",
  });
  const nothing = parts.empty("No data was found yet.");
  nothing.hidden = true;
  const drawn = h("div", { class: "stack" });
  const runs = h("ul", { class: "p-rows", "aria-label": "Runs" });
  const pack = h("div", { class: "row" });
  let [nova, datasets, shown, left, making, last] = [null, [], null, false, false, null];

  stage.append(
    facts,
    drawn,
    h(
      "section",
      { class: "panel stack", "aria-labelledby": "nova-data" },
      h("div", { class: "row spread" }, h("h2", { id: "nova-data" }, "Light curves and spectra"), pack),
      data,
      nothing,
    ),
    h("section", { class: "panel stack", "aria-labelledby": "nova-runs" }, h("h2", { id: "nova-runs" }, "Runs"), runs),
  );

  const showData = parts.list(
    data,
    (each) => each.dataset_id,
    (first) => {
      const open = h(
        "a",
        { class: "wide", href: `?nova=${id}&dataset=${first.dataset_id}` },
        first.file_name ?? first.provider,
      );
      open.addEventListener("click", (event) => {
        event.preventDefault();
        context.address.set({ dataset: first.dataset_id });
      });
      const [state, numbers] = [h("span"), h("span", { class: "soft" })];
      const kind = first.dataset_type === "PHOTOMETRY" ? "light curve" : "spectrum";
      return {
        element: h("li", {}, open, h("span", { class: "soft" }, kind), numbers, state),
        update(each) {
          open.textContent = each.file_name ?? each.provider;
          const points = each.summary?.points ?? each.summary?.rows;
          numbers.textContent = points ? `${points} points` : "";
          state.replaceChildren(parts.badge(each.validation_status ?? each.processing_status, toneOf(each)));
          if (each.dataset_id === chosen()) open.setAttribute("aria-current", "true");
          else open.removeAttribute("aria-current");
        },
      };
    },
  );
  const showRuns = parts.list(
    runs,
    (run) => run.job_run_id,
    (first) => {
      const [state, outcome] = [h("span"), h("span", { class: "soft wide" })];
      return {
        element: h(
          "li",
          {},
          h("span", {}, first.workflow_name.replaceAll("_", " ")),
          outcome,
          parts.when(first.started_at),
          state,
        ),
        update(run) {
          outcome.textContent = run.error_message ?? (run.outcome ?? "").replaceAll("_", " ").toLowerCase();
          state.replaceChildren(parts.badge(run.status));
        },
      };
    },
  );

  const best = () =>
    datasets.find((each) => each.dataset_type === "PHOTOMETRY" && each.validation_status === "VALID") ??
    datasets.find((each) => each.validation_status === "VALID");
  const chosen = () => context.address.get("dataset") ?? best()?.dataset_id ?? null;

  const again = parts.refreshed(async () => {
    const [told, found, ran] = await Promise.all([
      context.get(`${API}/novae/${id}`),
      context.get(`${API}/novae/${id}/datasets`, { limit: 100 }),
      context.get(`${API}/novae/${id}/runs`, { limit: 50 }),
    ]);
    if (left) return;
    [nova, datasets] = [told, found.items];
    drawFacts();
    showRuns([...ran.items].reverse());
    moved();
    await drawBundle();
  }, context.fail);

  function drawFacts() {
    const place = nova.ra_deg === null ? null : `${nova.ra_deg.toFixed(5)}°, ${nova.dec_deg.toFixed(5)}° (ICRS)`;
    facts.replaceChildren(
      h("div", { class: "row spread" }, h("h2", {}, nova.preferred_name), parts.badge(nova.status)),
      parts.facts({
        "Also called": nova.aliases.join(", "),
        Position: place,
        Discovered: nova.discovered,
      }),
    );
  }

  function moved() {
    showData(datasets);
    nothing.hidden = datasets.length > 0;
    const wanted = datasets.find((each) => each.dataset_id === chosen());
    const mark = wanted && `${wanted.dataset_id} ${wanted.processing_status} ${wanted.updated_at}`;
    if (shown?.mark === mark) return;
    shown?.close();
    drawn.replaceChildren();
    shown = wanted ? { mark, ...showDataset(drawn, context, wanted, again) } : null;
  }

  async function drawBundle() {
    const bundle = await context.get(`${API}/novae/${id}/bundle`).catch(() => null);
    if (left) return;
    // What was made while something still changed lacks that: it is there, and can be made again.
    if (bundle && bundle.sha256 !== last) making = false;
    last = bundle?.sha256 ?? last;
    const shownParts = [];
    if (bundle?.fresh && bundle.bundle) {
      making = false;
      shownParts.push(
        h(
          "a",
          {
            class: "button",
            href: bundle.bundle.url,
            download: `${nova.preferred_name}.zip`,
          },
          `Download the bundle (${parts.size(bundle.byte_length)})`,
        ),
      );
    } else if (making || bundle?.task_id)
      shownParts.push(h("span", { class: "soft small", role: "status" }, "The bundle is being made."));
    else if (context.may("editor") && datasets.some((each) => each.validation_status === "VALID")) {
      shownParts.push(parts.button("Make the bundle", makeBundle));
    }
    pack.replaceChildren(...shownParts);
  }

  async function makeBundle() {
    await context.post(`${API}/novae/${id}/bundle`);
    making = true;
    context.say("The bundle is being made.");
    again();
  }

  return {
    again,
    moved,
    commands: () =>
      context.may("editor")
        ? [
            {
              id: "nc-bundle",
              title: "Make the bundle",
              keys: "b",
              run: () => makeBundle().catch(context.fail),
            },
          ]
        : [],
    close() {
      left = true;
      shown?.close();
    },
  };
}

const toneOf = (each) =>
  ({
    VALID: "good",
    QUARANTINED: "warn",
    TERMINAL_INVALID: "bad",
    RETRYABLE_ERROR: "warn",
  })[each.validation_status] ?? "busy";
