import { html } from "../html.js";
import { useData } from "../data.js";
import { go } from "../router.js";
import { When } from "../time.js";
import { Card, count, Empty, Head, Standing } from "../parts/bits.js";
import { Pager, Table } from "../parts/table.js";

const COLUMNS = [
  { key: "at", title: "When", cell: (one) => html`<${When} at=${one.at} />` },
  { key: "who", title: "Who", cell: (one) => html`<strong>${one.who}</strong>` },
  { key: "what", title: "What", cell: (one) => html`<code>${one.act}</code>` },
  { key: "target", title: "On", kind: "mid", cell: (one) => html`<span class="mono">${one.where || one.target || "–"}</span>` },
  { key: "count", title: "Jobs", kind: "num", cell: (one) => count(one.count) },
  { key: "request", title: "Request", kind: "wide", cell: (one) => html`<span class="mono quiet">${one.request_id}</span>` },
];

export function Audit({ query }) {
  const after = query.get("after");
  const asked = useData("audit", { after, limit: 50 }, { every: 5, live: !after, beat: after ? 0 : 5 });
  const rows = asked.data?.rows ?? [];
  return html`<${Head} title="Audit" lead="Every change made through this server: who, what, to how many jobs." />
    <${Standing} of=${asked} what="the audit log"><${Card}>
      <${Table} label="Audit log" columns=${COLUMNS} rows=${rows} keyOf=${(one) => `${one.at} ${one.request_id} ${one.act}`} empty=${html`<${Empty} icon="audit"><p>Nobody has changed anything yet.</p></${Empty}>`} />
      ${asked.data && html`<${Pager} next=${asked.data.next} first=${!after} onNext=${() => go(["audit"], { after: asked.data.next })} onFirst=${() => go(["audit"])} />`}
    </${Card}></${Standing}>`;
}
