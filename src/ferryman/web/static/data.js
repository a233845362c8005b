// What a page shows: asked once, and again when something changed.
import { get } from "./api.js";
import { useCallback, useEffect, useRef, useState } from "./html.js";
import { change, lost, paused, quiet } from "./live.js";
import { useSignal } from "./signal.js";
import { learn, now } from "./time.js";

// Whatever takes long to answer is asked for less often, so that a page costs little of the store.
const SHARE = 20;
const LONGEST = 60_000;

// `where` null, or `when` false, asks nothing. `every` is the least time in seconds between two
// looks, `queue` (or several) leaves out changes that are about others only, `again` asks anew when it is
// another, `beat` asks every so many seconds also when no count has changed: progress, heartbeats.
export function useData(where, query = {}, { every = 1, queue = null, live = true, again = null, beat = 0, when = true } = {}) {
  const key = where === null || !when ? null : JSON.stringify([where, query]);
  const [held, hold] = useState({ key: null, data: null, error: null });
  const looks = useRef({ at: 0, took: 0, timer: 0, running: null, again: false });
  useSignal(paused);

  const look = useCallback(async () => {
    const own = looks.current;
    if (key === null) return;
    if (own.running) {
      own.again = true;
      return;
    }
    const stop = (own.running = new AbortController());
    own.at = performance.now();
    try {
      const data = await get(where, query, stop.signal);
      if (stop.signal.aborted) return;
      own.took = performance.now() - own.at;
      if (data?.at) learn(data.at);
      hold({ key, data, error: null, at: new Date(now() * 1000).toISOString() });
    } catch (error) {
      if (error.name === "AbortError" || stop.signal.aborted) return;
      if (error.unreachable || error.storeAway) lost(error);
      hold((before) => ({ key, data: before.key === key ? before.data : null, error, at: before.at }));
    } finally {
      if (own.running === stop) own.running = null;
      if (own.again && !stop.signal.aborted) {
        own.again = false;
        soon();
      }
    }
  }, [key]);

  const soon = useCallback(() => {
    const own = looks.current;
    if (own.timer || quiet()) return;
    const least = Math.max(every * 1000, Math.min(LONGEST, own.took * SHARE));
    const wait = Math.max(0, own.at + least - performance.now());
    own.timer = setTimeout(() => {
      own.timer = 0;
      if (!quiet()) look();
    }, wait);
  }, [look, every]);

  useEffect(() => {
    look();
    const own = looks.current;
    return () => {
      own.running?.abort();
      own.running = null;
      own.again = false;
      clearTimeout(own.timer);
      own.timer = 0;
    };
  }, [look, again]);

  useEffect(() => {
    if (!live) return undefined;
    const own = [queue].flat();
    return change.watch(({ queues }) => {
      if (queue === null || queues === null || queues.some((one) => own.includes(one))) soon();
    });
  }, [soon, String(queue), live]);

  useEffect(() => {
    if (!beat) return undefined;
    const timer = setInterval(soon, beat * 1000);
    return () => clearInterval(timer);
  }, [soon, beat]);

  useEffect(() => {
    const own = looks.current;
    return paused.watch((now) => {
      if (!now) return;
      clearTimeout(own.timer);
      own.timer = 0;
    });
  }, []);

  const current = held.key === key;
  return {
    data: current ? held.data : null,
    error: current ? held.error : null,
    at: held.at,
    loading: key !== null && !current,
    reload: look,
  };
}
