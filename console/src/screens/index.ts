import { inbox } from "../app/inbox.svelte";
import { addScreens } from "../app/screens";
import "./finders";

// Each line is a screen. What it needs is loaded when it is first shown.
addScreens(
  {
    path: "/",
    title: "Home",
    load: () => import("./Home.svelte"),
    nav: { group: "", icon: "home", keys: "g h" },
  },
  {
    path: "/console/inbox",
    title: "Needs you",
    load: () => import("./work/Inbox.svelte"),
    nav: { group: "", icon: "inbox", keys: "g i", count: () => inbox.count },
  },
  {
    path: "/console/review",
    title: "Review",
    load: () => import("./ReviewQueue.svelte"),
    nav: { group: "", icon: "review", keys: "g r" },
  },
  { path: "/console/review/*item", title: "Review", load: () => import("./ReviewItem.svelte") },
  {
    path: "/console/work/jobs",
    title: "Jobs",
    load: () => import("./work/Jobs.svelte"),
    nav: { group: "Work", icon: "work", keys: "g j" },
  },
  { path: "/console/work/jobs/:job_id", title: "Job", load: () => import("./work/Job.svelte") },
  { path: "/console/work/tasks/:task_id", title: "Task", load: () => import("./work/Task.svelte") },
  {
    path: "/console/work/queues",
    title: "Queues and workers",
    role: "editor",
    load: () => import("./work/Queues.svelte"),
    nav: { group: "Work", icon: "list", keys: "g q" },
  },
  {
    path: "/console/work/letters",
    title: "Dead letters and outbox",
    role: "admin",
    load: () => import("./work/Letters.svelte"),
    nav: { group: "Work", icon: "warn", keys: "g l" },
  },
  {
    path: "/console/work/schedules",
    title: "Schedules",
    role: "admin",
    load: () => import("./work/Schedules.svelte"),
    nav: { group: "Work", icon: "clock", keys: "g s" },
  },
  {
    path: "/console/ops/health",
    title: "Health",
    role: "admin",
    load: () => import("./ops/Health.svelte"),
    nav: { group: "Operate", icon: "pulse", keys: "g e" },
  },
  {
    path: "/console/ops/audit",
    title: "Audit",
    role: "admin",
    load: () => import("./ops/Audit.svelte"),
    nav: { group: "Operate", icon: "book", keys: "g a" },
  },
  {
    path: "/console/ops/keys",
    title: "Keys and roles",
    role: "admin",
    load: () => import("./ops/Keys.svelte"),
    nav: { group: "Operate", icon: "keys", keys: "g k" },
  },
  {
    path: "/console/ops/retention",
    title: "Retention and sweep",
    role: "admin",
    load: () => import("./ops/Retention.svelte"),
    nav: { group: "Operate", icon: "trash", keys: "g w" },
  },
  {
    path: "/console/ops/uploads",
    title: "Uploads",
    role: "admin",
    load: () => import("./ops/Uploads.svelte"),
    nav: { group: "Operate", icon: "upload", keys: "g u" },
  },
  {
    path: "/console/api",
    title: "API",
    open: true,
    load: () => import("./Api.svelte"),
    nav: { group: "Operate", icon: "code", keys: "g d" },
  },
  { path: "/console/parts", title: "Parts of the console", load: () => import("./Parts.svelte") },
  { path: "/console/d/:domain", title: "System", load: () => import("./System.svelte") },
  { path: "/console/d/:domain/p/:page", title: "Page", load: () => import("./DomainPage.svelte") },
  { path: "/console/d/:domain/:collection", title: "Records", load: () => import("./Records.svelte") },
  { path: "/console/d/:domain/:collection/*key", title: "Record", load: () => import("./Record.svelte") },
);
