import { html, useState } from "../html.js";
import { useData } from "../data.js";
import { overview } from "../live.js";
import { useSignal } from "../signal.js";
import { Card, Empty, Head, many, Standing } from "../parts/bits.js";
import { QueueTable, served } from "../parts/queue_table.js";
import { QueueActs } from "../parts/queue_acts.js";

export function Queues() {
  const asked = useData("overview", {}, { live: false });
  const seen = useSignal(overview) ?? asked.data;
  const [wanted, setWanted] = useState("");
  const [sick, setSick] = useState(false);
  const all = seen?.queues ?? [];
  const shown = all.filter((one) => one.queue.toLowerCase().includes(wanted.toLowerCase()) && (!sick || unwell(one, seen.workers)));
  const acts = { key: "acts", title: html`<span class="hidden">Acts</span>`, kind: "acts", cell: (one) => html`<${QueueActs} queue=${one} small=${true} />` };
  return html`<${Head} title="Queues" lead=${seen && many(all.length, "queue")}>
      <label class="hidden" for="where">Find a queue</label><input id="where" type="search" placeholder="Find a queue" value=${wanted} onInput=${(event) => setWanted(event.target.value)} />
      <label class="check"><input type="checkbox" checked=${sick} onChange=${() => setSick(!sick)} /> Only unhealthy</label>
    </${Head}>
    <${Standing} of=${{ ...asked, data: seen }} what="queues"><${Card}>
      <${QueueTable} queues=${shown} workers=${seen?.workers} at=${seen?.at} extra=${[acts]} />
      ${!shown.length && html`<${Empty} icon="queues"><p>${all.length ? "No queue is like that." : "No queue yet: the first push makes one."}</p></${Empty}>`}
    </${Card}></${Standing}>`;
}

const unwell = (one, workers) => one.paused || (one.ready > 0 && served(one.queue, workers)?.length === 0) || one.oldest_ready > 300 || one.states.failed > 0;
