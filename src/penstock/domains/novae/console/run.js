// A run that looks for the nova of a name: what it tried, and where it ended.

const API = "/api/nc";

export function showRun(stage, context, id) {
  const { parts } = context;
  const { h } = parts;
  const head = h("div", { class: "row spread" });
  const told = h("p", { role: "status" });
  const tried = h("ol", { class: "p-rows", "aria-label": "What was tried" });
  stage.append(h("section", { class: "panel stack", "aria-label": "The run" }, head, told, tried));
  let left = false;

  const show = parts.list(
    tried,
    (each) => `${each.task} ${each.attempt} ${each.ts}`,
    (each) => ({
      element: h(
        "li",
        {},
        h("span", { class: "wide" }, each.task.replaceAll("_", " ")),
        h("span", { class: "soft" }, each.error_message ?? ""),
        parts.badge(each.succeeded ? "done" : "failed"),
      ),
      update() {},
    }),
  );

  const again = parts.refreshed(async () => {
    const run = await context.get(`${API}/runs/${id}`);
    const attempts = await context.get(`${API}/runs/${id}/attempts`, {
      limit: 50,
    });
    if (left) return;
    head.replaceChildren(h("h2", {}, run.normalized_name ?? "A run"), parts.badge(run.status));
    show(attempts.items);
    const words = run.outcome ? run.outcome.replaceAll("_", " ").toLowerCase() : "";
    told.textContent = run.error_message ?? (run.status === "RUNNING" ? "The archives are being asked." : words);
    if (run.status === "SUCCEEDED" && run.nova_id)
      context.address.set({ run: null, nova: run.nova_id }, { replace: true });
  }, context.fail);

  return {
    again,
    close() {
      left = true;
    },
  };
}
