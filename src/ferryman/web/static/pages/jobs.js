import { html, useEffect, useMemo, useState } from "../html.js";
import { useData } from "../data.js";
import { valuesOf, withTerm } from "../filter.js";
import { useKeys } from "../keys.js";
import { overview } from "../live.js";
import { go } from "../router.js";
import { kept, useSignal } from "../signal.js";
import { quoted } from "../parts/act.js";
import { Card, Code, count, Empty, Head, Trouble } from "../parts/bits.js";
import { Icon } from "../parts/icons.js";
import { askOne, askWhere, bulkActs, whereIds, wordsOf } from "../parts/job_acts.js";
import { JobRows } from "../parts/job_rows.js";
import { knownFrom, Query } from "../parts/query.js";
import { useSelection, useStill } from "../parts/rows.js";
import { STATES } from "../parts/state.js";
import { Pager } from "../parts/table.js";

const PAGE = 50;
const views = kept("views", []);

export function Jobs({ query }) {
  const where = query.get("where") ?? "";
  const after = query.get("after");
  const seen = useSignal(overview);
  const asked = useData("jobs", { where, after, limit: PAGE }, { every: 5, live: !after, beat: after ? 0 : 5 });
  const counts = useData("jobs/counts", { where: withTerm(where, "state", []) }, { every: 10 });
  const page = asked.data;
  const { rows, fresh, gone, show } = useStill(page, `${where}\n${after}`);
  const selection = useSelection(rows);
  const known = useMemo(() => knownFrom(seen, rows), [seen, rows.length, where]);
  const find = (next) => go(["jobs"], { where: next });
  const acted = () => (selection.clear(), asked.reload(), counts.reload());
  useJobKeys({ rows, selection, where, acted });

  return html`<${Head} title="Jobs" lead=${reach(asked.data)}><${Views} where=${where} find=${find} /></${Head}>
    <${Query} where=${where} known=${known} error=${asked.error?.status === 422 || asked.error?.status === 400 ? asked.error : null} onWhere=${find} />
    <${Chips} where=${where} counts=${counts.data} find=${find} />
    <${Bar} where=${where} selection=${selection} rows=${rows} acted=${acted} total=${matching(where, counts.data)} />
    ${asked.error && asked.error.status !== 422 && asked.error.status !== 400 && !page ? html`<${Trouble} error=${asked.error} />` : ""}
    <${Card}>
      ${(fresh > 0 || gone.size > 0) && html`<div class="fresh"><button type="button" class="pill" onClick=${show}>${fresh > 0 ? `${fresh >= PAGE ? `${PAGE}+` : fresh} new, show` : "Show the list as it is now"}</button></div>`}
      ${rows.length && !(asked.error && !page) ? html`<${JobRows} rows=${rows} gone=${gone} selection=${selection} />` : page && !asked.error && html`<${Nothing} where=${where} />`}
      ${asked.loading && html`<p class="quiet loading" role="status">Loading jobs…</p>`}
      ${page && html`<${Pager} next=${page.next} first=${!after} onNext=${() => go(["jobs"], { where, after: page.next })} onFirst=${() => find(where)} />`}
    </${Card}>
    <${Elsewhere} where=${where} />`;
}

// How far a search over payloads got within its time.
const reach = (page) => (page && page.complete === false ? `Looked at the newest ${count(page.scanned)} jobs only: add state:, queue: or age: to look at the rest.` : null);

function useJobKeys({ rows, selection, where, acted }) {
  const { cursor, chosen } = selection;
  const act = (name) => () => {
    if (!bulkActs().includes(name)) return false;
    if (chosen.size) return askWhere(name, whereIds([...chosen]), acted);
    return rows[cursor] ? askOne(name, rows[cursor], acted) : false;
  };
  useKeys({
    j: () => selection.move(1),
    k: () => selection.move(-1),
    x: () => (cursor >= 0 ? selection.toggle(cursor) : false),
    X: () => (cursor >= 0 ? selection.toggle(cursor, true) : false),
    Enter: (event) => (event.target.closest("a, button, summary") || cursor < 0 ? false : go(["jobs", rows[cursor].id])),
    r: act("retry"),
    c: act("cancel"),
    Escape: () => (chosen.size ? selection.clear() : where ? go(["jobs"]) : false),
  });
}

function Chips({ where, counts, find }) {
  const on = valuesOf(where, "state");
  const turn = (state) => find(withTerm(where, "state", on.includes(state) ? on.filter((one) => one !== state) : [...on, state]));
  return html`<div class="chips" role="group" aria-label="States">${STATES.map((state) => html`<button type="button" key=${state} class=${`chip s-${state}`} aria-pressed=${on.includes(state)} onClick=${() => turn(state)}>
    ${state} <strong>${counts ? `${count(counts.states[state] ?? 0)}${counts.more && counts.states[state] ? "+" : ""}` : "·"}</strong></button>`)}</div>`;
}

function matching(where, counts) {
  if (!counts) return null;
  const on = valuesOf(where, "state");
  const states = on.length ? on : STATES;
  return { n: states.reduce((sum, state) => sum + (counts.states[state] ?? 0), 0), more: Boolean(counts.more) };
}

function Bar({ where, selection, rows, acted, total }) {
  const [all, setAll] = useState(false);
  const many = selection.chosen.size;
  useEffect(() => setAll(false), [where, many === 0]);
  const filter = all ? where : whereIds([...selection.chosen]);
  if (!many) return null;
  const whole = where && total && (total.more || total.n > many);
  return html`<div class="bar" role="toolbar" aria-label="Selected jobs">
    <strong>${all ? "All that match" : `${count(many)} selected`}</strong>
    ${whole && !all && many === rows.length ? html`<button type="button" class="small" onClick=${() => setAll(true)}>Select all ${count(total.n)}${total.more ? "+" : ""} that match</button>` : ""}
    ${bulkActs().map((act) => html`<button type="button" key=${act} class=${wordsOf(act).danger ? "danger ghost small" : "small"} onClick=${() => askWhere(act, filter, acted)}><${Icon} name=${wordsOf(act).icon} />${wordsOf(act).verb}</button>`)}
    <button type="button" class="plain small" onClick=${selection.clear}>Clear</button>
  </div>`;
}

const Nothing = ({ where }) => html`<${Empty} icon="jobs"><p>${where ? "No job matches." : "No jobs yet."}</p>${where && html`<p><a href="#/jobs">Show all jobs</a></p>`}</${Empty}>`;

const Elsewhere = ({ where }) => html`<details class="same"><summary><${Icon} name="terminal" />This list from a terminal</summary>
  <${Code} text=${`ferryman jobs list${where ? ` ${where.startsWith("-") ? "-- " : ""}${quoted(where)}` : ""}`} label="Copy the command" /></details>`;

function Views({ where, find }) {
  const saved = useSignal(views);
  const here = saved.includes(where);
  const turn = () => views.set(here ? saved.filter((one) => one !== where) : [...saved, where].slice(-20));
  return html`<span class="views">
    ${saved.length > 0 && html`<select aria-label="Saved views" value=${here ? where : ""} onChange=${(event) => find(event.target.value)}><option value="">Saved views</option>${saved.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select>`}
    ${where && html`<button type="button" aria-pressed=${here} onClick=${turn}><${Icon} name="star" />${here ? "Saved" : "Save view"}</button>`}</span>`;
}
