// The filter language as text that buttons can change; the store reads and judges it.

const VALUE = String.raw`(?:"(?:[^"\\]|\\.)*"|[^\s",]+)`;
const TERM = new RegExp(String.raw`-?(?:([A-Za-z_][\w.\-]*):)?${VALUE}(?:,${VALUE})*|\S+`, "g");

const FIELDS = {
  state: "the six states",
  queue: "exactly",
  task: "exactly",
  error: "part of the error",
  age: "since the push: >1h, <30m",
  finished: "since the end: <1d",
  id: "exactly",
  key: "exactly",
  worker: "who has it, or had it last",
  attempts: ">=3",
  priority: "10, >0",
  tenant: "exactly",
  correlation_id: "exactly",
  "payload.": "a value inside: payload.user.id:42",
  "meta.": "meta.campaign:may",
  generation: "2, >1",
  version: "of the payload",
};

const termsOf = (text) => [...text.matchAll(TERM)].map((match) => ({ text: match[0], field: match[1] ?? "", at: match.index }));

// The text with its positive term of this field put in place, or taken away.
export function withTerm(text, field, values) {
  const rest = termsOf(text).filter((term) => term.field !== field || term.text.startsWith("-")).map((term) => term.text);
  return [...rest, ...(values.length ? [`${field}:${values.join(",")}`] : [])].join(" ");
}

export function valuesOf(text, field) {
  const term = termsOf(text).find((one) => one.field === field && !one.text.startsWith("-"));
  return term ? term.text.slice(field.length + 1).split(",") : [];
}

// What could be written at the caret: {from, to, choices: [{text, note}]}.
export function suggestions(text, caret, known) {
  const from = Math.max(text.lastIndexOf(" ", caret - 1) + 1, 0);
  const word = text.slice(from, caret);
  const bare = word.replace(/^-/, "");
  const minus = word.startsWith("-") ? "-" : "";
  const colon = bare.indexOf(":");
  if (colon < 0) {
    const fields = Object.entries(FIELDS).filter(([name]) => name.startsWith(bare.toLowerCase()));
    const paths = bare.includes(".") ? known.paths.filter((one) => one.startsWith(bare)).map((one) => [one, "seen in the jobs shown"]) : [];
    return { from, to: caret, choices: [...fields, ...paths].map(([name, note]) => ({ text: `${minus}${name}${name.endsWith(".") ? "" : ":"}`, note })) };
  }
  const field = bare.slice(0, colon);
  const done = bare.slice(colon + 1).split(",");
  const last = done.pop().replace(/^"/, "").toLowerCase();
  const before = done.length ? `${done.join(",")},` : "";
  const choices = (known.values[field] ?? []).filter((value) => value.toLowerCase().includes(last)).map((value) => ({ text: `${minus}${field}:${before}${value}`, note: "" }));
  return { from, to: caret, choices: choices.filter((one) => one.text !== word) };
}
