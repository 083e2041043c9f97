#!/usr/bin/env bash
# build.sh: builds the static programs into build/bin. VERSION=… overrides what git says.
set -euo pipefail
# shellcheck source=build/env.sh
. "$(dirname "$0")/env.sh"

version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo unknown)}
# -trimpath: no path of the building machine in the programs. -buildvcs=false: the version says it already, and
# stamping fails in a checkout that belongs to another user.
build() { CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-X main.version=$version" -o "build/bin/$1" "$2"; }

build termic .
if [ -d sandbox/stagecmd ]; then build stage ./sandbox/stagecmd; fi
