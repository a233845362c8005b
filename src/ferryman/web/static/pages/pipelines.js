// Pipelines and their runs: which input is in which stage.
import { html, useState } from "../html.js";
import { useData } from "../data.js";
import { Ago } from "../time.js";
import { A, Card, Code, Empty, Head, short, Standing } from "../parts/bits.js";
import { Graph, shapeOf } from "../parts/graph.js";
import { Shares, State, STATES } from "../parts/state.js";
import { Table } from "../parts/table.js";

export function Pipelines({ name = null }) {
  const asked = useData("pipelines", {}, { every: 5 });
  const pipelines = (asked.data?.pipelines ?? []).filter((one) => name === null || one.pipeline === name);
  return html`<${Head} title=${name ?? "Pipelines"} lead=${name === null ? "Stages joined by queues; a run is one passage of one input." : html`<${A} parts=${["pipelines"]}>All pipelines</${A}>`} />
    <${Standing} of=${asked} what="pipelines">
      ${pipelines.map((one) => html`<${Pipeline} key=${one.pipeline} one=${one} alone=${name !== null} />`)}
      ${asked.data && !pipelines.length && html`<${Card}><${Empty} icon="pipelines"><p>${name === null ? "No pipeline has had a run here." : `No run of ${name} was found.`}</p><${Code} text='ferry.pipeline("gazette", discover >> archive >> extract)' /></${Empty}></${Card}>`}
    </${Standing}>`;
}

function Pipeline({ one, alone }) {
  const stages = shapeOf(one);
  const [few, setFew] = useState(alone ? 20 : 5);
  const runs = useData("runs", { pipeline: one.pipeline, limit: few }, { every: 2 });
  const rows = runs.data?.runs ?? [];
  const columns = [
    { key: "run", title: "Run", cell: (run) => html`<${A} class="mono" parts=${["runs", run.run]}>${short(run.run)}</${A}>` },
    { key: "state", title: "State", cell: (run) => html`<${State} state=${run.state} />` },
    ...stages.map((stage) => ({ key: stage.name, title: stage.name, kind: "mid", cell: (run) => html`<${Cell} run=${run} stage=${stage.name} />` })),
    { key: "started", title: "Started", kind: "num", cell: (run) => html`<${Ago} at=${run.started_at} />` },
  ];
  return html`<${Card} title=${one.pipeline} id=${`p-${one.pipeline.replace(/\W/g, "")}`} aside=${!alone && html`<${A} parts=${["pipelines", one.pipeline]}>All its runs</${A}>`}>
    <${Graph} stages=${stages} label=${`Stages of ${one.pipeline}`} />
    <${Standing} of=${runs} what="runs"><${Table} label=${`Runs of ${one.pipeline}`} columns=${columns} rows=${rows} keyOf=${(run) => run.run} empty=${html`<p class="quiet">No runs are kept.</p>`} /></${Standing}>
    ${alone && rows.length === few && few < 500 && html`<p class="more"><button type="button" onClick=${() => setFew(few * 5)}>More runs</button></p>`}
  </${Card}>`;
}

// The counts of a run are asked for by its row, so that a list stays one small question.
function Cell({ run, stage }) {
  const counts = run.stages?.find((one) => one.stage === stage);
  if (!counts) return html`<span class="zero">–</span>`;
  const all = STATES.reduce((sum, state) => sum + counts[state], 0);
  if (!all) return html`<span class="zero">–</span>`;
  const done = counts.completed;
  return html`<span class="cell"><${Shares} counts=${counts} /><span class="quiet">${done}/${all}</span></span>`;
}

