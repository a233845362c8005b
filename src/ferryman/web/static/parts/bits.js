// Small things that every page uses.
import { html, useEffect, useRef, useState } from "../html.js";
import { signal, useSignal } from "../signal.js";
import { to } from "../router.js";
import { Icon } from "./icons.js";

export const count = (n) => (n === null || n === undefined ? "–" : Number(n).toLocaleString("en"));

export const many = (n, one, more = `${one}s`) => `${count(n)} ${n === 1 ? one : more}`;

export const short = (id) => (id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id);

export const A = ({ parts, query, children, ...rest }) => html`<a href=${to(parts, query)} ...${rest}>${children}</a>`;

export const JobLink = ({ id, whole = false }) =>
  html`<a class="mono" href=${to(["jobs", id])} title=${whole ? undefined : id}>${whole ? id : short(id)}</a>`;

export function Head({ title, lead, children }) {
  useEffect(() => {
    document.title = typeof title === "string" ? `${title} · Ferryman` : "Ferryman";
  }, [title]);
  return html`<header class="head">
    <div class="head-text"><h1 id="title" tabindex="-1">${title}</h1>${lead && html`<p class="lead">${lead}</p>`}</div>
    <div class="head-acts">${children}</div>
  </header>`;
}

export const Card = ({ title, aside, children, id }) => html`
  <section class="card" aria-labelledby=${title ? `${id ?? slug(title)}-t` : undefined}>
    ${title && html`<div class="card-head"><h2 id=${`${id ?? slug(title)}-t`}>${title}</h2>${aside}</div>`}
    ${children}
  </section>`;

const slug = (text) => String(text).toLowerCase().replace(/[^a-z]+/g, "-");

// What a page says while it has nothing, or got an error instead.
export function Standing({ of, what, children }) {
  if (of.data) return children;
  if (of.error?.unsupported) return html`<div class="empty"><${Icon} name="help" /><p>${of.error.message}</p></div>`;
  if (of.error) return html`<${Trouble} error=${of.error} />`;
  return html`<p class="quiet loading" role="status">Loading ${what}…</p>`;
}

export const Trouble = ({ error }) => html`
  <div class="note bad" role="alert"><${Icon} name="warning" /><div><p>${error.message}</p>${error.hint && html`<p class="quiet">${error.hint}</p>`}</div></div>`;

export const Empty = ({ icon = "boat", children }) => html`<div class="empty"><${Icon} name=${icon} />${children}</div>`;

// Text with a button that copies it; also on plain HTTP, where the clipboard API is not there.
export function Copy({ text, label = "Copy" }) {
  const [done, setDone] = useState(false);
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    await intoClipboard(text);
    setDone(true);
    say("Copied.");
    timer.current = setTimeout(() => setDone(false), 1500);
  };
  return html`<button type="button" class="plain" onClick=${copy} aria-label=${`${label}: ${text.slice(0, 60)}`} title=${label}>
    <${Icon} name=${done ? "check" : "copy"} /></button>`;
}

async function intoClipboard(text) {
  if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  document.execCommand("copy");
  return area.remove();
}

export const Code = ({ text, label }) => html`<div class="code"><code>${text}</code><${Copy} text=${text} label=${label ?? "Copy"} /></div>`;

// -- what was done, said once and read out

const said = signal([]);
let number = 0;

export function say(text, kind = "good") {
  const one = { key: ++number, text, kind };
  said.set([...said.value.slice(-2), one]);
  setTimeout(() => said.set(said.value.filter((other) => other !== one)), kind === "bad" ? 9000 : 4000);
}

export function Said() {
  const lines = useSignal(said);
  return html`<div class="said" role="status" aria-live="polite">
    ${lines.map((one) => html`<p key=${one.key} class=${`toast ${one.kind}`}><${Icon} name=${one.kind === "bad" ? "warning" : "check"} />${one.text}</p>`)}
  </div>`;
}
