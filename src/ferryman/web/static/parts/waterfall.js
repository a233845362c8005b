// The jobs of a run along the time: waiting pale, running full. Many siblings are folded.
import { html, useState } from "../html.js";
import { now, span, stamp } from "../time.js";
import { count, JobLink } from "./bits.js";
import { State, STATES } from "./state.js";

const FOLD = 50;
const SHOWN = 8;

export const BARRIER = "ferryman.barrier";

export function Waterfall({ stages, counts, jobs }) {
  const [open, setOpen] = useState(new Set());
  if (!jobs.length) return html`<p class="quiet">No jobs to show.</p>`;
  const from = Math.min(...jobs.map((job) => stamp(job.created_at)));
  const to = Math.max(...jobs.map((job) => stamp(job.finished_at) ?? (job.started_at ? now() : stamp(job.created_at))), from + 0.001);
  const scale = { from, to, at: (seconds) => ((seconds - from) / (to - from)) * 1000 };
  const by = Map.groupBy(jobs, (job) => job.meta.stage);
  const turn = (name) => setOpen(new Set(open.has(name) ? [...open].filter((one) => one !== name) : [...open, name]));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Waterfall"><table class="waterfall">
    <thead><tr><th scope="col">Job</th><th scope="col">State</th><th scope="col" class="axis">0 … ${span(to - from)}</th><th scope="col" class="num">Took</th></tr></thead>
    ${stages.map((stage) => html`<${Group} key=${stage.name} name=${stage.name} jobs=${by.get(stage.name) ?? []} counts=${counts[stage.name]} scale=${scale} open=${open.has(stage.name)} turn=${() => turn(stage.name)} />`)}
  </table></div>`;
}

function Group({ name, jobs, counts, scale, open, turn }) {
  const sorted = [...jobs].sort((a, b) => stamp(a.created_at) - stamp(b.created_at) || (a.id < b.id ? -1 : 1));
  const all = STATES.reduce((sum, state) => sum + (counts?.[state] ?? 0), 0);
  const folded = sorted.length > FOLD && !open;
  // What went wrong is never folded away.
  const shown = folded ? [...sorted.filter((job) => job.state === "failed").slice(0, SHOWN), ...sorted.filter((job) => job.state !== "failed").slice(0, SHOWN)] : sorted;
  return html`<tbody><tr class="stage-row"><th scope="rowgroup" colspan="4">${name} <span class="quiet">${count(all)} ${all === 1 ? "job" : "jobs"}</span></th></tr>
    ${shown.map((job) => html`<tr key=${job.id}><th scope="row"><${JobLink} id=${job.id} />${job.task === BARRIER && html` <span class="tag">waits for all before</span>`}</th><td><${State} state=${job.state} job=${job} /></td><td class="axis"><${Bars} job=${job} scale=${scale} /></td><td class="num">${took(job)}</td></tr>`)}
    ${folded && html`<tr class="folded"><td colspan="2"><button type="button" class="small" onClick=${turn}>Show ${count(sorted.length - shown.length)} more</button></td><td class="axis"><${Whole} jobs=${sorted} scale=${scale} /></td><td></td></tr>`}
    ${open && sorted.length > FOLD && html`<tr class="folded"><td colspan="4"><button type="button" class="small" onClick=${turn}>Fold ${name}</button></td></tr>`}
    ${all > sorted.length && html`<tr class="folded"><td colspan="4" class="quiet">${count(all - sorted.length)} jobs of this stage are not drawn: the newest ${count(sorted.length)} are.</td></tr>`}
  </tbody>`;
}

const took = (job) => (job.started_at ? span((stamp(job.finished_at) ?? now()) - stamp(job.started_at)) : "–");

function Bars({ job, scale }) {
  const pushed = stamp(job.created_at);
  const started = stamp(job.started_at);
  const ended = stamp(job.finished_at) ?? (job.state === "processing" ? now() : started);
  return html`<svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
    <${Bar} from=${scale.at(pushed)} to=${scale.at(started ?? scale.to)} kind="f-wait" />
    ${started !== null && html`<${Bar} from=${scale.at(started)} to=${scale.at(ended)} kind=${`f-${job.state}`} />`}</svg>`;
}

function Whole({ jobs, scale }) {
  const starts = jobs.map((job) => stamp(job.started_at)).filter((at) => at !== null);
  if (!starts.length) return null;
  const ends = jobs.map((job) => stamp(job.finished_at) ?? now());
  return html`<svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true"><${Bar} from=${scale.at(Math.min(...starts))} to=${scale.at(Math.max(...ends))} kind="f-completed" /></svg>`;
}

const Bar = ({ from, to, kind }) => html`<rect class=${kind} x=${Math.max(0, from)} y="1" height="8" width=${Math.max(2, to - from)} />`;
