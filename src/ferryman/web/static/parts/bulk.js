// Acts on many jobs while they go on: they belong to the store, so closing the page stops nothing.
import { get, path, post } from "../api.js";
import { html, useEffect } from "../html.js";
import { quiet } from "../live.js";
import { signal, useSignal } from "../signal.js";
import { count, say } from "./bits.js";

const running = signal([]);

export const bulkStarted = (bulk) => running.set([...running.value, bulk]);

export function Bulks() {
  const shown = useSignal(running);
  useEffect(() => {
    if (!shown.length) return undefined;
    const timer = setInterval(refresh, 700);
    return () => clearInterval(timer);
  }, [shown.length]);
  return shown.length ? html`<div class="bulks">${shown.map((bulk) => html`<${Bulk} key=${bulk.id} bulk=${bulk} />`)}</div>` : null;
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

async function refresh() {
  if (quiet()) return;
  for (const bulk of running.value) {
    try {
      const now = await get(`bulk/${path(bulk.id)}`);
      const over = now.state !== "running";
      running.set(running.value.flatMap((one) => (one.id === bulk.id ? (over ? [] : [{ ...now, expected: bulk.expected }]) : [one])));
      if (over) {
        const refused = now.refused ? `, ${count(now.refused)} refused` : "";
        say(`${now.act}: ${count(now.done)} done${refused}.`, now.state === "failed" ? "bad" : "good");
      }
    } catch (error) {
      if (error.status === 404) running.set(running.value.filter((one) => one.id !== bulk.id));
    }
  }
}
