// Acts on many jobs while they go on: they belong to the store, so closing the page stops nothing.
import { get, path, post } from "../api.js";
import { html, useEffect } from "../html.js";
import { quiet } from "../live.js";
import { signal, useSignal } from "../signal.js";
import { count, say } from "./bits.js";

const OFTEN = 1_500;
const RARELY = 30_000;

const running = signal([]);

export const bulkStarted = (bulk) => running.set([...running.value, bulk]);

export function Bulks() {
  const shown = useSignal(running);
  const any = shown.length > 0;
  useEffect(() => {
    if (!any) return undefined;
    let [timer, pause, here] = [0, OFTEN, true];
    const later = () => (timer = setTimeout(turn, pause));
    const turn = async () => {
      pause = (await refresh()) ? OFTEN : Math.min(RARELY, pause * 2);
      if (here) later();
    };
    later();
    return () => {
      here = false;
      clearTimeout(timer);
    };
  }, [any]);
  return any ? html`<div class="bulks">${shown.map((bulk) => html`<${Bulk} key=${bulk.id} bulk=${bulk} />`)}</div>` : null;
}

function Bulk({ bulk }) {
  const ended = bulk.done + bulk.refused;
  const stop = () => post(`bulk/${path(bulk.id)}/cancel`).catch((error) => say(error.message, "bad"));
  return html`<div class="note" role="status">
    <progress value=${ended} max=${Math.max(bulk.expected, ended, 1)} aria-label=${`${bulk.act} ${bulk.where}`} />
    <span><strong>${bulk.act}</strong> ${count(ended)} of ${count(Math.max(bulk.expected, ended))}</span>
    <button type="button" class="small" onClick=${stop}>Stop</button>
  </div>`;
}

// Whether all of them answered.
async function refresh() {
  if (quiet()) return true;
  let well = true;
  for (const bulk of running.value) {
    try {
      const now = await get(`bulk/${path(bulk.id)}`);
      const over = now.state !== "running";
      running.set(running.value.flatMap((one) => (one.id === bulk.id ? (over ? [] : [{ ...now, expected: bulk.expected }]) : [one])));
      if (over) told(now);
    } catch (error) {
      // Pruned, or not for this visitor's eyes: there is nothing more to learn about it.
      const never = [401, 403, 404].includes(error.status);
      if (never) running.set(running.value.filter((one) => one.id !== bulk.id));
      if (error.status === 403) say(`${bulk.act} was begun; how far it is may not be seen with this key.`);
      well &&= never;
    }
  }
  return well;
}

function told(bulk) {
  const refused = bulk.refused ? `, ${count(bulk.refused)} refused` : "";
  const stopped = bulk.state === "cancelled" ? ", then stopped" : "";
  say(`${bulk.act}: ${count(bulk.done)} done${refused}${stopped}.`, bulk.state === "failed" ? "bad" : "good");
}
