#!/usr/bin/env bash
# run.sh: opens the window where there is a display; else starts the app without one, in the foreground, and says how
# to use it from another terminal.
set -euo pipefail
# shellcheck source=build/env.sh
. "$(dirname "$0")/env.sh"

if [ "$os" = linux ] && [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  build/setup.sh node webkit
  build/window.sh
  exec build/bin/termic-app
fi
if [ "$os" = linux ]; then
  echo 'No display here: termic runs without a window, until Ctrl-C.'
else
  echo 'This build has no window: termic runs without one, until Ctrl-C.'
fi
cat <<'LINES'
In another terminal, in this directory:

  export PATH="$PWD/build/bin:$PATH"
  termic project add PATH-TO-A-GIT-REPOSITORY    what to work on
  termic new NAME --project P --agent claude     a task: its own branch and checkout, an agent in a terminal
  termic send NAME 'what the agent shall do'
  termic wait NAME                               until it has settled
  termic log NAME                                what its terminal shows
  termic diff NAME                               what it changed
  termic attach NAME                             its terminal, here
  termic archive NAME                            put away; termic restore NAME brings it back

LINES
exec build/bin/termic serve
