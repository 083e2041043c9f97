#!/usr/bin/env bash
# conformance.sh: the official conformance suite and the official TypeScript client against the built program. What they
# need is in the cache: build/setup.sh conformance puts it there.
set -euo pipefail
# shellcheck source=build/env.sh
. "$(dirname "$0")/env.sh"

node=$(suite_node)
if [ -z "$node" ] || ! suite_cached; then die 'the conformance suite is not in the cache; run: build/setup.sh conformance'; fi
build/isolate.sh go run ./build/conformance -node "$node" -packages "$suite_dir"
