// How old the oldest ready job is, and was since this page was opened: no store keeps that.
import { html } from "../html.js";
import { link, overview, quiet } from "../live.js";
import { signal, useSignal } from "../signal.js";
import { coarse, now, span, stamp, tick } from "../time.js";
import { Chart } from "./chart.js";

const EVERY = 3_000;
const MOST = 1_200;
const seen = signal([]);

// The store tells it when something changes; meanwhile it grows by itself.
function oldest(queue, at) {
  if (queue.oldest_ready === null || queue.oldest_ready === undefined || !queue.ready) return null;
  return queue.oldest_ready + Math.max(0, now() - stamp(at));
}

function look() {
  const current = overview.value;
  if (!current || quiet() || link.value.trouble) return;
  const ages = Object.fromEntries(current.queues.map((one) => [one.queue, oldest(one, current.at)]));
  seen.set([...seen.value.slice(1 - MOST), { at: now(), ages }]);
}

setInterval(look, EVERY);
overview.watch(() => seen.value.length || look());

export function Oldest({ queue, at }) {
  useSignal(tick);
  return span(oldest(queue, at));
}

// Of one queue, or the worst of all.
export function Ages({ queue = null }) {
  const known = useSignal(seen);
  const age = ({ ages }) => (queue === null ? Math.max(0, ...Object.values(ages).map((one) => one ?? 0)) : (ages[queue] ?? 0));
  return html`<${Chart} title="Age of the oldest ready job" at=${known.length > 1 ? known.map((one) => one.at) : []} unit=${span} tick=${coarse}
    series=${[{ name: "since this page is open", colour: "accent", values: known.map(age), fill: true }]}
    none="Nothing has waited since this page is open." />`;
}
