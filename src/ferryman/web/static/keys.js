// Keyboard: single keys, never inside inputs or dialogs; `g` and a letter goes to a page.
import { useLayoutEffect, useRef } from "./html.js";
import { kept, signal } from "./signal.js";
import { go } from "./router.js";
import { sees } from "./session.js";

export const GO = {
  o: ["overview", []],
  q: ["queues", ["queues"]],
  j: ["jobs", ["jobs"]],
  f: ["failures", ["failures"]],
  p: ["pipelines", ["pipelines"]],
  s: ["schedules", ["schedules"]],
  w: ["workers", ["workers"]],
  b: ["breakers", ["breakers"]],
  h: ["health", ["health"]],
  a: ["audit", ["audit"]],
};

export const enabled = kept("keys", true);
export const help = signal(false);

const layers = [];
let waiting = 0;

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (document.querySelector("dialog[open]") || busy(event.target)) return;
  if (!enabled.value && event.key !== "Escape") return;
  if (waiting && GO[event.key]) {
    done(event);
    if (sees(GO[event.key][0])) go(GO[event.key][1]);
    return;
  }
  if (event.key === "g") {
    done(event);
    waiting = setTimeout(() => (waiting = 0), 1500);
    return;
  }
  clear();
  for (const keys of [...layers].reverse()) {
    const act = keys.current[event.key];
    if (act && act(event) !== false) {
      event.preventDefault();
      return;
    }
  }
});

function done(event) {
  event.preventDefault();
  clear();
}

function clear() {
  clearTimeout(waiting);
  waiting = 0;
}

function busy(target) {
  if (!(target instanceof Element)) return false;
  return target.isContentEditable || target.matches("input, textarea, select");
}

// {key: act}; an act that returns false leaves the key to whoever is below.
export function useKeys(keys) {
  const held = useRef(keys);
  held.current = keys;
  // Before anybody can see the page: a key pressed then must not be lost.
  useLayoutEffect(() => {
    layers.push(held);
    return () => layers.splice(layers.indexOf(held), 1);
  }, []);
}
