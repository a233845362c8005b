// The stages of a pipeline as boxes and lines; in a run each box is a button.
import { html } from "../html.js";
import { count } from "./bits.js";
import { Shares, STATES } from "./state.js";

// {stages: [{stage, queue, collects}], edges: [{from, to}]} as the layout wants it.
export const shapeOf = ({ stages, edges }) =>
  stages.map(({ stage, queue = "", collects = null }) => ({ name: stage, queue, collects, after: edges.filter((edge) => edge.to === stage).map((edge) => edge.from) }));

const BOX = { width: 190, height: 78, across: 64, down: 26 };

export function Graph({ stages, counts = {}, chosen = null, onChoose = null, label }) {
  const places = layout(stages);
  const width = Math.max(...[...places.values()].map((one) => one.x)) + BOX.width;
  const height = Math.max(...[...places.values()].map((one) => one.y)) + BOX.height;
  return html`<div class="graph scroll" role="group" tabindex="0" aria-label=${label}><div class="graph-in" style=${{ width: `${width}px`, height: `${height}px` }}>
    <svg viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height} aria-hidden="true">${stages.flatMap((stage) => stage.after.map((before) => html`<path key=${`${before} ${stage.name}`} class=${`edge${busy(counts[stage.name]) ? " busy" : ""}`} d=${curve(places.get(before), places.get(stage.name))} />`))}</svg>
    ${stages.map((stage) => html`<${Box} key=${stage.name} stage=${stage} at=${places.get(stage.name)} counts=${counts[stage.name]} chosen=${chosen === stage.name} onChoose=${onChoose} />`)}
  </div></div>`;
}

function Box({ stage, at, counts, chosen, onChoose }) {
  const place = { left: `${at.x}px`, top: `${at.y}px` };
  const inside = html`<strong>${stage.name}</strong>${stage.collects ? html`<span class="tag">collects</span>` : ""}<span class="quiet">${counts ? told(counts) : stage.queue}</span>${counts && html`<${Shares} counts=${counts} />`}`;
  const kind = `box${counts?.failed ? " bad" : ""}${busy(counts) ? " busy" : ""}`;
  if (!onChoose) return html`<div class=${kind} style=${place}>${inside}</div>`;
  return html`<button type="button" class=${kind} style=${place} aria-pressed=${chosen} onClick=${() => onChoose(chosen ? null : stage.name)}>${inside}</button>`;
}

const busy = (counts) => Boolean(counts?.processing || counts?.pending);

function told(counts) {
  const parts = STATES.filter((state) => counts[state]).map((state) => `${count(counts[state])} ${state}`);
  return parts.slice(0, 2).join(", ") || "not reached";
}

// Columns by the longest way from the start; within a column in the order of the pipeline.
function layout(stages) {
  const ranks = new Map();
  for (const stage of stages) ranks.set(stage.name, Math.max(0, ...stage.after.map((before) => (ranks.get(before) ?? 0) + 1)));
  const columns = Map.groupBy(stages, (stage) => ranks.get(stage.name));
  const tallest = Math.max(...[...columns.values()].map((column) => column.length));
  const step = BOX.height + BOX.down;
  const places = new Map();
  for (const [rank, column] of columns) {
    const top = ((tallest - column.length) * step) / 2;
    column.forEach((stage, index) => places.set(stage.name, { x: rank * (BOX.width + BOX.across), y: top + index * step }));
  }
  return places;
}

function curve(from, to) {
  const [x1, y1, x2, y2] = [from.x + BOX.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
  const bend = Math.max(24, (x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}
