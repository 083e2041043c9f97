#!/usr/bin/env bash
# test-clients.sh [--cached | --record]: tries the app with real agent programs, at the versions that build/clients pins.
# They are large (some 1.1 GB together) and are fetched into the user's cache the first time; with --cached nothing is
# fetched, and without them nothing is tried.
set -euo pipefail
# shellcheck source=build/env.sh
. "$(dirname "$0")/env.sh"

clients=$toolchain/clients
cached() { [ -d "$clients/node_modules" ] && cmp -s build/clients/package-lock.json "$clients/package-lock.json"; }

if ! cached; then
  if [ "${1:-}" = --cached ]; then say 'no agent programs in the cache; make test-clients fetches and tries them'; exit 0; fi
  say "fetching the agent programs of build/clients into $clients"
  rm -rf "$clients"
  mkdir -p "$clients"
  cp build/clients/package.json build/clients/package-lock.json build/clients/.npmrc "$clients"
  (cd "$clients" && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier >&2) || { rm -rf "$clients"; die 'could not fetch them'; }
fi
build/build.sh
bin=$(mktemp -d "${TMPDIR:-/tmp}/termic-clients.XXXXXX")
trap 'rm -rf "$bin"' EXIT
modules=$clients/node_modules
# place NAME FILE...: the one file of a program, whatever this machine's package is called.
place() { [ -x "$2" ] || die "the cache holds no $1 for this machine"; ln -s "$2" "$bin/$1"; }
place claude "$modules"/@anthropic-ai/claude-code-*/claude
place codex "$modules"/@openai/codex-*/vendor/*/bin/codex
# shellcheck disable=SC2144 # one file at most
if [ -x "$modules"/opencode-*/bin/opencode ]; then place opencode "$modules"/opencode-*/bin/opencode; fi
printf '#!/bin/sh\nexec node "%s" "$@"\n' "$modules/@google/gemini-cli/bundle/gemini.js" >"$bin/gemini"
chmod +x "$bin/gemini"
if [ "${1:-}" = --record ]; then go run ./build/agents -bin "$bin"; exit; fi
build/isolate.sh go run ./build/clients -bin "$bin"

# Their definitions are tested as a person tests one of their own.
build/isolate.sh go run ./build/agents -bin "$bin" -try claude,codex

# Two sessions are recorded anew: their states must be those of the recordings that are kept.
build/isolate.sh go run ./build/agents -bin "$bin" -out "$bin/again" -only claude-turns,codex-turns
go test ./app/tab -count=1 -run TestRecordedAgain -recordings "$bin/again"
