import { path } from "../api.js";
import { html } from "../html.js";
import { useData } from "../data.js";
import { to } from "../router.js";
import { Ago, moment, span } from "../time.js";
import { ask, may, quoted } from "../parts/act.js";
import { A, Card, Code, Empty, Head, say, Standing } from "../parts/bits.js";
import { Icon } from "../parts/icons.js";
import { plain } from "../parts/queue_table.js";
import { Table } from "../parts/table.js";

const ACTS = {
  pause: ["Pause", "pause", "No slot is pushed until it is resumed; those of the pause are not made up for."],
  resume: ["Resume", "play", "It goes on with its next slot."],
  run: ["Run now", "play", "Pushes one job now, besides its slots."],
};

export function Schedules() {
  const asked = useData("schedules", {}, { every: 5, beat: 10 });
  const act = (which, name) => () => ask({
    title: `${ACTS[which][0]}: ${name}?`,
    text: ACTS[which][2],
    verb: ACTS[which][0],
    where: `schedules/${path(name)}/${which}`,
    cli: `ferryman schedules ${which} ${quoted(name)}`,
    done: (answer) => {
      say(which === "run" ? `Pushed ${answer?.id ?? "a job"}.` : `${ACTS[which][0]} ${name}: done.`);
      asked.reload();
    },
  });
  const columns = [
    { key: "name", title: "Schedule", sort: (one) => one.schedule, cell: (one) => html`<span class="name"><strong>${one.schedule}</strong>${one.paused && html`<span class="tag warn"><${Icon} name="pause" />paused</span>`}</span>` },
    { key: "when", title: "When", cell: (one) => html`<span>${words(one)}</span>${one.cron && html` <code>${one.cron}</code>`} <span class="quiet">${one.cron ? one.tz : ""}</span>` },
    { key: "next", title: "Next", sort: (one) => one.next, cell: (one) => html`<${Upcoming} one=${one} />` },
    { key: "last", title: "Last slot", kind: "mid", sort: (one) => one.last, cell: (one) => html`<${Ago} at=${one.last} />` },
    { key: "task", title: "Task", kind: "mid", cell: (one) => html`<a class="mono" href=${to(["jobs"], { where: `meta.schedule:${plain(one.schedule)}` })}>${one.task}</a> <span class="quiet">in</span> <${A} parts=${["queues", one.queue]}>${one.queue}</${A}>` },
    { key: "missed", title: "If missed", kind: "wide", cell: (one) => one.missed },
    { key: "acts", title: html`<span class="hidden">Acts</span>`, kind: "acts", cell: (one) => html`<span class="acts">${[one.paused ? "resume" : "pause", "run"].filter((which) => may(which === "run" ? "editor" : "operator")).map((which) => html`<button type="button" key=${which} class="small" aria-label=${`${ACTS[which][0]}: ${one.schedule}`} onClick=${act(which, one.schedule)}><${Icon} name=${ACTS[which][1]} />${ACTS[which][0]}</button>`)}</span>` },
  ];
  return html`<${Head} title="Schedules" lead="Declared in code; every worker pushes what is due, each slot once." />
    <${Standing} of=${asked} what="schedules"><${Card}>
      <${Table} label="Schedules" columns=${columns} rows=${asked.data?.schedules ?? []} keyOf=${(one) => one.schedule} initial=${{ key: "name", down: false }}
        empty=${html`<${Empty} icon="schedules"><p>No worker has declared a schedule.</p><${Code} text='ferry.schedule("nightly", report, cron="30 2 * * *")' /></${Empty}>`} />
    </${Card}></${Standing}>`;
}

const Upcoming = ({ one }) => (one.next ? html`<details class="upcoming"><summary><${Ago} at=${one.next} /></summary><ol>${(one.upcoming ?? [one.next]).map((at) => html`<li key=${at}>${moment(at)}</li>`)}</ol></details>` : "–");

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

// The plain cases in plain words; the cron itself stands beside them.
function words(one) {
  if (one.every) return `every ${span(Number(one.every))}`;
  const fields = one.cron.split(/\s+/);
  if (fields.length !== 5) return "";
  const [minute, hour, day, month, weekday] = fields;
  const every = /^\*\/(\d+)$/.exec(minute);
  if (every && hour === "*" && day === "*" && month === "*" && weekday === "*") return `every ${every[1]} minutes`;
  if (!/^\d+$/.test(minute) || month !== "*") return "";
  if (hour === "*" && day === "*" && weekday === "*") return `hourly at minute ${minute}`;
  if (!/^\d+$/.test(hour)) return "";
  const at = `at ${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  if (day === "*" && weekday === "*") return `daily ${at}`;
  if (day === "*" && weekday === "1-5") return `on weekdays ${at}`;
  if (day === "*" && /^[0-7]$/.test(weekday)) return `every ${DAYS[weekday % 7]} ${at}`;
  if (/^\d+$/.test(day) && weekday === "*") return `on day ${day} of each month ${at}`;
  return "";
}
