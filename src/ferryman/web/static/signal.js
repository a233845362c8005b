// A value that components can watch.
import { useEffect, useState } from "./html.js";

export function signal(value) {
  const watchers = new Set();
  return {
    get value() {
      return value;
    },
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const watcher of [...watchers]) watcher(value);
    },
    watch(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}

export function useSignal(source) {
  const [, redraw] = useState(0);
  useEffect(() => source.watch(() => redraw((n) => n + 1)), [source]);
  return source.value;
}

// A choice that outlives the page, in this browser only.
export function kept(name, initial) {
  const key = `ferryman.${name}`;
  let value = initial;
  try {
    value = JSON.parse(localStorage.getItem(key)) ?? initial;
  } catch {
    localStorage.removeItem(key);
  }
  const source = signal(value);
  source.watch((next) => localStorage.setItem(key, JSON.stringify(next)));
  return source;
}
