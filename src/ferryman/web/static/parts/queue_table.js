import { html } from "../html.js";
import { Oldest } from "./ages.js";
import { A, count } from "./bits.js";
import { Icon } from "./icons.js";
import { Shares } from "./state.js";
import { Table } from "./table.js";

export function served(queue, workers) {
  if (workers === null || workers === undefined) return null;
  return workers.filter((one) => !one.stale && (queue in one.queues || "*" in one.queues));
}

// Said only when something is wrong: an idle queue needs no badge.
export function Standing({ queue, workers }) {
  const here = served(queue.queue, workers);
  if (queue.paused) return html`<span class="tag warn"><${Icon} name="pause" />paused</span>`;
  if (here?.length === 0 && queue.ready) return html`<span class="tag bad"><${Icon} name="warning" />no workers</span>`;
  return null;
}

const COLUMNS = (workers, extra, at) => [
  { key: "queue", title: "Queue", sort: (q) => q.queue, cell: (q) => html`<span class="name"><${A} parts=${["queues", q.queue]}>${q.queue}</${A}><${Standing} queue=${q} workers=${workers} /></span>` },
  { key: "oldest", title: "Oldest ready", kind: "num", sort: (q) => q.oldest_ready ?? null, cell: (q) => html`<${Oldest} queue=${q} at=${at} />` },
  { key: "ready", title: "Ready", kind: "num", sort: (q) => q.ready, cell: (q) => number(q, "pending", q.ready) },
  { key: "scheduled", title: "Scheduled", kind: "num mid", sort: (q) => q.scheduled, cell: (q) => number(q, "pending", q.scheduled) },
  { key: "running", title: "Running", kind: "num", sort: (q) => q.states.processing, cell: (q) => number(q, "processing", q.states.processing) },
  { key: "completed", title: "Completed", kind: "num mid", sort: (q) => q.states.completed, cell: (q) => number(q, "completed", q.states.completed) },
  { key: "failed", title: "Failed", kind: "num", sort: (q) => q.states.failed, cell: (q) => number(q, "failed", q.states.failed) },
  { key: "paused", title: "Paused", kind: "num wide", sort: (q) => q.states.paused, cell: (q) => number(q, "paused", q.states.paused) },
  { key: "shares", title: "All", kind: "wide bar", cell: (q) => html`<${Shares} counts=${q.states} />` },
  ...extra,
];

const number = (q, state, n) =>
  n ? html`<${A} parts=${["jobs"]} query=${{ where: `queue:${plain(q.queue)} state:${state}` }} class=${`n n-${state}`}>${count(n)}</${A}>` : html`<span class="zero">0</span>`;

// A value as the filter language takes it.
export const plain = (text) => (/^[^\s",<>]+$/.test(text) ? text : `"${text.replace(/[\\"]/g, "\\$&")}"`);

export const QueueTable = ({ queues, workers, at, few = Infinity, extra = [], initial = { key: "queue", down: false } }) => html`
  <${Table} label="Queues" columns=${COLUMNS(workers, extra, at)} rows=${queues.slice(0, few)} keyOf=${(q) => q.queue} initial=${initial} />
  ${queues.length > few && html`<p class="quiet more"><${A} parts=${["queues"]}>${count(queues.length - few)} more queues</${A}></p>`}`;
