#!/usr/bin/env bash
# go-run.sh DIR ARG...: runs the Go program in DIR of this module.
set -euo pipefail
# shellcheck source=build/env.sh
. "$(dirname "$0")/env.sh"

dir=$1
shift
[ -d "$dir" ] || die "there is no $dir in this tree"
exec go run "./$dir" "$@"
