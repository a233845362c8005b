import { get, path } from "../api.js";
import { html } from "../html.js";
import { ask, may, quoted } from "./act.js";
import { Icon } from "./icons.js";

const waiting = async (name) => {
  const { states } = await get(`queues/${path(name)}`);
  return { matched: states.pending + states.paused, allowed: states.pending + states.paused };
};

const ACTS = {
  pause: { verb: "Pause", role: "operator", icon: "pause", text: "No more claims. Jobs that run go on, pushes are accepted.", count: waiting },
  resume: { verb: "Resume", role: "operator", icon: "play", text: "Jobs are claimed again.", count: waiting },
  purge: { verb: "Purge", role: "admin", icon: "trash", danger: true, text: "Deletes every pending and paused job of this queue. This cannot be undone.", count: waiting },
};

function askQueue(act, name, done) {
  const { count, ...words } = ACTS[act];
  ask({
    ...words,
    title: `${words.verb} the queue ${name}?`,
    where: `queues/${path(name)}/${act}`,
    cli: `ferryman queues ${act} ${quoted(name)}${act === "purge" ? " --yes" : ""}`,
    count: act === "resume" ? undefined : () => count(name),
    typed: act === "purge" ? name : null,
    said: `${words.verb} ${name}: done.`,
    done,
  });
}

export function QueueActs({ queue, small = false, done }) {
  const acts = [queue.paused ? "resume" : "pause", ...(small ? [] : ["purge"])].filter((act) => may(ACTS[act].role));
  return html`<span class="acts">${acts.map((act) => html`<button type="button" key=${act} class=${small ? "plain small" : ACTS[act].danger ? "danger ghost" : ""} onClick=${() => askQueue(act, queue.queue, done)}
    aria-label=${`${ACTS[act].verb} ${queue.queue}`}><${Icon} name=${ACTS[act].icon} />${ACTS[act].verb}</button>`)}</span>`;
}
