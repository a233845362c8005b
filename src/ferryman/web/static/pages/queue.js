import { path } from "../api.js";
import { html } from "../html.js";
import { useData } from "../data.js";
import { Ago } from "../time.js";
import { A, Card, Code, count, Head, Standing } from "../parts/bits.js";
import { Ages, Oldest } from "../parts/ages.js";
import { Percentiles, Throughput, useHistory } from "../parts/history.js";
import { Icon } from "../parts/icons.js";
import { QueueActs } from "../parts/queue_acts.js";
import { plain, served, Standing as Badge } from "../parts/queue_table.js";
import { Shares, STATES } from "../parts/state.js";
import { Table } from "../parts/table.js";

export function Queue({ name }) {
  const asked = useData(`queues/${path(name)}`, {}, { every: 6, queue: name });
  const history = useHistory(name);
  const queue = asked.data;
  return html`<${Head} title=${name} lead=${queue && html`Queue · <${Badge} queue=${queue} workers=${queue.workers ?? null} /> oldest ready job <${Oldest} queue=${queue} at=${asked.at} />`}>
      ${queue && html`<${QueueActs} queue=${queue} done=${asked.reload} />`}
    </${Head}>
    <${Standing} of=${asked} what="the queue">${queue && html`
      <${Counts} queue=${queue} />
      <${Why} why=${queue.why ?? []} queue=${queue} />
      <${Throughput} history=${history} />
      <div class="pair"><${Percentiles} history=${history} of="wait" title="Wait before the start" /><${Percentiles} history=${history} of="run" title="Run time" /></div>
      <${Ages} queue=${name} history=${history} />
      <div class="pair"><${Tasks} queue=${queue} /><${Serving} queue=${queue} /></div>`}
    </${Standing}>`;
}

const Counts = ({ queue }) => html`<nav class="chips" aria-label="Jobs of this queue by state">
  ${STATES.map((state) => html`<${A} key=${state} class=${`chip s-${state}`} parts=${["jobs"]} query=${{ where: `queue:${plain(queue.queue)} state:${state}` }}>
    ${state} <strong>${count(queue.states[state])}</strong></${A}>`)}
  <span class="quiet">${count(queue.ready)} ready, ${count(queue.scheduled)} scheduled</span></nav><${Shares} counts=${queue.states} />`;

// The answer is the server's; only the wording of "all is well" is ours.
const Why = ({ why, queue }) => html`<${Card} title="Why is nothing starting?">
  ${why.length ? html`<ul class="why">${why.map((one) => html`<li key=${one.text}><${Icon} name="warning" /><div><p>${one.text}</p>${one.fix && (/^(ferryman|curl) /.test(one.fix) ? html`<${Code} text=${one.fix} />` : html`<p class="quiet">${one.fix}</p>`)}</div></li>`)}</ul>`
  : html`<p class="fine"><${Icon} name="check" />${fine(queue)}</p>`}
</${Card}>`;

function fine(queue) {
  if (!queue.ready) return "Nothing is ready, so there is nothing to start.";
  return queue.states.processing ? "Jobs are being claimed: nothing holds this queue back." : "Nothing that the store knows of holds this queue back.";
}

const Tasks = ({ queue }) => html`<${Card} title="Tasks">
  ${queue.tasks?.length ? html`<ul class="plain-list">${queue.tasks.map((one) => html`<li key=${one.task ?? one}><${A} class="mono" parts=${["jobs"]} query=${{ where: `queue:${plain(queue.queue)} task:${plain(one.task ?? one)}` }}>${one.task ?? one}</${A}></li>`)}</ul>` : html`<p class="quiet">None seen lately.</p>`}
</${Card}>`;

function Serving({ queue }) {
  const here = served(queue.queue, queue.workers) ?? queue.workers ?? [];
  const columns = [
    { key: "id", title: "Worker", cell: (one) => html`<span class="mono">${one.host}:${one.pid}</span>` },
    { key: "slots", title: "Slots", kind: "num", cell: (one) => count(one.queues[queue.queue] ?? one.queues["*"]) },
    { key: "seen", title: "Last seen", cell: (one) => html`<${Ago} at=${one.heartbeat_at} />` },
  ];
  return html`<${Card} title="Workers">${here.length ? html`<${Table} label="Workers of this queue" columns=${columns} rows=${here} keyOf=${(one) => one.id} />` : html`<p class="quiet">No live worker serves this queue.</p>`}</${Card}>`;
}
