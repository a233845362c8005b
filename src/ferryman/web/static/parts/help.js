import { html } from "../html.js";
import { enabled, help } from "../keys.js";
import { useSignal } from "../signal.js";
import { Dialog } from "./dialog.js";
import { keys } from "./frame.js";

const FILTERS = [
  ["state:failed,cancelled", "one of several"],
  ["-queue:mail", "not this one"],
  ['error:"no answer"', "part of the error"],
  ["payload.user.id:42", "a value inside the payload"],
  ["meta.campaign:may", "a value of meta"],
  ["age:>1h  finished:<30m", "since the push, since the end: s m h d w"],
  ["attempts:>=3  priority:10", "numbers"],
  ["timeout", "a word in id, task, key, correlation id or error"],
];

export function Help() {
  const open = useSignal(help);
  const on = useSignal(enabled);
  if (!open) return null;
  return html`<${Dialog} title="Keyboard and filters" wide=${true} onClose=${() => help.set(false)}>
    <div class="help">
      <section><h3>Keys</h3><dl class="keys">${keys().map(([key, text]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${text}</dd></div>`)}</dl>
        <label class="check"><input type="checkbox" checked=${on} onChange=${() => enabled.set(!on)} /> Single keys act</label></section>
      <section><h3>Filters</h3><dl class="keys">${FILTERS.map(([key, text]) => html`<div key=${key}><dt><code>${key}</code></dt><dd>${text}</dd></div>`)}</dl>
        <p class="quiet">Conditions are separated by spaces and must all hold. The same words work in <code>ferryman jobs list</code> and in the API.</p></section>
    </div>
  </${Dialog}>`;
}
