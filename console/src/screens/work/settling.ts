import { post } from "../../api/call";
import { asking } from "../../app/asking.svelte";
import { toasts } from "../../app/toasts.svelte";

/** Have a task that failed, or is in quarantine, tried again. */
export async function retried(task_id: string): Promise<boolean> {
  await post("/api/ops/tasks/retry", undefined, { query: { task_id } });
  toasts.good("It is tried again");
  return true;
}

/** Give a task up, if somebody is sure; whether it was. */
export async function cancelled(task_id: string): Promise<boolean> {
  const text = "It is not tried again, and what waits for it is told that it has failed.";
  if (!(await asking.sure({ title: "Give the task up?", text, action: "Give it up", danger: true }))) return false;
  await post("/api/ops/tasks/cancel", undefined, { query: { task_id } });
  toasts.good("Given up");
  return true;
}
