// The way of a job through its states, with the time that each step took.
import { html } from "../html.js";
import { now, span, stamp, When } from "../time.js";
import { Card } from "./bits.js";

export function Timeline({ job }) {
  const steps = stepsOf(job);
  return html`<${Card} title="Timeline"><ol class="timeline">${steps.map((step, index) => {
    const until = steps[index + 1]?.at ?? (step.going ? now() : null);
    return html`<li key=${index} class=${`t-${step.kind}${step.going ? " going" : ""}`}>
      <span class="t-name">${step.name}</span>
      <span class="quiet"><${When} at=${step.text} /></span>
      ${step.note && html`<span class="quiet t-note">${step.note}</span>`}
      ${until !== null && html`<span class="t-took">${span(until - step.at)}</span>`}
    </li>`;
  })}</ol></${Card}>`;
}

function stepsOf(job) {
  const steps = [{ name: "pushed", kind: "pending", text: job.created_at }];
  const ready = stamp(job.ready_at);
  const errors = job.errors ?? [];
  const past = errors.slice(-6);
  if (errors.length > past.length) steps.push({ name: `${errors.length - past.length} earlier attempts`, kind: "failed", text: errors[errors.length - past.length - 1].at });
  for (const error of past) steps.push({ name: `attempt ${error.attempt} ended`, kind: "failed", text: error.at, note: error.kind });
  // The end of the last attempt and of the job are one moment.
  const failedLast = job.state === "failed" && past.length > 0;
  if (failedLast) steps[steps.length - 1].name += ", failed for good";
  const waits = job.state === "pending" || job.state === "paused";
  if (ready > stamp(job.created_at) + 0.5 && (waits || !errors.length)) steps.push({ name: "ready", kind: "pending", text: job.ready_at });
  if (job.started_at && !waits) steps.push({ name: `attempt ${job.attempts} ${job.state === "processing" ? "runs" : "started"}`, kind: "processing", text: job.started_at });
  if (job.finished_at && !failedLast) steps.push({ name: job.state, kind: job.state, text: job.finished_at });
  const sorted = steps.map((step) => ({ ...step, at: stamp(step.text) })).sort((a, b) => a.at - b.at);
  const last = sorted[sorted.length - 1];
  last.going = !["completed", "failed", "cancelled"].includes(job.state) && last.at <= now();
  return sorted;
}
