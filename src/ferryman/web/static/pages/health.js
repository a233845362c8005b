import { html } from "../html.js";
import { useData } from "../data.js";
import { useAside } from "../live.js";
import { Ago } from "../time.js";
import { Card, Code, Head, many, Standing } from "../parts/bits.js";
import { Icon } from "../parts/icons.js";

const ORDER = { problem: 0, warning: 1, ok: 2 };
const LOOK = { problem: ["bad", "warning"], warning: ["warn", "warning"], ok: ["good", "check"] };

export function Health() {
  const asked = useData("health", {}, { every: 30 });
  const aside = useAside(useData("overview", {}, { every: 30 }).data);
  const findings = [...(asked.data?.findings ?? [])].sort((a, b) => ORDER[a.severity] - ORDER[b.severity]);
  const bad = findings.filter((one) => one.severity === "problem").length;
  const warned = findings.filter((one) => one.severity === "warning").length;
  return html`<${Head} title="Health" lead=${asked.data && (bad ? `${many(bad, "problem")}, ${many(warned, "warning")}` : warned ? many(warned, "warning") : "All checks are fine.")}>
      <button type="button" onClick=${asked.reload}><${Icon} name="retry" />Check again</button></${Head}>
    <${Standing} of=${asked} what="the checks"><${Card} title="Checks"><ul class="checks">${findings.map((one, index) => html`<li key=${`${one.check}${index}`}>
      <span class=${`tag ${LOOK[one.severity][0]}`}><${Icon} name=${LOOK[one.severity][1]} />${one.severity}</span>
      <div><strong>${one.check}</strong><p>${one.what}</p>${one.fix && html`<p class="quiet">${one.fix}</p>`}</div></li>`)}</ul>
      <${Code} text="ferryman doctor" label="Copy the command" /></${Card}></${Standing}>
    ${aside.length > 0 && html`<${Card} title="Set aside"><ul class="checks">${aside.map((one) => html`<li key=${one.path}><span class="tag warn"><${Icon} name="warning" />${one.queue}</span><div><strong class="mono">${one.path}</strong><p>${one.reason}</p><p class="quiet"><${Ago} at=${one.at} /></p></div></li>`)}</ul></${Card}>`}`;
}
