#!/usr/bin/env bash
# install-stage.sh [STAGE]: installs the program that makes cages (build/bin/stage) where AppArmor can name it, and the
# profile that lets it, and nothing else, make user namespaces. For Ubuntu 23.10 and later, once, as root.
# DESTDIR=DIR installs below DIR, as packagers do, and loads nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

stage=${1:-build/bin/stage}
[ -f "$stage" ] || { printf 'termic: %s is missing; run: make build\n' "$stage" >&2; exit 1; }
if [ -z "${DESTDIR:-}" ] && [ "$(id -u)" != 0 ]; then
  printf 'termic: run this as root: sudo %s\n' "$0" >&2
  exit 1
fi
install -D -m 0755 "$stage" "${DESTDIR:-}/usr/local/lib/termic/stage"
install -D -m 0644 sandbox/launch/apparmor/termic-stage "${DESTDIR:-}/etc/apparmor.d/termic-stage"
if [ -z "${DESTDIR:-}" ]; then
  apparmor_parser -r /etc/apparmor.d/termic-stage
fi
