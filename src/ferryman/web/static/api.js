// Requests to /v1, and how they fail.
import { parse } from "./exact.js";
import { signal } from "./signal.js";

// The page may be mounted under any path.
export const ROOT = new URL("./", document.baseURI).pathname;

export const me = signal(null);

// Nobody is there any more: the page asks for a token.
export const signedOut = () => me.set({ ...me.value, role: null });

export class Problem extends Error {
  constructor(status, body = {}) {
    super(body.detail || body.title || `HTTP ${status}`);
    this.status = status;
    this.code = body.code ?? "";
    this.hint = body.hint ?? "";
  }
  // Nobody answered, or somebody in between did.
  get unreachable() {
    return this.status === 0 || this.status === 502 || this.status === 504;
  }
  get storeAway() {
    return this.status === 503;
  }
  get unsupported() {
    return this.status === 501 || this.code === "unsupported";
  }
}

export const path = (...parts) => parts.map(encodeURIComponent).join("/");

export function get(where, query = {}, signal = undefined) {
  const search = new URLSearchParams(Object.entries(query).filter(([, v]) => v !== null && v !== undefined && v !== ""));
  return ask("GET", `v1/${where}${search.size ? `?${search}` : ""}`, undefined, signal);
}

export const post = (where, body) => ask("POST", `v1/${where}`, body);
export const remove = (where) => ask("DELETE", `v1/${where}`);

async function ask(method, where, body, signal) {
  const headers = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  if (method !== "GET" && me.value?.csrf) headers["x-csrf-token"] = me.value.csrf;
  let answer, text;
  try {
    answer = await fetch(ROOT + where, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      cache: "no-store",
      signal,
    });
    text = await answer.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "The server does not answer." });
  }
  if (answer.ok) return text ? parse(text) : null;
  if (answer.status === 401) signedOut();
  throw new Problem(answer.status, read(text));
}

function read(text) {
  try {
    const body = JSON.parse(text);
    return typeof body === "object" && body ? body : {};
  } catch {
    return {};
  }
}
