// Acts ask first: how many jobs, and the same thing as a command and as a request.
import { html, useEffect, useRef, useState } from "../html.js";
import { me, post, remove, ROOT } from "../api.js";
import { signal, useSignal } from "../signal.js";
import { Code, count, say, Trouble } from "./bits.js";
import { Dialog } from "./dialog.js";
import { Icon } from "./icons.js";

const RANKS = ["viewer", "operator", "editor", "admin"];

export const may = (role) => RANKS.indexOf(me.value?.role) >= RANKS.indexOf(role);

const asked = signal(null);

// {title, text, method, where, body, cli, count(): Promise<{matched, allowed}>, typed, verb, done(answer)}
export const ask = (act) => asked.set({ ...act, key: Symbol("act") });

export function Acts() {
  const act = useSignal(asked);
  // A dialog that was left may tell so only after the next one has been asked for.
  const close = () => asked.value === act && asked.set(null);
  return act && html`<${Ask} key=${act.key} act=${act} close=${close} />`;
}

function Ask({ act, close }) {
  const [counted, setCounted] = useState(act.count ? null : {});
  const [error, setError] = useState(null);
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const first = useRef(null);

  useEffect(() => {
    let here = true;
    act.count?.().then((found) => here && setCounted(found), (problem) => here && setError(problem));
    return () => (here = false);
  }, []);
  useEffect(() => first.current?.focus(), [counted === null]);

  const run = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const answer = act.method === "DELETE" ? await remove(act.where) : await post(act.where, act.body);
      close();
      if (act.said) say(typeof act.said === "function" ? act.said(answer) : act.said);
      act.done?.(answer, counted);
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const none = counted?.allowed === 0;
  const ready = counted !== null && !none && !busy && (!act.typed || typed === act.typed);
  return html`<${Dialog} title=${act.title} onClose=${close}>
    <form onSubmit=${run}>
      ${act.text && html`<p>${act.text}</p>`}
      ${act.count && html`<p class="counted" role="status"><${Counted} counted=${counted} error=${error} /></p>`}
      ${act.typed && html`<label class="field">Type <strong class="mono">${act.typed}</strong> to confirm
        <input ref=${first} value=${typed} onInput=${(event) => setTyped(event.target.value)} autocomplete="off" spellcheck=${false} /></label>`}
      <details class="same"><summary><${Icon} name="terminal" />The same from a terminal</summary>
        <${Code} text=${act.cli} label="Copy the command" /><${Code} text=${curl(act)} label="Copy the request" /></details>
      ${error && html`<${Trouble} error=${error} />`}
      <div class="dialog-acts">
        <button type="button" onClick=${close}>Keep as it is</button>
        <button type="submit" ref=${act.typed ? undefined : first} class=${act.danger ? "danger" : "primary"} disabled=${!ready}>${act.verb}</button>
      </div>
    </form>
  </${Dialog}>`;
}

function Counted({ counted, error }) {
  if (error) return "It could not be counted.";
  if (!counted) return "Counting…";
  if (counted.allowed === undefined) return "";
  const rest = counted.matched - counted.allowed;
  return html`<strong>${count(counted.allowed)}</strong> ${counted.allowed === 1 ? "job" : "jobs"}${counted.complete === false ? ", or more: it takes too long to count them all" : ""}
    ${rest > 0 && html`<span class="quiet"> · ${count(rest)} more match, but their state does not allow it</span>`}`;
}

// -- the same elsewhere

export const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${String(text).replaceAll("'", `'\\''`)}'`);

export function curl({ method = "POST", where, body }) {
  const data = body === undefined ? "" : ` -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}`;
  return `curl -X ${method} -H "Authorization: Bearer $FERRYMAN_KEY"${data} ${quoted(`${location.origin}${ROOT}v1/${where}`)}`;
}
