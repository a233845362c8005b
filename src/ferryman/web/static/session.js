// Who is looking: a session cookie, got for a token once.
import { get, me, post } from "./api.js";

// Pages about the whole store are not for keys that are confined to some queues.
const WHOLE = new Set(["pipelines", "runs", "schedules", "breakers", "health", "audit", "keys"]);
const ADMIN = new Set(["audit", "keys"]);

export const sees = (page) => !(WHOLE.has(page) && me.value?.queues) && (!ADMIN.has(page) || me.value?.role === "admin");

export async function enter() {
  const token = new URLSearchParams(location.search).get("token") ?? new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    // Out of the address bar before anything else, so that it is in no history and no screenshot.
    history.replaceState(null, "", location.pathname);
    await post("session", { token }).catch(() => null);
    dispatchEvent(new HashChangeEvent("hashchange"));
  }
  await refresh();
}

export async function refresh() {
  try {
    me.set(await get("me"));
  } catch (error) {
    me.set({ ...me.value, role: null, problem: error.status === 401 ? null : error });
  }
}
