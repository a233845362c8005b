// Light or dark: the system's choice until somebody chooses.
import { signal } from "./signal.js";

const dark = matchMedia("(prefers-color-scheme: dark)");

export const theme = signal(now());

function now() {
  return document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
}

dark.addEventListener("change", () => theme.set(now()));

export function toggle() {
  const next = theme.value === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  localStorage.setItem("ferryman.theme", next);
  theme.set(next);
}

// A canvas takes no variables: the colour as the page has it now, with a share of its strength.
export function colour(name, strength = 1) {
  const probe = document.createElement("span");
  probe.className = `k-${name}`;
  document.body.append(probe);
  const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g);
  probe.remove();
  return `rgba(${r}, ${g}, ${b}, ${strength})`;
}
