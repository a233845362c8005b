// How old the oldest ready job is and was: what workers have noted, then what this page has seen.
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
export function Ages({ queue = null, history }) {
  const known = useSignal(seen);
  const age = ({ ages }) => (queue === null ? Math.max(0, ...Object.values(ages).map((one) => one ?? 0)) : (ages[queue] ?? 0));
  const since = known.length ? known[0].at : Infinity;
  const before = history.buckets.map((one, index) => ({ at: history.at[index], age: one.oldest_ready ?? null })).filter((one) => one.at < since);
  const all = [...before, ...known.map((one) => ({ at: one.at, age: age(one) }))];
  return html`<${Chart} title="Age of the oldest ready job" at=${all.length > 1 ? all.map((one) => one.at) : []} unit=${span} tick=${coarse}
    series=${[{ name: "oldest ready job", colour: "accent", values: all.map((one) => one.age), fill: true }]}
    none="Nothing has waited in this time." />`;
}
