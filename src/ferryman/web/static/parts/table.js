// A table whose rows keep their places while somebody points at them.
import { html, useRef, useState } from "../html.js";
import { Icon } from "./icons.js";

// On a narrow screen each row becomes a block, its cells below each other with their titles.
// columns: {key, title, cell(row), sort?(row), kind?: "num" | "wide" | "mid"}
export function Table({ label, columns, rows, keyOf, empty, initial = null, rowClass }) {
  const [sort, setSort] = useState(initial);
  const [held, setHeld] = useState(false);
  const order = useRef([]);
  const shown = steady(order, rows, keyOf, sorter(columns, sort), held, sort);
  if (!rows.length) return empty ?? null;
  const by = (column) => () => {
    order.current = [];
    setSort(sort?.key === column.key ? { key: column.key, down: !sort.down } : { key: column.key, down: column.kind === "num" });
  };
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${`${label}, table`}
      onPointerEnter=${() => setHeld(true)} onPointerLeave=${() => setHeld(false)}
      onFocusIn=${() => setHeld(true)} onFocusOut=${() => setHeld(false)}>
    <table class="stacks"><thead><tr>${columns.map((column) => html`<th key=${column.key} scope="col" class=${column.kind}
      aria-sort=${sort?.key === column.key ? (sort.down ? "descending" : "ascending") : undefined}>
      ${column.sort ? html`<button type="button" class="sort" onClick=${by(column)}>${column.title}<span class="arrow" aria-hidden="true">${sort?.key === column.key ? (sort.down ? "▾" : "▴") : ""}</span></button>` : column.title}</th>`)}</tr></thead>
    <tbody>${shown.map((row) => html`<tr key=${keyOf(row)} class=${rowClass?.(row)}>${columns.map((column, index) =>
      index === 0
        ? html`<th key=${column.key} scope="row" class=${column.kind}>${column.cell(row)}</th>`
        : html`<td key=${column.key} class=${column.kind} data-title=${typeof column.title === "string" ? column.title : undefined}>${column.cell(row)}</td>`)}</tr>`)}</tbody></table>
  </div>`;
}

function sorter(columns, sort) {
  const value = columns.find((column) => column.key === sort?.key)?.sort;
  if (!value) return null;
  const sign = sort.down ? -1 : 1;
  return (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === y) return 0;
    // What is not known stands last, whichever way it is sorted.
    if (x === null || x === undefined) return 1;
    if (y === null || y === undefined) return -1;
    return x < y ? -sign : sign;
  };
}

function steady(order, rows, keyOf, compare, held) {
  const sorted = compare ? [...rows].sort(compare) : rows;
  if (held && order.current.length) {
    const places = new Map(order.current.map((key, index) => [key, index]));
    const place = (row) => places.get(keyOf(row)) ?? Infinity;
    const kept = [...sorted].sort((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
    order.current = kept.map(keyOf);
    return kept;
  }
  order.current = sorted.map(keyOf);
  return sorted;
}

export const Pager = ({ next, onNext, first, onFirst }) => html`<div class="pager">
  ${!first && html`<button type="button" onClick=${onFirst}><${Icon} name="left" />Newest</button>`}
  ${next && html`<button type="button" onClick=${onNext}>Older<${Icon} name="right" /></button>`}
</div>`;
