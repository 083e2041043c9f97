#!/usr/bin/env bash
# test-window.sh: what must hold of the window: its page's units, the page in Chromium, the real window under Xvfb.
set -euo pipefail
# shellcheck source=build/env.sh
. "$(dirname "$0")/env.sh"

if [ "$os" != linux ]; then
  echo 'the window is tested on Linux alone'
  exit
fi
build/window.sh page
build/window.sh
build/window.sh e2e
# What is built with tags is not seen by the checks of everything else.
go vet -tags page .
go vet -tags desktop,production,webkit2_41,e2e .
go tool -modfile=build/tools/go.mod staticcheck -tags page .
CGO_ENABLED=0 go build -trimpath -o build/bin/testagent ./testdata/testagent
(cd frontend && npm run --silent test)
# One file after the other: each has a browser or a window, and the machine may have two cores.
build/isolate.sh node --test --test-concurrency=1 frontend/e2e/*.test.mjs
