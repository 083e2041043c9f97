#!/usr/bin/env bash
# window.sh [page|e2e]: builds the window's page and build/bin/termic-app. With `page` build/bin/termic-page, which serves
# the page to a browser, and with `e2e` build/bin/termic-app-e2e, which a WebDriver may drive: both for tests alone.
set -euo pipefail
# shellcheck source=build/env.sh
. "$(dirname "$0")/env.sh"

version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo unknown)}

# The page is built when anything that it is made of is newer than the last one.
page() {
  cd frontend
  if [ ! package-lock.json -ot node_modules/.package-lock.json ]; then npm ci; fi
  if [ ! -f dist/index.html ] ||
    [ -n "$(find src index.html package-lock.json vite.config.ts budget.ts svelte.config.js -newer dist/index.html -print -quit)" ]; then
    npm run --silent build -- --logLevel error
  fi
}

# -trimpath and -buildvcs as in build.sh.
program() {
  local name=$1 tags=$2 cgo=$3
  CGO_ENABLED=$cgo go build -trimpath -buildvcs=false -tags "$tags" -ldflags "-s -w -X main.version=$version" -o "build/bin/$name" .
}

(page)
case ${1:-} in
  '') program termic-app desktop,production,webkit2_41 1 ;;
  page) program termic-page page 0 ;;
  e2e) program termic-app-e2e desktop,production,webkit2_41,e2e 1 ;;
  *) die "window.sh: unknown kind: $1" ;;
esac
