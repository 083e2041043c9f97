#!/usr/bin/env bash
# mac-probes.sh: on a Mac, runs cages' policies under the real sandbox-exec: what must work works, and what must not is
# refused, while the same thing without the policy is done. It changes nothing but a temporary directory.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(uname -s)" = Darwin ] || { echo 'mac-probes.sh: this is for a Mac; elsewhere: go test ./sandbox/seatbelt' >&2; exit 1; }
exec go test -count=1 -v -run TestOnAMac ./sandbox/seatbelt
