// A list of jobs that stands still: what is new waits behind a button, what changed changes in place.
import { useEffect, useRef, useState } from "../html.js";

// `page` is the newest look at the same list. Answers {rows, fresh, gone, show}.
export function useStill(page, key) {
  const [held, hold] = useState({ key: null, ids: [], jobs: new Map() });
  const latest = useRef(page);
  latest.current = page;
  const take = () => {
    const jobs = latest.current?.jobs ?? [];
    hold({ key, ids: jobs.map((job) => job.id), jobs: new Map(jobs.map((job) => [job.id, job])) });
  };
  const current = held.key === key;
  useEffect(() => {
    // An empty list has no rows that could move.
    if (page && (!current || !held.ids.length)) take();
  }, [page, key]);
  // Until the first answer to another question, the rows of the one before.
  if (!page) return { rows: held.ids.map((id) => held.jobs.get(id)), fresh: 0, gone: new Set(), show: take };
  if (!current) return { rows: page.jobs, fresh: 0, gone: new Set(), show: take };
  const now = new Map(page.jobs.map((job) => [job.id, job]));
  const fresh = page.jobs.filter((job) => !held.jobs.has(job.id)).length;
  // Newest first: a row that is missing although an older one is there no longer belongs here.
  const lastSeen = held.ids.findLastIndex((id) => now.has(id));
  const gone = new Set(held.ids.filter((id, index) => !now.has(id) && (index < lastSeen || page.next === null)));
  return { rows: held.ids.map((id) => now.get(id) ?? held.jobs.get(id)), fresh, gone, show: take };
}

export function useSelection(rows) {
  const [chosen, choose] = useState(new Set());
  const [cursor, setCursor] = useState(-1);
  const anchor = useRef(-1);
  const ids = rows.map((job) => job.id);
  const toggle = (index, range = false) => {
    const next = new Set(chosen);
    const on = !next.has(ids[index]);
    const [from, to] = range && anchor.current >= 0 ? [Math.min(anchor.current, index), Math.max(anchor.current, index)] : [index, index];
    for (let i = from; i <= to; i++) on || range ? next.add(ids[i]) : next.delete(ids[i]);
    anchor.current = index;
    choose(next);
  };
  return {
    chosen,
    cursor,
    toggle,
    clear: () => choose(new Set()),
    all: () => choose(new Set(chosen.size === ids.length ? [] : ids)),
    move: (by) => setCursor(Math.max(0, Math.min(ids.length - 1, cursor + by))),
    setCursor,
  };
}
