// What can be done to jobs, one or many.
import { get, path, post } from "../api.js";
import { bulkStarted } from "./bulk.js";
import { ask, may, quoted } from "./act.js";
import { ALLOWS } from "./state.js";

const WORDS = {
  retry: { verb: "Retry", role: "operator", icon: "retry", text: "A new budget of attempts, ready now." },
  cancel: { verb: "Cancel", role: "operator", icon: "cancel", text: "What waits is cancelled; what runs is asked to stop." },
  pause: { verb: "Pause", role: "operator", icon: "pause", text: "What waits is held; what runs is asked to stop at a safe point." },
  resume: { verb: "Resume", role: "operator", icon: "play", text: "Paused jobs go on, from their checkpoint." },
  delete: { verb: "Delete", role: "admin", icon: "trash", danger: true, text: "Forgets jobs with their errors, logs and results. This cannot be undone." },
};

export const actsOn = (state) => Object.keys(WORDS).filter((act) => ALLOWS[act].has(state) && may(WORDS[act].role));
export const bulkActs = () => Object.keys(WORDS).filter((act) => may(WORDS[act].role));
export const wordsOf = (act) => WORDS[act];

export function askOne(act, job, done) {
  const words = WORDS[act];
  ask({
    ...words,
    title: `${words.verb} this job?`,
    method: act === "delete" ? "DELETE" : "POST",
    where: act === "delete" ? `jobs/${path(job.id)}` : `jobs/${path(job.id)}/${act}`,
    cli: `ferryman jobs ${act} ${quoted(job.id)}${act === "delete" ? " --yes" : ""}`,
    count: async () => {
      const { state } = await get(`jobs/${path(job.id)}`);
      return { matched: 1, allowed: ALLOWS[act].has(state) ? 1 : 0 };
    },
    typed: act === "delete" ? "delete" : null,
    said: `${words.verb}: done.`,
    done,
  });
}

export function askWhere(act, where, done) {
  const words = WORDS[act];
  const sure = ["delete", "retry", "cancel"].includes(act) ? " --yes" : "";
  ask({
    ...words,
    title: `${words.verb} all that match?`,
    text: `${words.text} Filter: ${where}`,
    where: "bulk",
    body: { act, where },
    cli: `ferryman jobs ${act} --where ${quoted(where)}${sure}`,
    count: () => post("bulk/preview", { act, where }),
    typed: act === "delete" ? "delete" : null,
    done: (answer, counted) => {
      bulkStarted({ ...answer, expected: counted.matched });
      done?.();
    },
  });
}

// The same for chosen ids: a filter that names them.
export const whereIds = (ids) => `id:${ids.map((id) => `"${id.replace(/[\\"]/g, "\\$&")}"`).join(",")}`;
