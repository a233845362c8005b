// The query bar: a text field with suggestions, by mouse or keyboard.
import { html, useId, useMemo, useRef, useState } from "../html.js";
import { suggestions } from "../filter.js";
import { Icon } from "./icons.js";

const MOST = 9;

export function Query({ where, known, error, onWhere }) {
  // What is written belongs to the filter it began with: another filter brings its own text.
  const [draft, setDraft] = useState({ where, text: where });
  const text = draft.where === where ? draft.text : where;
  const setText = (next) => setDraft({ where, text: next });
  const [at, setAt] = useState(null);
  const [chosen, setChosen] = useState(-1);
  const field = useRef(null);
  const id = useId();
  const found = useMemo(() => (at === null ? { choices: [] } : suggestions(text, at, known)), [text, at, known]);
  const choices = found.choices.slice(0, MOST);
  const open = choices.length > 0;

  const close = () => (setAt(null), setChosen(-1));
  const submit = (event) => {
    event?.preventDefault();
    close();
    onWhere(text.trim());
  };
  const take = (choice) => {
    const end = /[:.]$/.test(choice.text) ? "" : " ";
    const next = text.slice(0, found.from) + choice.text + end + text.slice(found.to).trimStart();
    const caret = found.from + choice.text.length + end.length;
    setText(next);
    setChosen(-1);
    setAt(caret);
    requestAnimationFrame(() => (field.current.focus(), field.current.setSelectionRange(caret, caret)));
  };
  const typed = (event) => (setText(event.target.value), setAt(event.target.selectionStart), setChosen(-1));
  const keys = (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!open) setAt(event.target.selectionStart);
      else if (event.key === "ArrowDown") setChosen((chosen + 1) % choices.length);
      else setChosen(chosen > 0 ? chosen - 1 : choices.length - 1);
    } else if ((event.key === "Enter" || event.key === "Tab") && open && chosen >= 0) {
      event.preventDefault();
      take(choices[chosen]);
    } else if (event.key === "Escape") {
      if (at === null) field.current.blur();
      close();
      event.stopPropagation();
    }
  };
  return html`<form class="query" role="search" aria-label="Filter this list" onSubmit=${submit}>
    <${Icon} name="search" />
    <input id="where" ref=${field} value=${text} onInput=${typed} onKeyDown=${keys} onClick=${(event) => setAt(event.target.selectionStart)} onBlur=${close}
      role="combobox" aria-label="Filter jobs" aria-expanded=${open} aria-controls=${`${id}-l`} aria-autocomplete="list" aria-invalid=${Boolean(error)}
      aria-describedby=${error ? `${id}-e` : undefined} aria-activedescendant=${chosen >= 0 ? `${id}-${chosen}` : undefined}
      placeholder='state:failed queue:mail error:"no answer" payload.user.id:42 age:>1h' autocomplete="off" spellcheck=${false} maxlength="2000" />
    ${text && html`<button type="button" class="plain" aria-label="Clear the filter" onClick=${() => (setText(""), close(), onWhere(""))}><${Icon} name="cancel" /></button>`}
    <button type="submit" class="primary">Find</button>
    <ul id=${`${id}-l`} role="listbox" aria-label="Suggestions" hidden=${!open}>${choices.map((choice, index) => html`<li key=${choice.text} id=${`${id}-${index}`} role="option" aria-selected=${index === chosen}
      onMouseDown=${(event) => (event.preventDefault(), take(choice))}><code>${choice.text}</code><span class="quiet">${choice.note}</span></li>`)}</ul>
    ${error && html`<p id=${`${id}-e`} class="query-error" role="alert">${error.message}</p>`}
  </form>`;
}

// Names and payload paths to suggest: those of the store, and what the jobs on the page hold.
export function knownFrom(overview, jobs) {
  const names = (of) => [...new Set(of)].filter(Boolean).map((text) => (/[\s",]/.test(text) ? JSON.stringify(text) : text));
  const paths = new Set();
  const values = {
    state: ["pending", "processing", "completed", "failed", "cancelled", "paused"],
    queue: names((overview?.queues ?? []).map((one) => one.queue)),
    task: names(jobs.map((job) => job.task)),
    worker: names(jobs.map((job) => job.worker)),
    tenant: names(jobs.map((job) => job.tenant)),
    key: names(jobs.map((job) => job.key)).slice(0, 20),
    correlation_id: names(jobs.map((job) => job.correlation_id)).slice(0, 20),
    age: [">1h", "<15m", "<1h", "<1d"],
    finished: ["<15m", "<1h", "<1d", ">1d"],
    attempts: [">1", ">=3"],
    priority: [">0", "0", "<0"],
  };
  for (const job of jobs) walk(job.payload, "payload", paths, values, 0);
  for (const job of jobs) walk(job.meta, "meta", paths, values, 0);
  return { paths: [...paths].sort(), values };
}

function walk(value, at, paths, values, depth) {
  if (depth > 4 || value === null || typeof value !== "object" || Array.isArray(value)) return;
  for (const [key, item] of Object.entries(value).slice(0, 30)) {
    if (!/^[\w-]+$/.test(key)) continue;
    const path = `${at}.${key}`;
    if (item !== null && typeof item === "object" && !("text" in item)) walk(item, path, paths, values, depth + 1);
    else {
      paths.add(path);
      const text = String(item);
      const list = (values[path] ??= []);
      if (text.length < 40 && list.length < 12) {
        const shown = /[\s",]/.test(text) ? JSON.stringify(text) : text;
        if (!list.includes(shown)) list.push(shown);
      }
    }
  }
}
