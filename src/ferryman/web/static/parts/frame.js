// The frame of every page: where one is, how fresh it is, and what is wrong right now.
import { me, remove, signedOut } from "../api.js";
import { html, useEffect, useState } from "../html.js";
import { GO, help, useKeys } from "../keys.js";
import { link, overview, paused, useAside } from "../live.js";
import { to, go } from "../router.js";
import { sees } from "../session.js";
import { useSignal } from "../signal.js";
import { theme, toggle } from "../theme.js";
import { span, zone } from "../time.js";
import { count } from "./bits.js";
import { Icon } from "./icons.js";

const STALE = 20_000;

export function Top({ open, toggle: turn }) {
  const who = useSignal(me);
  const shade = useSignal(theme);
  const hours = useSignal(zone);
  useKeys({ l: () => paused.set(!paused.value), t: toggle, "?": () => help.set(true), "/": search, Escape: () => (turn && open ? turn() : false) });
  const environment = who.environment ?? "";
  return html`<header class="top">
    <button type="button" class="plain burger" aria-label="Menu" aria-expanded=${open} aria-controls="rail" onClick=${turn}><${Icon} name="menu" /></button>
    <a class="brand" href="#/" aria-label="Ferryman, overview"><svg class="logo" viewBox="0 0 24 24" aria-hidden="true"><path d="M12 3v10M12 4l6 7h-6M4 14h16l-2.5 4h-11z" /><path class="wave" d="M3 21c1.5 0 1.5-.8 3-.8s1.5.8 3 .8 1.5-.8 3-.8 1.5.8 3 .8 1.5-.8 3-.8 1.5.8 3 .8" /></svg><span>Ferryman</span></a>
    ${environment && html`<span class=${`badge env${/prod/i.test(environment) ? " hot" : ""}`} title="Environment">${environment}</span>`}
    <span class="badge store" title=${promises(who.capabilities)}>${who.backend}</span>
    <form class="find" role="search" aria-label="Find jobs anywhere" onSubmit=${find}><${Icon} name="search" /><input id="find" name="where" aria-label="Find jobs" placeholder="Find jobs: id, task, error, queue:mail …" autocomplete="off" spellcheck=${false} maxlength="2000" /><kbd>/</kbd></form>
    <${Live} />
    <button type="button" class="plain zone" aria-label=${`Times are ${hours === "utc" ? "UTC" : "local"}, change`} title="Time zone" onClick=${() => zone.set(hours === "utc" ? "local" : "utc")}>${hours === "utc" ? "UTC" : "local"}</button>
    <button type="button" class="plain" aria-label=${shade === "dark" ? "Light theme" : "Dark theme"} title="Theme (t)" onClick=${toggle}><${Icon} name=${shade === "dark" ? "sun" : "moon"} /></button>
    <button type="button" class="plain wide-only" aria-label="Keyboard and help" title="Help (?)" onClick=${() => help.set(true)}><${Icon} name="help" /></button>
    <span class="who" title=${`You are ${who.name}`}><span class="who-name">${who.name}</span><span class="quiet">${who.role}</span></span>
    ${who.csrf && html`<button type="button" class="plain" aria-label="Sign out" title="Sign out" onClick=${leave}><${Icon} name="out" /></button>`}
  </header>`;
}

const search = () => (document.getElementById("where") ?? document.getElementById("find")).focus();

function find(event) {
  event.preventDefault();
  const where = event.target.elements.where.value.trim();
  event.target.reset();
  go(["jobs"], { where });
}

async function leave() {
  await remove("session").catch(() => null);
  signedOut();
}

function promises(capabilities) {
  if (!capabilities) return undefined;
  const has = (name, yes, no) => (capabilities[name] ? yes : no);
  return [
    has("durable", "durable", "not durable"),
    has("shared", "shared between processes", "one process only"),
    has("fenced", "fenced claims", "claims without fences"),
    `order: ${capabilities.order}`,
  ].join(" · ");
}

function Live() {
  const held = useSignal(paused);
  const now = useSignal(link);
  const [, redraw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => redraw((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  const silent = Date.now() - now.heard;
  let [kind, text] = [now.state, now.state];
  if (held) [kind, text] = ["paused", "paused"];
  else if (now.heard && silent > STALE && now.state !== "hidden") [kind, text] = ["stale", `stale ${span(Math.floor(silent / 1000))}`];
  else if (now.state === "polling") text = "live, every 5 s";
  return html`<button type="button" class=${`live ${kind}`} aria-pressed=${held} aria-label=${`Updates: ${text}. ${held ? "Go on" : "Pause"}`}
    title="Live updates (l)" onClick=${() => paused.set(!held)}><span class="lamp" /><span>${text}</span></button>`;
}

const RAIL = [
  ["", "Overview", "o"],
  ["queues", "Queues", "q"],
  ["jobs", "Jobs", "j"],
  ["failures", "Failures", "f"],
  ["pipelines", "Pipelines", "p"],
  ["schedules", "Schedules", "s"],
  ["workers", "Workers", "w"],
  ["breakers", "Limits", "b"],
  ["health", "Health", "h"],
  ["audit", "Audit", "a"],
  ["keys", "API keys", null],
];

export function Rail({ open, place }) {
  const seen = useSignal(overview);
  const failed = seen?.states?.failed;
  const here = place === "runs" ? "pipelines" : place;
  const items = RAIL.filter(([name]) => sees(name));
  return html`<nav id="rail" class=${`rail${open ? " open" : ""}`} aria-label="Pages"><ul>
    ${items.map(([name, text, key]) => html`<li key=${name}><a href=${to(name ? [name] : [])} aria-current=${here === name ? "page" : undefined}>
      <${Icon} name=${name || "overview"} /><span>${text}</span>
      ${name === "failures" && failed ? html`<span class="tally">${failed > 9999 ? "10k+" : count(failed)}</span>` : key && html`<kbd>g ${key}</kbd>`}</a></li>`)}
  </ul>
  <p class="rail-foot quiet">Ferryman ${me.value?.version ?? ""}</p></nav>`;
}

const WRONG = {
  server: "The server does not answer. What you see may be out of date; this page goes on by itself when it is back.",
  store: "The store cannot be reached. What you see may be out of date; nothing is lost, and this page goes on by itself when it is back.",
};

export function Banner() {
  const { trouble } = useSignal(link);
  const seen = useSignal(overview);
  const aside = useAside();
  const idle = (seen?.queues ?? []).filter((one) => !one.paused && one.ready > 0);
  const nobody = seen?.workers && idle.length && !seen.workers.some((worker) => !worker.stale);
  if (trouble)
    return html`<div class="banner bad" role="alert" data-trouble=${trouble.kind}><${Icon} name="warning" /><p>${WRONG[trouble.kind]}
      <span class="quiet"> ${trouble.kind === "store" ? trouble.text : ""} Since ${new Date(trouble.since).toLocaleTimeString("sv-SE")}.</span></p></div>`;
  if (nobody)
    return html`<div class="banner warn" role="status"><${Icon} name="warning" /><p><strong>No worker is alive</strong> and ${idle.length === 1 ? html`<a href=${to(["queues", idle[0].queue])}>${idle[0].queue}</a> has` : `${idle.length} queues have`} jobs that are ready. <code>ferryman work app:ferry</code> starts one.</p></div>`;
  if (aside.length)
    return html`<div class="banner warn" role="status"><${Icon} name="warning" /><p>${count(aside.length)} things were set aside because they could not be used. ${sees("health") && html`<a href="#/health">Health</a> says which.`}</p></div>`;
  return null;
}

export const keys = () => [
  ...Object.entries(GO).filter(([, [name]]) => sees(name)).map(([key, [name]]) => [`g ${key}`, `go to ${name}`]),
  ["/", "search or filter"],
  ["j, k", "next, previous row"],
  ["enter", "open the row"],
  ["x", "select the row"],
  ["r", "retry the row, the selected, or this job"],
  ["c", "cancel the same"],
  ["l", "live updates on or off"],
  ["t", "light or dark"],
  ["?", "this help"],
  ["esc", "close, clear the selection, or go back to the list"],
];
