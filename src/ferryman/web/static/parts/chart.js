// Charts by uPlot, each with the same numbers as a table.
import { html, useEffect, useRef, useState } from "../html.js";
import { useSignal } from "../signal.js";
import { colour, theme } from "../theme.js";
import { clock, zone } from "../time.js";

const HEIGHT = 190;

// series: [{name, colour, values, dash?, fill?}]; `at` are seconds; `bars` stacks them.
export function Chart({ title, at, series, bars = false, log = false, unit = String, tick = unit, aside, none = "No history yet." }) {
  const box = useRef(null);
  const shade = useSignal(theme);
  const hours = useSignal(zone);
  const [table, setTable] = useState(false);
  const some = at.length > 0 && series.some((one) => one.values.some((value) => value));
  const key = JSON.stringify([at, series.map((one) => one.values)]);

  useEffect(() => {
    if (!some || table) return undefined;
    const place = box.current;
    const plot = draw(place, { at, series, bars, log, unit, tick });
    const watch = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT }));
    watch.observe(place);
    return () => (watch.disconnect(), plot.destroy());
  }, [key, shade, hours, some, table]);

  return html`<figure class="chart card">
    <figcaption class="card-head"><h2>${title}</h2>${aside}
      ${some && html`<button type="button" class="plain small" aria-pressed=${table} onClick=${() => setTable(!table)}>Table</button>`}</figcaption>
    ${some && html`<ul class="legend">${series.map((one) => html`<li key=${one.name}><svg viewBox="0 0 14 4" aria-hidden="true"><rect class=${`c-${one.colour}`} width="14" height="4" rx="2" /></svg>${one.name}</li>`)}</ul>`}
    ${some ? (table ? html`<${Numbers} at=${at} series=${series} unit=${unit} title=${title} />` : html`<div class="plot" ref=${box} aria-hidden="true" />`) : html`<p class="quiet none">${none}</p>`}
  </figure>`;
}

const Numbers = ({ at, series, unit, title }) => html`<div class="scroll tall" tabindex="0" role="region" aria-label=${`${title}, as a table`}><table>
  <thead><tr><th scope="col">from</th>${series.map((one) => html`<th scope="col" class="num" key=${one.name}>${one.name}</th>`)}</tr></thead>
  <tbody>${at.map((moment, row) => html`<tr key=${moment}><th scope="row">${clock(moment)}</th>${series.map((one) => html`<td class="num" key=${one.name}>${one.values[row] === null || one.values[row] === undefined ? "–" : unit(one.values[row])}</td>`)}</tr>`).reverse()}</tbody>
</table></div>`;

function draw(box, { at, series, bars, log, unit, tick: told }) {
  const half = bars && at.length > 1 ? (at[1] - at[0]) / 2 : 0;
  const stacked = bars ? stack(series) : series;
  const grid = { stroke: colour("line"), width: 1 };
  const precise = at[at.length - 1] - at[0] < 600;
  const only = log ? { filter: decades } : {};
  const axis = { stroke: colour("quiet"), font: "11px system-ui, sans-serif", grid, ticks: { show: false } };
  return new uPlot(
    {
      width: box.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { points: { show: !bars }, y: false, drag: { x: false, y: false } },
      scales: { x: { time: true, range: (_, least, most) => [least - half, most + half] }, y: log ? { distr: 3 } : { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
      axes: [
        { ...axis, size: 30, grid: { show: false }, values: (_, ticks) => ticks.map((tick) => clock(tick, precise)) },
        { ...axis, ...only, size: 58, grid: { ...grid, ...only }, values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : told(tick))) },
      ],
      series: [{}, ...stacked.map((one) => look(one, bars))],
      plugins: [tip(series, unit)],
    },
    [at, ...stacked.map((one) => one.values)],
    box,
  );
}

const decades = (_, ticks) => ticks.map((tick) => (Number.isInteger(Math.round(Math.log10(tick) * 1e6) / 1e6) ? tick : null));

function look(one, bars) {
  const stroke = colour(one.colour);
  const few = one.values.filter((value) => value !== null).length <= 12;
  const points = { show: !bars && few, size: 6, fill: stroke };
  if (bars) return { stroke, fill: stroke, width: 0, points, paths: uPlot.paths.bars({ size: [0.72, 26], radius: 0.15 }) };
  return { stroke, width: 2, dash: one.dash, fill: one.fill && colour(one.colour, 0.14), points, spanGaps: true };
}

// The largest sum is drawn first and the others over it.
function stack(series) {
  const sums = new Array(series[0].values.length).fill(0);
  return series
    .map((one) => ({ ...one, values: one.values.map((value, index) => (sums[index] += value ?? 0)) }))
    .reverse();
}

function tip(series, unit) {
  const box = document.createElement("div");
  box.className = "tip";
  return {
    hooks: {
      init: (plot) => plot.over.append(box),
      setCursor: (plot) => {
        const { idx, left } = plot.cursor;
        box.hidden = idx === null || idx === undefined || left < 0;
        if (box.hidden) return;
        const lines = series.map((one) => `${one.name} ${one.values[idx] === null || one.values[idx] === undefined ? "–" : unit(one.values[idx])}`);
        box.textContent = [clock(plot.data[0][idx]), ...lines].join("\n");
        box.classList.toggle("flip", left > plot.over.clientWidth / 2);
        box.style.left = `${left}px`;
      },
    },
  };
}

export function Spark({ values, colour: name = "accent", label }) {
  const most = Math.max(1, ...values.map((value) => value ?? 0));
  const step = values.length > 1 ? 100 / (values.length - 1) : 100;
  const points = values.map((value, index) => `${(index * step).toFixed(1)},${(22 - ((value ?? 0) / most) * 20).toFixed(1)}`);
  if (values.length < 2) return null;
  return html`<svg class=${`spark k-${name}`} viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label=${label}>
    <polygon points=${`0,24 ${points.join(" ")} 100,24`} /><polyline points=${points.join(" ")} /></svg>`;
}
