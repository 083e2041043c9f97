# shellcheck shell=bash disable=SC2034 # what is set here is used by those who source it
# Sourced by the scripts beside it: where the tree is, which tools are asked for, and a PATH that finds them.
# A tool of the system is used when it is new enough; else the one that setup.sh put into the cache.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root" || exit

go_version=$(awk '$1 == "go" { print $2; exit }' go.mod)
node_oldest=20       # the oldest major that TypeScript and our scripts are run with
node_version=22.23.3 # fetched when the system's is older; pinned with its checksum in build/node

say() { printf 'termic: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) die "$(uname -s) is not supported; Linux and macOS are" ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) die "$(uname -m) is not supported; amd64 and arm64 are" ;;
esac

# Go, npm and we keep caches under HOME: without one, say so here and not in each tool's own words.
[ -n "${HOME:-}" ] || die "HOME is not set; set it to a directory that you can write to"
{ [ -d "$HOME" ] && [ -w "$HOME" ]; } || die "HOME ($HOME) is not a directory that you can write to; set it to one"
toolchain=${XDG_CACHE_HOME:-$HOME/.cache}/termic/toolchain
go_dir=$toolchain/go$go_version
node_dir=$toolchain/node$node_version
suite_node_oldest=22 # the conformance suite uses fs.globSync
suite_dir=$toolchain/conformance

# at_least HAVE WANT tells whether the dotted version HAVE is WANT or newer.
at_least() {
  awk -v have="$1" -v want="$2" 'BEGIN {
    split(have, h, "."); split(want, w, ".")
    for (i = 1; i <= 3; i++) if (h[i] + 0 != w[i] + 0) exit (h[i] + 0 < w[i] + 0)
  }'
}

has() { command -v "$1" >/dev/null 2>&1; }

# go_found prints the version of the go command in PATH, or nothing. Asked outside the module:
# inside, a newer go command would fetch the module's toolchain before it answers.
go_found() { (cd / && GOTOOLCHAIN=local go version 2>/dev/null) | sed -n 's/^go version go\([0-9.]*\).*/\1/p'; }
node_found() { node --version 2>/dev/null | sed -n 's/^v\([0-9.]*\)$/\1/p'; }
go_ok() { at_least "$(go_found)" "$go_version"; }
node_ok() { at_least "$(node_found)" "$node_oldest" && has npm; }

# suite_node prints a Node that runs the conformance suite, or nothing.
suite_node() {
  if at_least "$(node_found)" "$suite_node_oldest"; then
    command -v node
  elif [ -x "$node_dir/bin/node" ]; then
    printf '%s\n' "$node_dir/bin/node"
  fi
}
suite_cached() { [ -d "$suite_dir/node_modules" ] && cmp -s build/conformance/package-lock.json "$suite_dir/package-lock.json"; }

# use_tools puts the cached tools in front of PATH where the system's will not do.
use_tools() {
  if ! go_ok && [ -x "$go_dir/bin/go" ]; then PATH=$go_dir/bin:$PATH; fi
  if ! node_ok && [ -x "$node_dir/bin/node" ]; then PATH=$node_dir/bin:$PATH; fi
  export PATH
}
use_tools
unset GOROOT                # one left over from another Go would make ours use its library
export GOTOOLCHAIN=local    # what we run is what was checked above; nothing else is fetched
export GOWORK=off
