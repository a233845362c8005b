// JSON whose numbers stay as they were written: 9007199254740993 is not 9007199254740992.

export class Exact {
  constructor(text) {
    this.text = text;
  }
  toString() {
    return this.text;
  }
}

export function parse(text) {
  return JSON.parse(text, (_, value, context) => {
    if (typeof value !== "number" || String(value) === context?.source) return value;
    if (context?.source !== undefined) return new Exact(context.source);
    // A browser that does not tell what was written: at least say that it may be off.
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? new Exact(`≈${value}`) : value;
  });
}

export function write(value, indent = "") {
  if (value instanceof Exact) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const parts = Array.isArray(value)
    ? value.map((item) => write(item, `${indent}  `))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${write(item, `${indent}  `)}`);
  if (!parts.length) return open + close;
  return `${open}\n${parts.map((part) => `${indent}  ${part}`).join(",\n")}\n${indent}${close}`;
}

// One short line for lists.
export function brief(value, most = 120) {
  let left = most;
  const walk = (item) => {
    if (left <= 0) return "";
    if (item === null || typeof item !== "object" || item instanceof Exact) {
      const text = item instanceof Exact ? item.text : JSON.stringify(item);
      left -= text.length;
      return text;
    }
    const parts = [];
    for (const [key, inner] of Object.entries(item)) {
      if (left <= 0) break;
      left -= Array.isArray(item) ? 1 : key.length + 2;
      parts.push(Array.isArray(item) ? walk(inner) : `${key}: ${walk(inner)}`);
    }
    return Array.isArray(item) ? `[${parts.join(", ")}]` : `{${parts.join(", ")}}`;
  };
  const text = walk(value);
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
