#!/usr/bin/env bash
# test-window.sh [units]: what must hold of the window: its page's units, the page in Chromium, the real window under Xvfb.
# With `units`, which is what make test runs, what needs neither a browser nor a display.
set -euo pipefail
# shellcheck source=build/env.sh
. "$(dirname "$0")/env.sh"

if [ "$os" != linux ]; then
  echo 'the window is tested on Linux alone'
  exit
fi
build/window.sh page
# What is built with tags is not seen by the checks of everything else.
go vet -tags page .
(cd frontend && npm run --silent test)
if [ "${1:-}" = units ]; then exit; fi
build/window.sh
build/window.sh e2e
go vet -tags desktop,production,webkit2_41,e2e .
CGO_ENABLED=0 go build -trimpath -o build/bin/testagent ./testdata/testagent
# One file after the other: each has a browser or a window, and the machine may have two cores.
build/isolate.sh node --test --test-concurrency=1 frontend/e2e/*.test.mjs
