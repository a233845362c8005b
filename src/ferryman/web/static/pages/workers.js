import { html } from "../html.js";
import { useData } from "../data.js";
import { Ago, Since } from "../time.js";
import { A, Card, Code, count, Empty, Head, many, Standing } from "../parts/bits.js";
import { Icon } from "../parts/icons.js";
import { plain } from "../parts/queue_table.js";
import { Table } from "../parts/table.js";

export function Workers() {
  const asked = useData("workers", {}, { every: 5, beat: 5 });
  const rows = asked.data?.workers ?? [];
  const newest = rows.map((one) => one.version).sort().at(-1);
  const alive = rows.filter((one) => !one.stale);
  const columns = [
    { key: "host", title: "Worker", sort: (one) => one.host, cell: (one) => html`<span class="name"><strong>${one.host}</strong><span class="quiet mono">${one.pid}</span>${one.stale && html`<span class="tag bad"><${Icon} name="warning" />gone silent</span>`}</span>` },
    { key: "busy", title: "Running", kind: "num", sort: (one) => one.running, cell: (one) => html`<${Busy} one=${one} />` },
    { key: "queues", title: "Queues and slots", cell: (one) => html`<span class="tags">${Object.entries(one.queues).map(([queue, slots]) => html`<${A} key=${queue} class="tag" parts=${queue === "*" ? ["queues"] : ["queues", queue]}>${queue === "*" ? "all others" : queue} ${slots}</${A}>`)}</span>` },
    { key: "seen", title: "Last seen", kind: "num", sort: (one) => one.heartbeat_at, cell: (one) => html`<${Ago} at=${one.heartbeat_at} />` },
    { key: "up", title: "Up", kind: "num mid", sort: (one) => one.started_at, cell: (one) => html`<${Since} from=${one.started_at} />` },
    { key: "version", title: "Version", kind: "wide", sort: (one) => one.version, cell: (one) => html`${one.version}${one.version !== newest ? html` <span class="tag warn">older</span>` : ""}` },
    { key: "jobs", title: html`<span class="hidden">Jobs</span>`, kind: "mid", cell: (one) => html`<${A} parts=${["jobs"]} query=${{ where: `worker:${plain(one.id)} state:processing` }} aria-label=${`its jobs: ${one.host} ${one.pid}`}>its jobs</${A}>` },
  ];
  return html`<${Head} title="Workers" lead=${asked.data && `${count(alive.length)} alive, ${many(alive.reduce((sum, one) => sum + one.running, 0), "job")} running`} />
    <${Standing} of=${asked} what="workers"><${Card}>
      <${Table} label="Workers" columns=${columns} rows=${rows} keyOf=${(one) => one.id} initial=${{ key: "host", down: false }} rowClass=${(one) => (one.stale ? "gone" : "")}
        empty=${html`<${Empty} icon="workers"><p>No worker has shown itself lately.</p><${Code} text="ferryman work app:ferry" /></${Empty}>`} />
    </${Card}></${Standing}>`;
}

function Busy({ one }) {
  const slots = Object.values(one.queues).reduce((a, b) => a + b, 0);
  return html`<span class="busy"><meter min="0" max=${Math.max(slots, 1)} value=${one.running} aria-label=${`${one.running} of ${slots} slots`} />${one.running}<span class="quiet">/${slots}</span></span>`;
}
