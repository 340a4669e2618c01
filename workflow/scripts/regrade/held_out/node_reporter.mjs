// What node's own test runner reports of held-out tests (repository_tests/report.py): how each file's tests came out.
//
// The runner loads this; the tests run in processes of their own. The word is read before any of these is started, so
// that none of them can report. The report is {"word", "exit", "files": {file: {"passed" or "failed": how many}}}.

import { readFileSync, writeSync } from "node:fs";
import { relative, resolve } from "node:path";

const { REGRADE_WORD: source, REGRADE_REPORT: result, REGRADE_ROOT: root = "." } = process.env;
const isRunner = source !== undefined && process.env.NODE_TEST_CONTEXT === undefined;
const word = isRunner ? readFileSync(Number(source), "utf8") : "";
for (const name of ["REGRADE_ORDER", "REGRADE_WORD", "REGRADE_REPORT", "REGRADE_ROOT", "NODE_OPTIONS"]) {
  delete process.env[name];
}

/** Counts tests; a file counts for nothing itself, so that one that ends early has no passed test. */
export default async function* report(events) {
  const files = {};
  let failed = 0;
  for await (const { type, data } of events) {
    const outcome = { "test:pass": "passed", "test:fail": "failed" }[type];
    if (outcome === undefined || data.details?.type === "suite") {
      continue;
    }
    failed += outcome === "failed" ? 1 : 0;
    const isFile = data.file !== undefined && resolve(data.name) === data.file;
    if (!data.skip && !data.todo && !(isFile && outcome === "passed")) {
      const counts = (files[relative(root, data.file ?? root)] ??= {});
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
  }
  if (isRunner) {
    writeSync(Number(result), JSON.stringify({ word, exit: failed > 0 ? 1 : 0, files }), 0);
  }
}
