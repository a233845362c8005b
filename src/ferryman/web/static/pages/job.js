import { path } from "../api.js";
import { html, useEffect, useState } from "../html.js";
import { useData } from "../data.js";
import { useKeys } from "../keys.js";
import { go } from "../router.js";
import { Ago, moment, now, Since, span, stamp, When } from "../time.js";
import { A, Card, Copy, Head, Standing } from "../parts/bits.js";
import { Icon } from "../parts/icons.js";
import { actsOn, askOne, wordsOf } from "../parts/job_acts.js";
import { Progress } from "../parts/job_rows.js";
import { Json } from "../parts/json.js";
import { plain } from "../parts/queue_table.js";
import { State, TERMINAL } from "../parts/state.js";
import { Timeline } from "../parts/timeline.js";

export function Job({ name }) {
  const [running, setRunning] = useState(false);
  const asked = useData(`jobs/${path(name)}`, {}, { every: 2.5, beat: running ? 1 : 10 });
  const job = asked.data;
  useEffect(() => setRunning(job?.state === "processing"), [job?.state]);
  const act = (which) => () => (job && actsOn(job.state).includes(which) ? askOne(which, job, asked.reload) : false);
  useKeys({ r: act("retry"), c: act("cancel"), Escape: () => history.length > 1 ? history.back() : go(["jobs"]) });
  return html`<${Head} title=${job?.task ?? "Job"} lead=${html`<span class="mono id">${name}</span><${Copy} text=${name} label="Copy the id" />`}>
      ${job && actsOn(job.state).map((which) => html`<button type="button" key=${which} class=${wordsOf(which).danger ? "danger ghost" : ""} onClick=${() => askOne(which, job, which === "delete" ? () => go(["jobs"]) : asked.reload)}><${Icon} name=${wordsOf(which).icon} />${wordsOf(which).verb}</button>`)}
    </${Head}>
    <${Standing} of=${asked} what="the job">${job && html`<${Body} job=${job} />`}</${Standing}>`;
}

const Body = ({ job }) => html`
  <div class=${`sentence card b-${job.state}`}><${State} state=${job.state} job=${job} /><p>${sentence(job)}</p>${job.percent !== null && html`<${Progress} job=${job} />`}</div>
  <${Timeline} job=${job} />
  <div class="pair">
    <div class="column">
      <${Card} title="Payload"><${Json} value=${job.payload} label="payload" /></${Card}>
      ${(job.result !== null || job.state === "completed") && html`<${Card} title="Result"><${Json} value=${job.result} label="result" /></${Card}>`}
      ${job.checkpoint !== null && html`<${Card} title="Checkpoint"><${Json} value=${job.checkpoint} label="checkpoint" /></${Card}>`}
      <${Attempts} job=${job} /><${Logs} lines=${job.logs ?? []} />
    </div>
    <${Facts} job=${job} />
  </div>`;

// Where the job is and why, as one would say it.
function sentence(job) {
  const asked = job.asked ? ` It was asked to ${job.asked} and stops at its next safe point.` : "";
  switch (job.state) {
    case "pending": {
      const late = stamp(job.ready_at) - now();
      if (job.attempts && job.error) return html`Waiting for attempt ${job.attempts + 1} of ${job.max_attempts}${late > 0 ? html`, due <${Ago} at=${job.ready_at} />` : ""}, because ${job.error.split("\n", 1)[0]}`;
      return late > 0 ? html`Scheduled: it may start <${Ago} at=${job.ready_at} />.` : html`Ready since <${Ago} at=${job.ready_at} plain=${true} />; a worker takes it by priority, then by age.`;
    }
    case "processing":
      return html`Attempt ${job.attempts} of ${job.max_attempts} runs since <${Since} from=${job.started_at} /> on ${job.worker}; its lease ends <${Ago} at=${job.expires_at} /> unless a heartbeat prolongs it.${asked}`;
    case "completed":
      return html`Completed after ${times(job.attempts)}, <${Ago} at=${job.finished_at} />.`;
    case "failed":
      return html`Failed for good after ${times(job.attempts)}: ${job.error?.split("\n", 1)[0] ?? "no reason was given"}`;
    case "cancelled":
      return html`Cancelled <${Ago} at=${job.finished_at} />.${job.error ? ` ${job.error.split("\n", 1)[0]}` : ""}`;
    default:
      return html`Paused: it waits until somebody resumes it${job.checkpoint === null ? "" : ", and goes on from its checkpoint"}.`;
  }
}

const times = (n) => (n === 1 ? "one attempt" : `${n} attempts`);

function Attempts({ job }) {
  const errors = [...(job.errors ?? [])].reverse();
  if (!errors.length) return null;
  return html`<${Card} title="Attempts that did not end well"><ol class="attempts">${errors.map((one, index) => html`<li key=${index}>
    <div class="attempt-head"><span class="tag bad">attempt ${one.attempt}</span><strong>${one.kind}</strong><span class="quiet"><${When} at=${one.at} />${one.worker ? ` · ${one.worker}` : ""}</span></div>
    <p class="error-text">${one.text}</p>
    ${one.traceback && html`<details open=${index === 0}><summary>Traceback</summary><div class="pre-acts"><${Copy} text=${one.traceback} label="Copy the traceback" /></div><pre tabindex="0" aria-label=${`Traceback of attempt ${one.attempt}`}>${one.traceback}</pre></details>`}
  </li>`)}</ol></${Card}>`;
}

function Logs({ lines }) {
  const [wanted, setWanted] = useState("");
  if (!lines.length) return null;
  const shown = lines.filter((line) => line.text.toLowerCase().includes(wanted.toLowerCase()));
  const aside = lines.length > 10 && html`<input type="search" aria-label="Find in the log" placeholder="Find" value=${wanted} onInput=${(event) => setWanted(event.target.value)} />`;
  return html`<${Card} title=${`Log, ${lines.length} lines`} id="log" aside=${aside}><ol class="log" tabindex="0" aria-label="Log lines">${shown.map((line, index) => html`<li key=${index}><time datetime=${line.at}>${moment(line.at).slice(11)}</time><span>${line.text}</span></li>`)}</ol></${Card}>`;
}

function Facts({ job }) {
  const rows = [
    ["Queue", html`<${A} parts=${["queues", job.queue]}>${job.queue}</${A}>`],
    ["Attempts", `${job.attempts} of ${job.max_attempts}${job.given_back ? `, given back ${job.given_back} times` : ""}`],
    ["Priority", job.priority],
    job.tenant && ["Tenant", job.tenant],
    ["Pushed", html`<${When} at=${job.created_at} />`],
    !TERMINAL.has(job.state) && ["Ready", html`<${When} at=${job.ready_at} />`],
    job.started_at && ["Last start", html`<${When} at=${job.started_at} />`],
    job.finished_at && ["Ended", html`<${When} at=${job.finished_at} />`],
    job.worker && ["Worker", html`<span class="mono">${job.worker}</span>`],
    job.state === "processing" && ["Lease until", html`<${Ago} at=${job.expires_at} />`],
    ["Fence", job.fence],
    ["Generation", job.generation],
    ["Version", job.version],
    job.timeout && ["Timeout", span(Number(job.timeout))],
    job.deadline && ["Deadline", html`<${When} at=${job.deadline} />`],
    job.key && ["Key", html`<${A} class="mono" parts=${["jobs"]} query=${{ where: `key:${plain(job.key)}` }}>${job.key}</${A}>`],
    job.correlation_id && ["Correlation", html`<${A} class="mono" parts=${["jobs"]} query=${{ where: `correlation_id:${plain(job.correlation_id)}` }}>${job.correlation_id}</${A}>`],
  ].filter(Boolean);
  const meta = Object.entries(job.meta ?? {});
  return html`<div class="column aside"><${Card} title="Facts"><dl class="facts">${rows.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></${Card}>
    ${meta.length > 0 && html`<${Card} title="Meta"><dl class="facts">${meta.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd><${Meta} name=${name} value=${value} /></dd></div>`)}</dl></${Card}>`}
    <${Card} title="Related"><ul class="plain-list">
      ${job.meta?.run && html`<li><${A} parts=${["runs", job.meta.run]}>Its run of ${job.meta.pipeline ?? "a pipeline"}</${A}></li>`}
      ${job.meta?.parent && html`<li><${A} parts=${["jobs", job.meta.parent]}>The job it follows from</${A}></li>`}
      <li><${A} parts=${["jobs"]} query=${{ where: `task:${plain(job.task)}` }}>Jobs of the same task</${A}></li>
      ${job.error && html`<li><${A} parts=${["jobs"]} query=${{ where: `task:${plain(job.task)} state:failed error:${plain(job.error.split("\n", 1)[0].slice(0, 60))}` }}>Jobs that failed the same way</${A}></li>`}
    </ul></${Card}></div>`;
}

const Meta = ({ name, value }) => (/^[\w-]+$/.test(name) && value !== "***" ? html`<${A} class="mono" parts=${["jobs"]} query=${{ where: `meta.${name}:${plain(value)}` }}>${value}</${A}>` : html`<span class="mono">${value}</span>`);
