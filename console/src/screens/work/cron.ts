const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const two = (text: string): string => text.padStart(2, "0");

/** When something runs by the clock, as people say it; the expression itself where it is an unusual one. */
export function spokenCron(cron: string): string {
  const [minute = "", hour = "", day, month, weekday = ""] = cron.trim().split(/\s+/);
  const every = /^\*\/(\d+)$/.exec(minute)?.[1];
  if (day !== "*" || month !== "*") return cron;
  if (hour === "*" && weekday === "*") {
    if (minute === "*") return "every minute";
    if (every) return `every ${every} minutes`;
    return /^\d+$/.test(minute) ? `every hour, ${minute} past` : cron;
  }
  if (!/^\d+$/.test(minute) || !/^\d+$/.test(hour)) return cron;
  const at = `at ${two(hour)}:${two(minute)} UTC`;
  if (weekday === "*") return `every day ${at}`;
  const named = /^[0-7]$/.test(weekday) ? DAYS[Number(weekday) % 7] : undefined;
  return named ? `every ${named} ${at}` : cron;
}
