import { placeOfJob, placeOfTask } from "../api/operated";
import { commands } from "../app/commands.svelte";
import { router } from "../app/router.svelte";

/** What looks like an id, as those of jobs and tasks do. */
const ID = /^[\w.:=-]{10,200}$/;

/** A job or a task by its id, as it was pasted. Nothing is asked: whoever goes there sees whether it is there. */
commands.addFinder(async (text) => {
  const id = text.trim();
  if (!ID.test(id) || !/\d/.test(id)) return [];
  return [
    { id: `job-${id}`, title: `Job ${id}`, group: "Go to", run: () => router.go(placeOfJob(id)) },
    { id: `task-${id}`, title: `Task ${id}`, group: "Go to", run: () => router.go(placeOfTask(id)) },
  ];
});
