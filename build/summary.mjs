// Reads `go test -json` from standard input and prints what a person wants of it: each package's own line, all that
// a failed test or build printed, each skip with its reason, what tests counted (a line that begins with "tally: ",
// also of a test binary that a test ran), and at the end one line 'N passed, N failed'.
// Subtests count. A package that fails without a failed test (no build, a crash, a time-out) counts as one failure.
// Its arguments name what failed before the tests; each counts as one failure too, so that the line is never greener
// than the run. Exits 1 when anything failed or when no test ran.
import { createInterface } from "node:readline";

const packages = new Map(); // import path → what is known of it until its last event
const counts = { pass: 0, fail: 0, skip: 0 };
const failures = [];
const tallies = [];

const print = (text) => process.stdout.write(text);

function packageOf(path) {
  if (!packages.has(path)) packages.set(path, { own: "", running: new Map(), failed: 0 });
  return packages.get(path);
}

function fail(name) {
  counts.fail++;
  failures.push(name);
}

function onTest({ Action, Package, Test, Output }) {
  const pkg = packageOf(Package);
  if (Action === "run") pkg.running.set(Test, "");
  if (Action === "output") pkg.running.set(Test, (pkg.running.get(Test) ?? "") + Output);
  if (!(Action in counts)) return;
  const output = pkg.running.get(Test) ?? "";
  pkg.running.delete(Test);
  tallies.push(...[...output.matchAll(/^.*\btally: (.*)$/gm)].map((m) => m[1]));
  if (Action === "fail") {
    pkg.failed++;
    fail(`${Package} ${Test}`);
    print(output);
    return;
  }
  counts[Action]++;
  if (Action === "skip") print(`${Package}: ${output.replace(/^=== .*\n/gm, "")}`);
}

function onPackage({ Action, Package, Output, FailedBuild }) {
  const pkg = packageOf(Package);
  if (Action === "output") pkg.own += Output;
  if (!(Action in counts)) return; // "start", or still to end
  packages.delete(Package);
  if (Action !== "fail") {
    print((pkg.own.match(/^(ok|\?) .*\n/gm) ?? [pkg.own]).join("").replace(/^PASS\n/gm, ""));
    return;
  }
  for (const [test, output] of pkg.running) {
    print(output); // begun and never ended
    pkg.failed++;
    fail(`${Package} ${test}`);
  }
  if (pkg.failed === 0) fail(FailedBuild ? `${Package} (build)` : Package);
  print(pkg.own);
}

function onLine(line) {
  let event;
  try {
    event = JSON.parse(line);
  } catch {
    print(line + "\n");
    return;
  }
  if (event.Action === "build-output") print(event.Output);
  else if (event.Package === undefined) return;
  else if (event.Test === undefined) onPackage(event);
  else onTest(event);
}

for (const part of process.argv.slice(2)) fail(`${part}, before the tests`);
for await (const line of createInterface({ input: process.stdin })) onLine(line);

for (const path of packages.keys()) fail(`${path} (no end)`); // go test itself was stopped
if (tallies.length > 0) print(`counted:\n${tallies.map((line) => `  ${line}\n`).join("")}`);
for (const name of failures) print(`failed: ${name}\n`);
if (counts.pass === 0) print("no test passed\n");
print(`${counts.pass} passed, ${counts.fail} failed${counts.skip ? `, ${counts.skip} skipped` : ""}\n`);
process.exitCode = counts.fail > 0 || counts.pass === 0 ? 1 : 0;
