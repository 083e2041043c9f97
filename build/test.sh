#!/usr/bin/env bash
# test.sh: everything that must hold, in one run: the checks, the built programs, the demo, the conformance suite, the Go tests.
# A part that fails does not keep the others from running. The last line is 'N passed, N failed': the Go tests, and
# one failure for each other part that failed.
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

# go_tests PART...: the tests, with the parts that failed before them. No result comes from the cache: a test that
# runs a program of ours in a child process would stay green after that program changed. A package has 40 minutes, so that one that hangs says where; the slowest takes a third of it.
go_tests() {
  build/isolate.sh env CGO_ENABLED=1 go test -json -race -vet=off -count=1 -timeout 40m \
    -exec "'$root/build/testbin.sh'" ./... ./testdata/testagent | node build/summary.mjs "$@"
}

go mod download || die "could not download the modules"
part check build/check.sh
part build build/build.sh
part page build/test-window.sh units
if [ -d build/demo ]; then part demo build/isolate.sh go run ./build/demo; fi
part conformance build/conformance.sh
printf '== tests\n'
# shellcheck disable=SC2086 # a list of words
go_tests $failed
