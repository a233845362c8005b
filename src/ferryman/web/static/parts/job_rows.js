import { html, useEffect, useRef } from "../html.js";
import { brief } from "../exact.js";
import { Ago, now, Since, stamp } from "../time.js";
import { A, JobLink } from "./bits.js";
import { State, TERMINAL } from "./state.js";

export function JobRows({ rows, gone, selection, label = "Jobs" }) {
  const body = useRef(null);
  useEffect(() => body.current?.querySelector(".cursor")?.scrollIntoView({ block: "nearest" }), [selection?.cursor]);
  const all = selection && rows.length > 0 && selection.chosen.size === rows.length;
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}><table class="jobs"><thead><tr>
    ${selection && html`<th scope="col" class="tick"><input type="checkbox" aria-label="Select all on this page" checked=${all} onChange=${selection.all} /></th>`}
    <th scope="col">State</th><th scope="col">Job</th><th scope="col" class="mid">Queue</th><th scope="col" class="wide">Input</th><th scope="col" class="num mid">Attempts</th><th scope="col" class="num mid">Took</th><th scope="col" class="num">Age</th></tr></thead>
    <tbody ref=${body}>${rows.map((job, index) => html`<${Row} key=${job.id} job=${job} index=${index} selection=${selection} gone=${gone?.has(job.id)} />`)}</tbody></table></div>`;
}

function Row({ job, index, selection, gone }) {
  const cursor = selection?.cursor === index;
  const picked = selection?.chosen.has(job.id);
  return html`<tr class=${[cursor && "cursor", picked && "picked", gone && "gone"].filter(Boolean).join(" ")} aria-selected=${selection ? Boolean(picked) : undefined}>
    ${selection && html`<td class="tick"><input type="checkbox" aria-label=${`Select ${job.id}`} checked=${picked} onClick=${(event) => selection.toggle(index, event.shiftKey)} /></td>`}
    <td><${State} state=${job.state} job=${job} />${gone && html`<span class="quiet"> moved on</span>`}</td>
    <th scope="row"><div class="job"><span class="task">${job.task}</span><${JobLink} id=${job.id} />${job.tenant && html`<span class="tag">${job.tenant}</span>`}${job.priority !== 0 && html`<span class="tag" title="Priority">p ${job.priority}</span>`}</div>${job.error && job.state !== "completed" && html`<div class="error-line">${job.error.split("\n", 1)[0]}</div>`}${job.percent !== null && !TERMINAL.has(job.state) && html`<${Progress} job=${job} />`}</th>
    <td class="mid"><${A} parts=${["queues", job.queue]}>${job.queue}</${A}></td>
    <td class="wide"><span class="input mono">${job.payload === null ? "–" : brief(job.payload, 80)}</span></td>
    <td class="num mid">${job.attempts}<span class="quiet">/${job.max_attempts}</span></td>
    <td class="num mid">${took(job)}</td>
    <td class="num"><${Ago} at=${when(job)} plain=${true} /></td>
  </tr>`;
}

const took = (job) => (job.started_at && (job.finished_at || job.state === "processing") ? html`<${Since} from=${job.started_at} until=${job.finished_at} />` : "–");

// What is to come is told by when it comes, the rest by when it was pushed.
const when = (job) => (job.state === "pending" && stamp(job.ready_at) > now() ? job.ready_at : job.created_at);

export const Progress = ({ job }) => html`<div class="progress"><progress max="100" value=${job.percent} aria-label=${`Progress of ${job.id}`} /><span>${Math.round(job.percent)} %${job.note ? ` · ${job.note}` : ""}</span></div>`;
