import { html } from "../html.js";
import { useData } from "../data.js";
import { go, to } from "../router.js";
import { Ago } from "../time.js";
import { may } from "../parts/act.js";
import { A, Card, count, Empty, Head, JobLink, many, Standing } from "../parts/bits.js";
import { Icon } from "../parts/icons.js";
import { askWhere } from "../parts/job_acts.js";
import { Table } from "../parts/table.js";

const WINDOWS = [["3600", "1 h"], ["10800", "3 h"], ["86400", "24 h"], ["259200", "3 d"], ["604800", "7 d"]];

export function Failures({ query }) {
  const since = query.get("since") ?? "86400";
  const asked = useData("failures", { since }, { every: 5 });
  const groups = asked.data?.groups ?? [];
  const columns = [
    { key: "what", title: "What", cell: (one) => html`<div class="group"><span class="name"><strong>${one.task}</strong>${one.kind && html`<span class="tag bad">${one.kind}</span>`}</span><p class="error-line">${one.text}</p></div>` },
    { key: "count", title: "Jobs", kind: "num", sort: (one) => one.count, cell: (one) => html`<${A} class="n n-failed" parts=${["jobs"]} query=${{ where: one.where }}>${count(one.count)}</${A}>` },
    { key: "queues", title: "Queues", kind: "mid", cell: (one) => one.queues.map((queue, index) => html`${index ? ", " : ""}<${A} parts=${["queues", queue]}>${queue}</${A}>`) },
    { key: "first", title: "First", kind: "wide", sort: (one) => one.first_at, cell: (one) => html`<${Ago} at=${one.first_at} />` },
    { key: "last", title: "Last", sort: (one) => one.last_at, cell: (one) => html`<${Ago} at=${one.last_at} />` },
    { key: "sample", title: "Sample", kind: "mid", cell: (one) => html`<${JobLink} id=${one.sample} />` },
    { key: "acts", title: html`<span class="hidden">Acts</span>`, kind: "acts", cell: (one) => may("operator") && html`<button type="button" class="small" aria-label=${`Retry all ${many(one.count, "job")} of ${one.task}: ${one.text}`} onClick=${() => askWhere("retry", one.where, asked.reload)}><${Icon} name="retry" />Retry all</button>` },
  ];
  return html`<${Head} title="Failures" lead="Jobs that failed for good, those with the same reason together.">
      <div class="range" role="group" aria-label="Failed within">${WINDOWS.map(([value, text]) => html`<button type="button" key=${value} class="small" aria-pressed=${since === value} onClick=${() => go(["failures"], { since: value })}>${text}</button>`)}</div>
    </${Head}>
    ${asked.data?.complete === false && html`<p class="note warn"><${Icon} name="warning" />Only the newest ${count(asked.data.scanned)} failures were looked at.</p>`}
    <${Standing} of=${asked} what="failures"><${Card}>
      <${Table} label="Failures by reason" columns=${columns} rows=${groups} keyOf=${(one) => one.fingerprint} initial=${{ key: "last", down: true }}
        empty=${html`<${Empty} icon="check"><p>Nothing failed in this time.</p><p><a href=${to(["jobs"], { where: "state:failed" })}>All failed jobs</a></p></${Empty}>`} />
    </${Card}></${Standing}>`;
}
