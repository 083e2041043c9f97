#!/usr/bin/env bash
# build.sh: builds the static programs into build/bin. VERSION=… overrides what git says.
set -euo pipefail
# shellcheck source=build/env.sh
. "$(dirname "$0")/env.sh"

version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo unknown)}
# -trimpath: no path of the building machine in the programs. -buildvcs=false: the version says it already, and
# stamping fails in a checkout that belongs to another user.
build() { CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "$3" -o "build/bin/$1" "$2"; }

build termic . "-X main.version=$version"
# -E: where the program starts, which is before the Go runtime does; see there. On Linux alone there is such an entry.
entry=
if [ "$os" = linux ]; then entry='-E stage_entry'; fi
build stage ./sandbox/stagecmd "$entry"
