// The states of jobs and runs: an icon, a word and a colour each, never a colour alone.
import { html } from "../html.js";
import { now, stamp } from "../time.js";
import { Icon } from "./icons.js";

export const STATES = ["pending", "processing", "completed", "failed", "cancelled", "paused"];
export const TERMINAL = new Set(["completed", "failed", "cancelled"]);

const ICONS = {
  pending: "dot",
  scheduled: "clock",
  processing: "running",
  running: "running",
  completed: "check",
  failed: "warning",
  cancelled: "cancel",
  paused: "pause",
};

// What each act needs, as the store's own table has it; the store decides in the end.
export const ALLOWS = {
  cancel: new Set(["pending", "processing", "paused"]),
  pause: new Set(["pending", "processing"]),
  resume: new Set(["paused"]),
  retry: TERMINAL,
  delete: new Set([...STATES].filter((state) => state !== "processing")),
};

export function State({ state, job = null }) {
  const waits = job && state === "pending" && stamp(job.ready_at) > now() + 0.5;
  const shown = waits ? "scheduled" : state;
  return html`<span class=${`state s-${shown}`}><${Icon} name=${ICONS[shown] ?? "dot"} spin=${shown === "processing"} />${shown}</span>`;
}

// Shares of a whole as one bar; the numbers are in its label.
export function Shares({ counts, label = "jobs" }) {
  const parts = STATES.map((state) => [state, counts[state] ?? 0]).filter(([, n]) => n > 0);
  const total = parts.reduce((sum, [, n]) => sum + n, 0);
  const words = parts.map(([state, n]) => `${n.toLocaleString("en")} ${state}`).join(", ") || `no ${label}`;
  let x = 0;
  return html`<svg class="shares" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label=${words}>
    <title>${words}</title><rect class="s-none" width="100" height="6" />
    ${parts.map(([state, n]) => {
      const from = x;
      x += (n / total) * 100;
      return html`<rect class=${`f-${state}`} x=${from} width=${Math.max(x - from, 0.6)} height="6" />`;
    })}
  </svg>`;
}
