#!/usr/bin/env bash
# fuzz.sh: runs each fuzz target of the module for FUZZTIME (10s if unset), and fails when one finds something
# or when there is none. What it finds lands in the package's testdata/fuzz and is then a test like others.
set -euo pipefail
# shellcheck source=build/env.sh
. "$(dirname "$0")/env.sh"

go mod download
targets=$(build/isolate.sh go test -json -run '^$' -list '^Fuzz' ./... | node -e '
  for (const line of require("fs").readFileSync(0, "utf8").split("\n")) {
    if (!line) continue;
    const { Action, Package, Output } = JSON.parse(line);
    if (Action === "output" && /^Fuzz\w*\n$/.test(Output)) console.log(Package, Output.trim());
  }')
[ -n "$targets" ] || die "there is no fuzz target"
failed=
while read -r package name; do
  printf '== %s %s\n' "$package" "$name"
  build/isolate.sh go test -run '^$' -fuzz "^$name\$" -fuzztime "${FUZZTIME:-10s}" "$package" </dev/null || failed="$failed $package.$name"
done <<<"$targets"
[ -z "$failed" ] || die "failed:$failed"
