// graphile-worker at work until stdin closes: node graphile_worker.cjs URL MARKS count|delay
"use strict";

const { openSync, writeSync } = require("node:fs");
const { Logger, run } = require("graphile-worker");

const [url, path, mark] = process.argv.slice(2);
const marks = openSync(path, "a");
// Date.now() has only milliseconds.
const now = () => (performance.timeOrigin + performance.now()) / 1000;

// What bench/marks.py does: a call to Python for each job would be measured with it.
const handlers = {
  count: async () => void writeSync(marks, "."),
  delay: async ({ t }) => void writeSync(marks, `${(now() - t).toFixed(7)}\n`),
};

// Batches let a drain be faster and a single job later; each workload has what suits it.
const batches =
  mark === "count"
    ? { localQueue: { size: 500 }, completeJobBatchDelay: 0 }
    : { localQueue: { size: -1 }, completeJobBatchDelay: -1 };

const logger = new Logger(() => (level, message) => {
  if (level === "error") console.error(message);
});

// A worker that is killed says no goodbye, but its end of the pipe closes.
process.stdin.resume().on("end", () => process.exit());

run({
  connectionString: url,
  logger,
  noHandleSignals: true,
  taskList: { noop: handlers[mark] },
  preset: { worker: { concurrentJobs: 24, maxPoolSize: 10, ...batches } },
}).then((runner) => runner.promise);
