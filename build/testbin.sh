#!/bin/sh
# testbin.sh BINARY ARG...: what `go test -exec` runs. The go command writes into its HOME, so each test binary
# gets one of its own, new and empty, in the TMPDIR that isolate.sh removes.
set -eu
HOME=$(mktemp -d "$TMPDIR/home.XXXXXX")
export HOME
exec "$@"
