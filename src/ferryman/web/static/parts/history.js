// The history of a store or a queue, as the charts want it.
import { html } from "../html.js";
import { kept, useSignal } from "../signal.js";
import { coarse, span, stamp } from "../time.js";
import { useData } from "../data.js";
import { Chart } from "./chart.js";

const HOURS = [1, 6, 24];
const hours = kept("hours", 1);

export function useHistory(queue) {
  const range = useSignal(hours);
  const answer = useData("history", { queue, hours: range }, { every: 15, queue });
  const buckets = answer.data?.buckets ?? [];
  return {
    missing: answer.error?.unsupported || answer.error?.status === 404 ? answer.error : null,
    step: answer.data?.step ?? 300,
    at: buckets.map((one) => (typeof one.at === "number" ? one.at : stamp(one.at))),
    of: (name) => buckets.map((one) => one[name] ?? 0),
    part: (name, share) => buckets.map((one) => one[name]?.[share] ?? null),
    buckets,
  };
}

function Range() {
  const range = useSignal(hours);
  return html`<div class="range" role="group" aria-label="Time range">${HOURS.map((one) => html`<button type="button" key=${one} class="small" aria-pressed=${one === range} onClick=${() => hours.set(one)}>${one} h</button>`)}</div>`;
}

export const Throughput = ({ history }) => html`<${Chart} title=${`Finished in ${span(history.step)}`} bars=${true} at=${history.at} aside=${html`<${Range} />`}
  none=${history.missing?.message ?? "Workers write this as they go; nothing has finished in this time."}
  series=${[
    { name: "completed", colour: "completed", values: history.of("done") },
    { name: "failed", colour: "failed", values: history.of("failed") },
    { name: "retried", colour: "paused", values: history.of("retried") },
    { name: "cancelled", colour: "cancelled", values: history.of("cancelled") },
  ]} />`;

export const Percentiles = ({ history, of, title }) => html`<${Chart} title=${title} at=${history.at} unit=${span} tick=${coarse} log=${true}
  none=${history.missing?.message ?? "Nothing in this time."}
  series=${[
    { name: "p50", colour: "completed", values: positive(history.part(of, "p50")) },
    { name: "p95", colour: "processing", values: positive(history.part(of, "p95")) },
    { name: "p99", colour: "failed", values: positive(history.part(of, "p99")), dash: [4, 3] },
  ]} />`;

// A logarithmic axis has no place for zero.
const positive = (values) => values.map((value) => (value === null ? null : Math.max(value, 0.001)));
