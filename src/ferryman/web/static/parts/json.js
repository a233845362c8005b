// Plain JSON as a tree that folds, or as text; always text nodes, numbers as they were written.
import { html, useState } from "../html.js";
import { Exact, brief, write } from "../exact.js";
import { Copy } from "./bits.js";

const FEW = 100;

export function Json({ value, label }) {
  const [raw, setRaw] = useState(false);
  const deep = value !== null && typeof value === "object" && !(value instanceof Exact);
  return html`<div class="json" role="group" aria-label=${label}>
    <div class="json-acts">
      ${deep && html`<button type="button" class="plain small" aria-pressed=${raw} onClick=${() => setRaw(!raw)}>Raw</button>`}
      <${Copy} text=${write(value)} label=${`Copy ${label}`} />
    </div>
    ${raw || !deep ? html`<pre tabindex="0" aria-label=${`${label} as text`}>${write(value)}</pre>` : html`<div class="tree"><${Items} value=${value} open=${true} /></div>`}
  </div>`;
}

function Items({ value, open }) {
  const [most, setMost] = useState(FEW);
  const entries = Object.entries(value);
  const list = Array.isArray(value);
  if (!entries.length) return html`<span class="j-none">${list ? "[ ]" : "{ }"}</span>`;
  return html`<ul>
    ${entries.slice(0, most).map(([key, item]) => html`<li key=${key}><${Item} name=${key} item=${item} list=${list} open=${open && entries.length <= 40} /></li>`)}
    ${entries.length > most && html`<li><button type="button" class="plain small" onClick=${() => setMost(most + 10 * FEW)}>${(entries.length - most).toLocaleString("en")} more</button></li>`}
  </ul>`;
}

function Item({ name, item, list, open }) {
  const key = html`<span class=${list ? "j-index" : "j-key"}>${name}</span>`;
  if (item === null || typeof item !== "object" || item instanceof Exact) return html`${key} <${Leaf} value=${item} />`;
  return html`<details open=${open}><summary>${key} <span class="j-none">${Array.isArray(item) ? `[${item.length}]` : brief(item, 60)}</span></summary><${Items} value=${item} open=${false} /></details>`;
}

function Leaf({ value }) {
  if (value instanceof Exact) return html`<span class="j-number">${value.text}</span>`;
  if (typeof value === "string") return html`<span class="j-text">${JSON.stringify(value)}</span>`;
  return html`<span class=${typeof value === "number" ? "j-number" : "j-word"}>${String(value)}</span>`;
}
