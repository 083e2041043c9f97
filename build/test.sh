#!/usr/bin/env bash
# test.sh: everything that must hold, in one run: the checks, the built programs, the demo, the Go tests.
# A part that fails does not keep the others from running. The last line is 'N passed, N failed' of the Go tests.
set -euo pipefail
# shellcheck source=build/env.sh
. "$(dirname "$0")/env.sh"

failed=
part() {
  local name=$1
  shift
  printf '== %s\n' "$name"
  "$@" || failed="$failed $name"
}

# The tests' own command: no test result from the cache (a test that runs a program of ours in a child process
# would stay green after that program changed), and 10 minutes for a package at most.
go_tests() {
  build/isolate.sh env CGO_ENABLED=1 go test -json -race -vet=off -count=1 -timeout 10m \
    -exec "'$root/build/testbin.sh'" ./... | node build/summary.mjs
}

go mod download || die "could not download the modules"
part check build/check.sh
part build build/build.sh
if [ -d build/demo ]; then part demo build/isolate.sh go run ./build/demo; fi
printf '== tests\n'
status=0
[ -z "$failed" ] || { say "failed besides the tests:$failed"; status=1; }
# What failed is said before and not after the tests, whose closing line is the last one.
go_tests || status=1
exit "$status"
