// What holds workers back on purpose: breakers, rates, concurrency.
import { path } from "../api.js";
import { html } from "../html.js";
import { useData } from "../data.js";
import { Ago, now, stamp } from "../time.js";
import { ask, may, quoted } from "../parts/act.js";
import { Card, count, Empty, Head, Standing } from "../parts/bits.js";
import { Icon } from "../parts/icons.js";
import { Table } from "../parts/table.js";

const PHASES = { closed: ["good", "check"], open: ["bad", "warning"], "half-open": ["warn", "clock"], half_open: ["warn", "clock"] };

export function Breakers() {
  const breakers = useData("breakers", {}, { every: 6, beat: 6 });
  const rates = useData("rates", {}, { every: 6, beat: 6 });
  const permits = useData("permits", {}, { every: 6, beat: 6 });
  return html`<${Head} title="Limits" lead="Breakers, rates and concurrency: what holds jobs back on purpose, over all workers." />
    <${Card} title="Circuit breakers"><${Standing} of=${breakers} what="breakers"><${BreakerTable} rows=${breakers.data?.breakers ?? []} reload=${breakers.reload} /></${Standing}></${Card}>
    <div class="pair">
      <${Card} title="Rates"><${Standing} of=${rates} what="rates"><${Table} label="Rates" columns=${RATES} rows=${rates.data?.rates ?? []} keyOf=${(one) => `${one.name} ${one.quota}`} empty=${html`<p class="quiet">No rate was used yet.</p>`} /></${Standing}></${Card}>
      <${Card} title="Concurrency"><${Standing} of=${permits} what="permits"><${Table} label="Concurrency" columns=${PERMITS} rows=${permits.data?.permits ?? []} keyOf=${(one) => one.name} empty=${html`<p class="quiet">No concurrency limit was used yet.</p>`} /></${Standing}></${Card}>
    </div>`;
}

function BreakerTable({ rows, reload }) {
  const reset = (one) => () => ask({
    title: `Close the breaker ${one.name}?`,
    text: "Its failures are forgotten, and workers start jobs that need it within their poll time.",
    verb: "Reset",
    where: `breakers/${path(one.name)}/reset`,
    cli: `ferryman breakers reset ${quoted(one.name)}`,
    said: `${one.name} is closed.`,
    done: reload,
  });
  const columns = [
    { key: "name", title: "Dependency", sort: (one) => one.name, cell: (one) => html`<strong>${one.name}</strong>` },
    { key: "state", title: "State", sort: (one) => one.state, cell: (one) => html`<span class=${`tag ${PHASES[one.state]?.[0] ?? ""}`}><${Icon} name=${PHASES[one.state]?.[1] ?? "dot"} />${one.state}</span>` },
    { key: "failures", title: "Failures in a row", kind: "num", sort: (one) => one.failures, cell: (one) => count(one.failures) },
    { key: "until", title: "Tries again", kind: "mid", cell: (one) => (one.until ? html`<${Ago} at=${one.until} />` : "–") },
    { key: "problem", title: "Last problem", kind: "mid", cell: (one) => html`<span class="error-line">${one.problem ?? "–"}</span>` },
    { key: "acts", title: html`<span class="hidden">Acts</span>`, kind: "acts", cell: (one) => may("operator") && html`<button type="button" class="small" aria-label=${`Reset ${one.name}`} onClick=${reset(one)}>Reset</button>` },
  ];
  return html`<${Table} label="Breakers" columns=${columns} rows=${rows} keyOf=${(one) => one.name} empty=${html`<${Empty} icon="check"><p>No breaker has seen a failure.</p></${Empty}>`} />`;
}

const RATES = [
  { key: "name", title: "Rate", cell: (one) => one.name },
  { key: "quota", title: "Quota", cell: (one) => html`<span class="mono">${one.quota}</span>` },
  { key: "left", title: "Left", kind: "num", cell: (one) => html`${count(one.left)}<span class="quiet"> of ${count(one.spent + one.left)}</span>` },
  { key: "free", title: "Next grant", cell: (one) => (stamp(one.free_at) > now() ? html`<${Ago} at=${one.free_at} />` : "now") },
];

const PERMITS = [
  { key: "name", title: "Limit", cell: (one) => one.name },
  { key: "live", title: "In use", kind: "num", cell: (one) => html`${count(one.live)}<span class="quiet">/${one.limit === null ? "–" : count(one.limit)}</span>` },
  { key: "who", title: "Held by", kind: "mid", cell: (one) => html`<span class="tags">${Object.entries(one.holders).slice(0, 6).map(([worker, n]) => html`<span key=${worker} class="tag mono">${worker} ${n}</span>`)}</span>` },
];
