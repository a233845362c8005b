// What keeps the page up to date: one stream of changes, else a look every five seconds.
import { get, Problem, ROOT, signedOut } from "./api.js";
import { parse } from "./exact.js";
import { useEffect } from "./html.js";
import { kept, signal, useSignal } from "./signal.js";
import { learn } from "./time.js";

const POLL = 5_000;
const LONGEST_PAUSE = 5_000;
// The stream sends a heartbeat every 15 s.
const SILENCE = 35_000;
const AGAIN = 2_000;

export const overview = signal(null);
// What was set aside: the stream does not tell, whoever asks for the whole overview does.
const aside = signal([]);
// Grows with every change; `queues` names those it was about, null for any.
export const change = signal({ number: 0, queues: null });
export const paused = kept("paused", false);
// live, polling, reconnecting or hidden; and what is wrong, in words.
export const link = signal({ state: "reconnecting", trouble: null, heard: 0 });

let stop = null;
let last = "";
let streaming = false;
let doubt = 0;

export const quiet = () => paused.value || document.hidden;

export function start() {
  paused.watch(renew);
  document.addEventListener("visibilitychange", renew);
  renew();
}

function renew() {
  stop?.abort();
  stop = null;
  if (quiet()) {
    link.set({ ...link.value, state: document.hidden ? "hidden" : "paused", trouble: null });
    return;
  }
  stop = new AbortController();
  follow(stop.signal);
}

// The newest that is known, of a whole overview that a page has got or of one before.
export function useAside(whole = null) {
  useEffect(() => {
    if (whole) aside.set(whole.set_aside);
  }, [whole]);
  return useSignal(aside);
}

async function follow(signal) {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      await stream(signal, () => (failures = 0));
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 401) return signedOut();
    }
    if (signal.aborted) return;
    if (failures) await look(signal);
    await pause(link.value.state === "polling" ? POLL : Math.min(LONGEST_PAUSE, 500 * 2 ** failures), signal);
  }
}

async function look(signal) {
  try {
    const whole = await get("overview", {}, signal);
    aside.set(whole.set_aside);
    seen(whole, null);
    heard(streaming ? "live" : "polling");
  } catch (error) {
    if (!signal.aborted && error.status !== 401) lost(error);
  }
}

async function stream(signal, opened) {
  const own = new AbortController();
  const end = () => own.abort();
  signal.addEventListener("abort", end);
  let watchdog = setTimeout(end, SILENCE);
  try {
    const answer = await fetch(`${ROOT}v1/events`, {
      headers: { accept: "text/event-stream", ...(last && { "last-event-id": last }) },
      credentials: "same-origin",
      cache: "no-store",
      signal: own.signal,
    });
    if (!answer.ok) throw new Problem(answer.status);
    opened();
    streaming = true;
    heard("live");
    // Whatever happened before the stream was open.
    bump(null);
    const lines = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await lines.read();
      if (done) throw new Problem(0);
      clearTimeout(watchdog);
      watchdog = setTimeout(end, SILENCE);
      const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
      rest = blocks.pop();
      if (!link.value.trouble) heard("live");
      blocks.forEach(take);
    }
  } finally {
    streaming = false;
    clearTimeout(watchdog);
    signal.removeEventListener("abort", end);
  }
}

function take(block) {
  const field = (name) =>
    block.split("\n").filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trimStart()).join("\n");
  last = field("id") || last;
  const data = field("data");
  if (field("event") !== "change" || !data) return;
  const body = parse(data);
  if (body.outage) {
    lost(new Problem(503, { detail: body.outage }));
    return;
  }
  const back = link.value.trouble !== null;
  heard("live");
  seen(body.overview, back ? null : body.queues);
}

function seen(body, queues) {
  if (body) {
    learn(body.at);
    overview.set(body);
  }
  bump(queues);
}

const bump = (queues) => change.set({ number: change.value.number + 1, queues });

function heard(state) {
  link.set({ state, trouble: null, heard: Date.now() });
}

// Also called by any request of a page that got no answer. That may be late news, and a stream
// that is well tells only changes: so the page looks again until there is an answer.
export function lost(error) {
  if (quiet()) return;
  if (streaming && !doubt) doubt = setTimeout(lookAgain, AGAIN);
  const kind = error.storeAway ? "store" : "server";
  const since = link.value.trouble?.kind === kind ? link.value.trouble.since : Date.now();
  link.set({ ...link.value, state: "reconnecting", trouble: { kind, since, text: error.message } });
}

function lookAgain() {
  doubt = 0;
  if (stop && streaming && link.value.trouble) look(stop.signal);
}

const pause = (ms, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
