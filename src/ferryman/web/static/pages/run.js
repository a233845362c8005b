import { path } from "../api.js";
import { html } from "../html.js";
import { useData } from "../data.js";
import { useKeys } from "../keys.js";
import { adjust, go } from "../router.js";
import { Ago, Since } from "../time.js";
import { ask, may, quoted } from "../parts/act.js";
import { A, Card, Copy, count, Head, Standing } from "../parts/bits.js";
import { Graph, shapeOf } from "../parts/graph.js";
import { Icon } from "../parts/icons.js";
import { JobRows } from "../parts/job_rows.js";
import { State, STATES } from "../parts/state.js";
import { BARRIER, Waterfall } from "../parts/waterfall.js";

const MOST = 500;
const ACTS = {
  cancel: ["Cancel", "cancel", ["running", "paused"], "Cancels what waits, and asks what runs to stop."],
  pause: ["Pause", "pause", ["running"], "Holds back what waits and what will be handed over."],
  resume: ["Resume", "play", ["paused"], "Goes on with what was held back."],
  retry: ["Retry", "retry", ["failed", "cancelled"], "Runs again what failed or was cancelled."],
};

export function Run({ name, query }) {
  const run = useData(`runs/${path(name)}`, {}, { every: 10 });
  const whole = run.data;
  const stage = query.get("stage");
  const failed = query.get("failed") === "1";
  const view = query.get("view") ?? "waterfall";
  // Its jobs are asked for again when their counts are others.
  const jobs = useData(`runs/${path(name)}/jobs`, { stage, state: failed ? "failed" : null, limit: MOST }, { live: false, again: JSON.stringify(whole?.stages) });
  useKeys({ Escape: () => go(["pipelines"]) });
  const stages = whole ? shapeOf(whole) : [];
  const counts = Object.fromEntries((whole?.stages ?? []).map((one) => [one.stage, one]));
  const shown = (jobs.data?.jobs ?? []).filter((job) => job.meta.stage in counts && !passed(job));
  return html`<${Head} title=${whole ? `Run of ${whole.pipeline}` : "Run"} lead=${html`<span class="mono id">${name}</span><${Copy} text=${name} label="Copy the id" />`}>
      ${whole && may("operator") && Object.keys(ACTS).filter((act) => ACTS[act][2].includes(whole.state)).map((act) => html`<button type="button" key=${act} onClick=${() => askRun(act, name, whole, null, run.reload)}><${Icon} name=${ACTS[act][1]} />${ACTS[act][0]}</button>`)}
      ${whole && may("operator") && stage && whole.state !== "running" && html`<button type="button" onClick=${() => askRun("retry", name, whole, stage, run.reload)}><${Icon} name="retry" />Again from ${stage}</button>`}
    </${Head}>
    <${Standing} of=${run} what="the run">${whole && html`
      <div class="sentence card"><${State} state=${whole.state} /><p><${A} parts=${["pipelines", whole.pipeline]}>${whole.pipeline}</${A}>, started <${Ago} at=${whole.started_at} />, ${whole.finished_at ? html`took <${Since} from=${whole.started_at} until=${whole.finished_at} />` : html`going on for <${Since} from=${whole.started_at} />`}. ${where(whole)}</p></div>
      <${Card} title="Stages"><${Graph} stages=${stages} counts=${counts} chosen=${stage} onChoose=${(next) => adjust({ stage: next })} label="Stages of this run" /></${Card}>
      <${Card} title=${stage ? `Jobs of ${stage}` : "Jobs"} aside=${html`<${Switch} view=${view} failed=${failed} />`}>
        <${Standing} of=${jobs} what="jobs">${view === "table" ? html`<${JobRows} rows=${shown} label="Jobs of this run" />` : html`<${Waterfall} stages=${stages.filter((one) => !stage || one.name === stage)} counts=${failed ? only(counts) : counts} jobs=${shown} />`}</${Standing}>
        ${jobs.data?.next && html`<p class="quiet">The newest ${count(shown.length)} jobs; choose a stage to see more of it.</p>`}
      </${Card}>`}
    </${Standing}>`;
}

// The engine's own job before a stage that collects; once it is over, only the stage is of interest.
const passed = (job) => job.task === BARRIER && job.state === "completed";

const only = (counts) => Object.fromEntries(Object.entries(counts).map(([name, one]) => [name, { failed: one.failed }]));

// Where its inputs are now.
function where(whole) {
  const going = whole.stages.filter((one) => one.pending || one.processing || one.paused);
  if (!going.length) return "";
  return `Now in ${going.map((one) => `${one.stage} (${count(one.pending + one.processing + one.paused)})`).join(", ")}.`;
}

const Switch = ({ view, failed }) => html`<span class="row-acts">
  <label class="check"><input type="checkbox" checked=${failed} onChange=${() => adjust({ failed: failed ? null : "1" })} /> Failed only</label>
  <span class="range" role="group" aria-label="View">${["waterfall", "table"].map((one) => html`<button type="button" key=${one} class="small" aria-pressed=${view === one} onClick=${() => adjust({ view: one })}>${one}</button>`)}</span></span>`;

function askRun(act, id, whole, stage, done) {
  const [verb, , , text] = ACTS[act];
  const sum = (states) => whole.stages.reduce((n, one) => n + states.reduce((m, state) => m + one[state], 0), 0);
  const told = { cancel: ["pending", "processing", "paused"], pause: ["pending", "processing"], resume: ["paused"], retry: ["failed", "cancelled"] }[act];
  const jobs = stage ? STATES.reduce((n, state) => n + (whole.stages.find((one) => one.stage === stage)?.[state] ?? 0), 0) : sum(told);
  ask({
    title: stage ? `Run again from ${stage}?` : `${verb} this run?`,
    text: stage ? `All jobs of ${stage} run again; what followed from them is forgotten and made anew.` : text,
    verb,
    where: `runs/${path(id)}/${act}`,
    body: stage ? { stage } : undefined,
    cli: `ferryman runs ${act} ${quoted(id)}${stage ? ` --stage ${quoted(stage)} --yes` : ""}`,
    count: async () => ({ matched: jobs, allowed: jobs }),
    said: (answer) => `${verb}: ${count(answer?.jobs ?? jobs)} jobs.`,
    done,
  });
}
