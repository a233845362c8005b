// Pages by the fragment of the address, so that they work under any mount point: #/jobs?where=…
import { signal } from "./signal.js";

export const route = signal(read());

function read() {
  const [where, search = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  let parts;
  try {
    parts = where.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    parts = ["not found"];
  }
  return { parts, query: new URLSearchParams(search), hash: location.hash };
}

addEventListener("hashchange", () => route.set(read()));

export function to(parts, query = {}) {
  const search = new URLSearchParams(Object.entries(query).filter(([, v]) => v !== null && v !== undefined && v !== ""));
  return `#/${parts.map(encodeURIComponent).join("/")}${search.size ? `?${search}` : ""}`;
}

export const go = (parts, query) => {
  location.hash = to(parts, query);
};

// Another query of the same page, without a step in the history for each key that is typed.
export function adjust(query) {
  const { parts, query: now } = route.value;
  history.replaceState(null, "", to(parts, { ...Object.fromEntries(now), ...query }));
  route.set(read());
}
