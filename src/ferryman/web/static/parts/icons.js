// Line icons, 24 × 24; decoration only, the word always stands beside them or in a label.
import { html } from "../html.js";

const PATHS = {
  overview: "M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z",
  queues: "M4 6h16M4 12h16M4 18h10",
  jobs: "M5 4h14v16H5zM9 9h6M9 13h6M9 17h3",
  failures: "M12 4 3 20h18zM12 10v4M12 17v.01",
  pipelines: "M4 5h5v5H4zM15 14h5v5h-5zM15 4h5v5h-5zM9 7h6M7 10v7h8",
  schedules: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3.5 2",
  workers: "M4 5h16v6H4zM4 13h16v6H4zM8 8v.01M8 16v.01",
  breakers: "M13 3 5 13h6l-1 8 8-10h-6z",
  health: "M3 12h4l2.5-6 5 12 2.5-6h4",
  audit: "M6 3h9l4 4v14H6zM14 3v5h5M9 13h7M9 17h7",
  keys: "M14 10a4 4 0 1 0-3.5 4L12 12.500zM11.5 12.5 20 21M16 17l2-2",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l4.5 4.5",
  menu: "M4 7h16M4 12h16M4 17h16",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.400M5.6 18.4 7 17M17 7l1.4-1.4",
  moon: "M20 14.500A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.500z",
  play: "M7 5l12 7-12 7z",
  pause: "M8 5v14M16 5v14",
  stop: "M6 6h12v12H6z",
  retry: "M4 5v5h5M4.5 10A8 8 0 1 1 4 14",
  cancel: "M6 6l12 12M18 6 6 18",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M5 12.5 10 17.5 19 7",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3.5 2",
  dot: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8z",
  running: "M12 3a9 9 0 1 1-8.5 6",
  warning: "M12 4 3 20h18zM12 10v4M12 17v.01",
  right: "M9 5l7 7-7 7",
  left: "M15 5l-7 7 7 7",
  plus: "M12 5v14M5 12h14",
  help: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.5 9.500a2.5 2.5 0 1 1 3.5 2.300c-.7.3-1 .8-1 1.700M12 17v.01",
  terminal: "M4 5h16v14H4zM7 9l3 3-3 3M12 15h5",
  out: "M14 4H5v16h9M10 12h10M17 8l4 4-4 4",
  star: "M12 4l2.5 5.2 5.5.8-4 4 1 5.7-5-2.7-5 2.7 1-5.7-4-4 5.5-.800z",
  boat: "M12 3v10M12 4l6 7h-6M4 14h16l-2.5 4h-11zM3 21c1.5 0 1.5-.8 3-.800s1.5.8 3 .8 1.5-.8 3-.8 1.5.8 3 .8 1.5-.8 3-.8 1.5.8 3 .8",
};

export const Icon = ({ name, spin = false }) => html`
  <svg class=${`icon${spin ? " spin" : ""}`} viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${PATHS[name]} /></svg>`;
