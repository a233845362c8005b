// How the store stands, and what needs somebody.
import { html } from "../html.js";
import { useData } from "../data.js";
import { overview, useAside } from "../live.js";
import { sees } from "../session.js";
import { useSignal } from "../signal.js";
import { to } from "../router.js";
import { Ago, now } from "../time.js";
import { A, Card, Code, count, Empty, Head, many, Standing } from "../parts/bits.js";
import { Ages, Oldest } from "../parts/ages.js";
import { Spark } from "../parts/chart.js";
import { Throughput, useHistory } from "../parts/history.js";
import { Icon } from "../parts/icons.js";
import { QueueTable } from "../parts/queue_table.js";

export function Overview() {
  const first = useData("overview", {}, { live: false });
  const seen = useSignal(overview) ?? first.data;
  const history = useHistory(null);
  useAside(first.data);
  return html`<${Head} title="Overview" lead=${seen && html`${many(total(seen.states), "job")} in ${many(seen.queues.length, "queue")}`} />
    <${Standing} of=${{ ...first, data: seen }} what="the overview">
      ${seen && (total(seen.states) || seen.queues.length ? html`<${Body} seen=${seen} history=${history} />` : html`<${Start} />`)}
    </${Standing}>`;
}

const total = (states) => Object.values(states).reduce((sum, n) => sum + n, 0);

function Body({ seen, history }) {
  const waits = seen.queues.filter((one) => typeof one.oldest_ready === "number" && one.ready);
  const worst = waits.reduce((a, b) => (!a || b.oldest_ready > a.oldest_ready ? b : a), null);
  const workers = (seen.workers ?? []).filter((one) => !one.stale);
  const slots = workers.reduce((sum, one) => sum + Object.values(one.queues).reduce((a, b) => a + b, 0), 0);
  const [done, failed] = [history.of("done"), history.of("failed")];
  const last = lately(history, done, failed);
  return html`
    <div class="figures">
      <${Figure} title="Oldest ready job" value=${worst ? html`<${Oldest} queue=${worst} at=${seen.at} />` : "–"} note=${worst ? html`in <${A} parts=${["queues", worst.queue]}>${worst.queue}</${A}>` : "nothing waits"} hot=${worst && worst.oldest_ready > 300} />
      <${Figure} title="Running" value=${count(seen.states.processing)} note=${seen.workers === null ? "workers are not known here" : `of ${many(slots, "slot")}, ${many(workers.length, "worker")}`} />
      <${Figure} title="Ready" value=${count(seen.states.pending - seen.scheduled)} note=${`${count(seen.scheduled)} scheduled`} />
      <${Figure} title="Finished per minute" value=${last ? last.rate : "–"} note="last quarter of an hour"><${Spark} values=${done} label="completed jobs over time" /></${Figure}>
      <${Figure} title="Failed" value=${last?.share ?? count(seen.states.failed)} note=${last?.share ? "in the last quarter of an hour" : "kept with their errors"} hot=${last && last.ratio > 0.1}><${Spark} values=${failed} colour="failed" label="failed jobs over time" /></${Figure}>
    </div>
    <${Attention} seen=${seen} />
    <div class="pair"><${Throughput} history=${history} /><${Ages} history=${history} /></div>
    <${Card} title="Queues" aside=${html`<${A} parts=${["queues"]}>All queues</${A}>`}><${QueueTable} queues=${seen.queues} workers=${seen.workers} at=${seen.at} few=${12} /></${Card}>`;
}

// The bucket under way and two before it.
const FEW = 3;

function lately(history, done, failed) {
  const sum = (values) => values.slice(-FEW).reduce((a, b) => a + b, 0);
  if (!done.length) return null;
  const [ok, bad] = [sum(done), sum(failed)];
  const rate = ((ok + bad) * 60) / Math.max(60, now() - history.at.at(-FEW));
  return {
    rate: rate >= 10 ? count(Math.round(rate)) : rate.toFixed(1),
    ratio: ok + bad ? bad / (ok + bad) : 0,
    share: ok + bad ? `${((100 * bad) / (ok + bad)).toFixed(1)} %` : null,
  };
}

const Figure = ({ title, value, note, hot, children }) => html`<div class=${`figure${hot ? " hot" : ""}`}><h2>${title}</h2><p class="value">${value}</p><p class="quiet">${note}</p>${children}</div>`;

function Attention({ seen }) {
  const failures = useData("failures", { since: 86400 }, { every: 30 });
  const breakers = useData("breakers", {}, { every: 30, when: sees("breakers") });
  const found = [...queuesIn(seen), ...workersGone(seen), ...open(breakers.data), ...groups(failures.data)];
  return html`<${Card} title="Needs attention">
    ${found.length ? html`<ul class="attention">${found.slice(0, 8).map((one) => html`<li key=${one.key}><span class=${`mark ${one.bad ? "bad" : "warn"}`}><${Icon} name=${one.icon} /></span><a href=${one.href}>${one.what}</a><span class="quiet">${one.why}</span></li>`)}</ul>`
    : html`<p class="fine"><${Icon} name="check" />All is well: no queue waits for workers, no breaker is open, nothing failed lately.</p>`}
  </${Card}>`;
}

function queuesIn(seen) {
  const served = new Set((seen.workers ?? []).filter((one) => !one.stale).flatMap((one) => Object.keys(one.queues)));
  return seen.queues.flatMap((one) => {
    const href = to(["queues", one.queue]);
    if (one.paused && one.ready) return [{ key: `p${one.queue}`, icon: "pause", href, what: `${one.queue} is paused`, why: `${many(one.ready, "ready job")} ${one.ready === 1 ? "waits" : "wait"}` }];
    if (one.ready && seen.workers && !served.has(one.queue) && !served.has("*")) return [{ key: `n${one.queue}`, bad: true, icon: "workers", href, what: `${one.queue} has no worker`, why: `${many(one.ready, "ready job")} ${one.ready === 1 ? "waits" : "wait"}` }];
    return [];
  });
}

const workersGone = (seen) => (seen.workers ?? []).filter((one) => one.stale).map((one) => ({ key: `w${one.id}`, icon: "workers", href: to(["workers"]), what: `Worker ${one.host} fell silent`, why: html`last seen <${Ago} at=${one.heartbeat_at} />` }));

const open = (data) => (data?.breakers ?? []).filter((one) => one.state !== "closed").map((one) => ({ key: `b${one.name}`, bad: true, icon: "breakers", href: to(["breakers"]), what: `Breaker ${one.name} is ${one.state}`, why: one.problem ?? "" }));

const groups = (data) => (data?.groups ?? []).slice(0, 4).map((one) => ({ key: `f${one.fingerprint}`, bad: true, icon: "failures", href: to(["jobs"], { where: one.where }), what: `${count(one.count)} × ${one.task}${one.kind ? `: ${one.kind}` : ""}`, why: one.text }));

const START = `from ferryman import Ferry

ferry = Ferry()

@ferry.task()
def hello(name: str) -> str:
    return f"Hello, {name}!"

hello.push("Ada")`;

const Start = () => html`<${Empty}><h2>Nothing here yet</h2><p>Put this into <code>app.py</code>, run it, and start a worker with <code>ferryman work app:ferry</code>.</p><${Code} text=${START} label="Copy the lines" /></${Empty}>`;
