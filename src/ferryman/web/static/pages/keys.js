import { path, post } from "../api.js";
import { html, useState } from "../html.js";
import { useData } from "../data.js";
import { Ago } from "../time.js";
import { ask, curl, quoted } from "../parts/act.js";
import { Card, Code, count, Empty, Head, Standing, Trouble } from "../parts/bits.js";
import { Icon } from "../parts/icons.js";
import { Table } from "../parts/table.js";

const ROLES = { viewer: "looks", operator: "retries, cancels, pauses", editor: "also pushes", admin: "also keys, delete, purge" };
const ENDS = [["30", "in 30 days"], ["90", "in 90 days"], ["365", "in a year"], ["", "never"]];

const limits = (one) => [one.rate && `${one.rate} requests`, one.pushes && `${one.pushes} pushes, ${count(one.pushes_left)} left`].filter(Boolean).join("; ");

export function Apikeys() {
  const asked = useData("keys", {}, { every: 5, beat: 10 });
  const [made, setMade] = useState(null);
  const revoke = (one) => () => ask({
    title: `Revoke the key ${one.name}?`,
    text: "Whoever uses it is refused within a second.",
    verb: "Revoke",
    danger: true,
    method: "DELETE",
    where: `keys/${path(one.id)}`,
    cli: `ferryman keys revoke ${quoted(one.id)}`,
    said: `${one.name} is revoked.`,
    done: asked.reload,
  });
  const columns = [
    { key: "name", title: "Name", cell: (one) => html`<strong>${one.name}</strong> <span class="mono quiet">${one.id}</span>` },
    { key: "role", title: "Role", cell: (one) => html`<span class="tag">${one.role}</span>` },
    { key: "queues", title: "Queues", kind: "mid", cell: (one) => (one.queues?.length ? one.queues.join(", ") : "all") },
    { key: "made", title: "Made", kind: "mid", cell: (one) => html`<${Ago} at=${one.created_at} />` },
    { key: "used", title: "Last used", cell: (one) => (one.last_used_at ? html`<${Ago} at=${one.last_used_at} />` : html`<span class="quiet">never</span>`) },
    { key: "limits", title: "Limits", kind: "mid", cell: (one) => limits(one) || html`<span class="quiet">none</span>` },
    { key: "ends", title: "Ends", cell: (one) => (one.expires_at ? html`<${Ago} at=${one.expires_at} />` : "never") },
    { key: "acts", title: html`<span class="hidden">Acts</span>`, kind: "acts", cell: (one) => html`<button type="button" class="small danger ghost" aria-label=${`Revoke ${one.name}`} onClick=${revoke(one)}>Revoke</button>` },
  ];
  return html`<${Head} title="API keys" lead="For programs and people; kept as hashes, shown once." />
    <${Make} made=${(answer) => (setMade(answer), asked.reload())} />
    ${made && html`<div class="note good" role="status"><${Icon} name="keys" /><div><p>The key of <strong>${made.name}</strong>. It is shown only now:</p><${Code} text=${made.secret} label="Copy the key" /></div></div>`}
    <${Standing} of=${asked} what="keys"><${Card} title="Keys"><${Table} label="API keys" columns=${columns} rows=${asked.data?.keys ?? []} keyOf=${(one) => one.id} empty=${html`<${Empty} icon="keys"><p>No keys yet.</p></${Empty}>`} /></${Card}></${Standing}>`;
}

function Make({ made }) {
  const [error, setError] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    const form = event.target;
    const { name, role, queues, days, rate, pushes } = Object.fromEntries(new FormData(form));
    const names = queues.split(",").map((one) => one.trim()).filter(Boolean);
    const body = { name, role, queues: names.length ? names : null, expires: days ? Number(days) * 86400 : null, rate: rate.trim() || null, pushes: pushes.trim() || null };
    try {
      made(await post("keys", body));
      setError(null);
      form.reset();
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<${Card} title="New key"><form class="row" onSubmit=${submit}>
    <label class="field">Name <input name="name" required maxlength="100" autocomplete="off" /></label>
    <label class="field">Role <select name="role">${Object.entries(ROLES).map(([role, text]) => html`<option key=${role} value=${role}>${role}: ${text}</option>`)}</select></label>
    <label class="field">Queues <input name="queues" placeholder="all, or names with commas" autocomplete="off" /></label>
    <label class="field">Ends <select name="days">${ENDS.map(([days, text]) => html`<option key=${days} value=${days}>${text}</option>`)}</select></label>
    <label class="field">Requests <input name="rate" placeholder="any, or such as 10/s" maxlength="20" autocomplete="off" /></label>
    <label class="field">Pushes <input name="pushes" placeholder="any, or such as 1000/d" maxlength="20" autocomplete="off" /></label>
    <button type="submit" class="primary">Make the key</button>
    ${error && html`<${Trouble} error=${error} />`}
  </form>
  <details class="same"><summary><${Icon} name="terminal" />The same from a terminal</summary>
    <${Code} text="ferryman keys create NAME --role editor --expires 90d --rate 10/s --pushes 1000/d" label="Copy the command" />
    <${Code} text=${curl({ where: "keys", body: { name: "NAME", role: "editor", expires: 7776000, rate: "10/s", pushes: "1000/d" } })} label="Copy the request" /></details></${Card}>`;
}
