#!/usr/bin/env bash
# mac-probes.sh: on a Mac, tries cages under the real sandbox-exec as the app does before it starts one: what must work works, and
# what must not is refused, while the same thing without the policy is done. Then it starts cages by the launcher, ends them, and runs
# what else there is of tests of the launcher. It changes nothing but temporary directories.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(uname -s)" = Darwin ] || { echo 'mac-probes.sh: this is for a Mac; elsewhere: go test ./sandbox/seatbelt ./sandbox/maccage' >&2; exit 1; }
sw_vers
go test -count=1 -v -run TestOnAMac ./sandbox/maccage
exec go test -count=1 ./sandbox/maccage ./sandbox/processes ./sandbox/seatbelt
