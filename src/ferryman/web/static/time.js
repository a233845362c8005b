// Moments and durations for people; the store's clock is the one that counts.
import { html } from "./html.js";
import { kept, signal, useSignal } from "./signal.js";

export const zone = kept("zone", "local");
// Once a second, while anybody looks.
export const tick = signal(0);
let ahead = 0;

setInterval(() => document.hidden || tick.set(tick.value + 1), 1000);

export const stamp = (text) => (text === null || text === undefined ? null : Date.parse(text) / 1000);

// Called with the store's time whenever an answer carries it.
export function learn(at) {
  const there = stamp(at);
  if (there !== null) ahead = there - Date.now() / 1000;
}

export const now = () => Date.now() / 1000 + ahead;

export function span(seconds) {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return "–";
  // Clocks differ a little; a job never waited less than nothing.
  const s = Math.max(0, seconds);
  if (s < 0.001) return "0 ms";
  if (s < 1) return `${Math.max(1, Math.round(s * 1000))} ms`;
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 60) return `${Math.floor(s)} s`;
  if (s < 3600) return two(s, 60, "min", 1, "s");
  if (s < 86400) return two(s, 3600, "h", 60, "min");
  return two(s, 86400, "d", 3600, "h");
}

// One unit only, for axes.
export function coarse(s) {
  const [size, name] = s < 1 ? [0.001, "ms"] : s < 120 ? [1, "s"] : s < 7200 ? [60, "min"] : s < 172800 ? [3600, "h"] : [86400, "d"];
  return `${+(s / size).toFixed(1)} ${s ? name : "s"}`;
}

function two(s, large, largeName, small, smallName) {
  const whole = Math.floor(s / large);
  const rest = Math.floor((s % large) / small);
  return rest && whole < 10 ? `${whole} ${largeName} ${rest} ${smallName}` : `${whole} ${largeName}`;
}

export function moment(text) {
  if (!text) return "–";
  const utc = zone.value === "utc";
  return new Intl.DateTimeFormat("sv-SE", {
    dateStyle: "short",
    timeStyle: "medium",
    timeZone: utc ? "UTC" : undefined,
  }).format(new Date(text)) + (utc ? " UTC" : "");
}

export function clock(seconds, precise = false) {
  return new Intl.DateTimeFormat("sv-SE", {
    timeStyle: precise ? "medium" : "short",
    timeZone: zone.value === "utc" ? "UTC" : undefined,
  }).format(new Date(seconds * 1000));
}

export function When({ at }) {
  useSignal(zone);
  return at ? html`<time datetime=${at}>${moment(at)}</time>` : "–";
}

// "4 min ago" or "in 20 s", counting by itself.
export function Ago({ at, plain = false }) {
  useSignal(tick);
  useSignal(zone);
  if (!at) return "–";
  const passed = now() - stamp(at);
  const whole = (s) => (s < 60 ? `${Math.floor(s)} s` : span(s));
  const text = passed >= 0 ? `${whole(passed)}${plain ? "" : " ago"}` : `in ${whole(-passed)}`;
  return html`<time datetime=${at} title=${moment(at)}>${text}</time>`;
}

// Time that goes on since a moment, until another one if there is one.
export function Since({ from, until }) {
  useSignal(tick);
  if (!from) return "–";
  return span((until ? stamp(until) : now()) - stamp(from));
}
