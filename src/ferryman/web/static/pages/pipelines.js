// Pipelines and their runs: which input is in which stage.
import { path } from "../api.js";
import { html } from "../html.js";
import { useData } from "../data.js";
import { go } from "../router.js";
import { Ago, Since } from "../time.js";
import { A, Card, Code, Empty, Head, short, Standing } from "../parts/bits.js";
import { Graph, shapeOf } from "../parts/graph.js";
import { Shares, State, STATES } from "../parts/state.js";
import { Pager } from "../parts/table.js";

const FEW = 5;
const MANY = 20;

export function Pipelines({ name = null, query }) {
  const asked = useData("pipelines", {}, { every: 60 });
  const pipelines = (asked.data?.pipelines ?? []).filter((one) => name === null || one.pipeline === name);
  return html`<${Head} title=${name ?? "Pipelines"} lead=${name === null ? "Stages joined by queues; a run is one passage of one input." : html`<${A} parts=${["pipelines"]}>All pipelines</${A}>`} />
    <${Standing} of=${asked} what="pipelines">
      ${pipelines.map((one) => html`<${Pipeline} key=${one.pipeline} one=${one} alone=${name !== null} many=${pipelines.length} after=${name === null ? null : query.get("after")} />`)}
      ${asked.data && !pipelines.length && html`<${Card}><${Empty} icon="pipelines"><p>${name === null ? "No pipeline has had a run here." : `No run of ${name} was found.`}</p><${Code} text='ferry.pipeline("gazette", discover >> archive >> extract)' /></${Empty}></${Card}>`}
    </${Standing}>`;
}

// However many there are, together they ask the store as often as one would.
function Pipeline({ one, alone, many, after }) {
  const runs = useData("runs", { pipeline: one.pipeline, limit: alone ? MANY : FEW, after }, { every: 15 * many, live: !after, queue: one.stages.map((stage) => stage.queue) });
  const rows = runs.data?.runs ?? [];
  const stages = shapeOf(one);
  return html`<${Card} title=${one.pipeline} id=${`p-${one.pipeline.replace(/\W/g, "")}`} aside=${!alone && html`<${A} parts=${["pipelines", one.pipeline]}>All its runs</${A}>`}>
    <${Graph} stages=${stages} label=${`Stages of ${one.pipeline}`} />
    <${Standing} of=${runs} what="runs">${rows.length ? html`<div class="scroll" tabindex="0" role="region" aria-label=${`Runs of ${one.pipeline}`}><table class="runs">
      <thead><tr><th scope="col">Run</th><th scope="col">State</th>${stages.map((stage) => html`<th scope="col" class="mid" key=${stage.name}>${stage.name}</th>`)}<th scope="col" class="num wide">Took</th><th scope="col" class="num">Started</th></tr></thead>
      <tbody>${rows.map((run) => html`<${Row} key=${run.run} run=${run} stages=${stages} />`)}</tbody></table></div>` : html`<p class="quiet">No runs are kept.</p>`}</${Standing}>
    ${alone && runs.data && html`<${Pager} next=${runs.data.next} first=${!after} onNext=${() => go(["pipelines", one.pipeline], { after: runs.data.next })} onFirst=${() => go(["pipelines", one.pipeline])} />`}
  </${Card}>`;
}

// The list has the counts of its runs, unless they are large: then each counts its own, rarely.
function Row({ run, stages }) {
  const large = run.stages === null ? `runs/${path(run.run)}` : null;
  const whole = useData(large, {}, { every: 60, live: run.state === "running", again: run.state }).data ?? run;
  const counts = Object.fromEntries((whole.stages ?? []).map((one) => [one.stage, one]));
  return html`<tr><th scope="row"><${A} class="mono" parts=${["runs", run.run]} title=${run.run}>${short(run.run)}</${A}></th><td><${State} state=${run.state} /></td>
    ${stages.map((stage) => html`<td class="mid" key=${stage.name}><${Cell} counts=${counts[stage.name]} /></td>`)}
    <td class="num wide">${whole.stages ? html`<${Since} from=${whole.started_at} until=${whole.finished_at} />` : "–"}</td><td class="num"><${Ago} at=${run.started_at} /></td></tr>`;
}

function Cell({ counts }) {
  const all = counts ? STATES.reduce((sum, state) => sum + counts[state], 0) : 0;
  if (!all) return html`<span class="zero">–</span>`;
  return html`<span class="cell"><${Shares} counts=${counts} /><span class="quiet">${counts.completed}/${all}</span></span>`;
}
