// The shell: who is there, what page, and the frame around it.
import { me } from "./api.js";
import { html, render, useEffect, useLayoutEffect, useState } from "./html.js";
import { start } from "./live.js";
import { route } from "./router.js";
import { enter } from "./session.js";
import { useSignal } from "./signal.js";
import { Acts } from "./parts/act.js";
import { Empty, Said } from "./parts/bits.js";
import { Bulks } from "./parts/bulk.js";
import { Help } from "./parts/help.js";
import { Banner, Rail, Top } from "./parts/frame.js";
import { Apikeys } from "./pages/keys.js";
import { Audit } from "./pages/audit.js";
import { Breakers } from "./pages/breakers.js";
import { Failures } from "./pages/failures.js";
import { Health } from "./pages/health.js";
import { Job } from "./pages/job.js";
import { Jobs } from "./pages/jobs.js";
import { Overview } from "./pages/overview.js";
import { Pipelines } from "./pages/pipelines.js";
import { Queue } from "./pages/queue.js";
import { Queues } from "./pages/queues.js";
import { Run } from "./pages/run.js";
import { Schedules } from "./pages/schedules.js";
import { SignIn } from "./pages/sign_in.js";
import { Workers } from "./pages/workers.js";

const PAGES = {
  queues: [Queues, Queue],
  jobs: [Jobs, Job],
  failures: [Failures],
  pipelines: [Pipelines, Pipelines],
  runs: [Pipelines, Run],
  schedules: [Schedules],
  workers: [Workers],
  breakers: [Breakers],
  health: [Health],
  audit: [Audit],
  keys: [Apikeys],
};

function Page({ parts, query }) {
  if (!parts.length) return html`<${Overview} />`;
  const [name, ...rest] = parts;
  const Shown = Object.hasOwn(PAGES, name) ? PAGES[name][rest.length] : undefined;
  if (!Shown) return html`<${Empty}><h1 id="title" tabindex="-1">No such page</h1><p><a href="#/">To the overview</a></p></${Empty}>`;
  return html`<${Shown} key=${parts.join("\n")} name=${rest[0]} query=${query} />`;
}

function App() {
  const who = useSignal(me);
  const { parts, query } = useSignal(route);
  const [open, setOpen] = useState(false);
  const [ready, setReady] = useState(false);
  const place = parts.join("/");

  useEffect(() => {
    enter().finally(() => setReady(true));
  }, []);
  useEffect(() => {
    if (who?.role) start();
  }, [who?.role]);
  useEffect(() => setOpen(false), [place]);
  useLayoutEffect(() => {
    // A new page begins at its top, also for those who hear it.
    scrollTo(0, 0);
    if (document.activeElement?.closest("nav")) document.getElementById("title")?.focus({ preventScroll: true });
  }, [place]);

  if (!ready) return html`<p class="boot" role="status">Loading…</p>`;
  if (!who?.role) return html`<${SignIn} />`;
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to the page</a>
    <${Top} open=${open} toggle=${() => setOpen(!open)} />
    <${Rail} open=${open} place=${parts[0] ?? ""} />
    <main id="main" tabindex="-1"><${Banner} /><${Bulks} /><${Page} parts=${parts} query=${query} /></main>
    <${Acts} /><${Help} /><${Said} />`;
}

function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

render(html`<${App} />`, document.getElementById("app"));
