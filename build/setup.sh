#!/usr/bin/env bash
# setup.sh NEED...: installs what is missing of git, make, go, cc, node, conformance, shellcheck, bubblewrap,
# webkit, display.
# Prints nothing when nothing is.
#
# What the system's package manager has comes from there (asked first, unless root or YES=1). Where its Go or Node
# is too old, a pinned one with a checked sum goes into the user's cache: no sudo, nothing else on the machine changes.
set -euo pipefail
# shellcheck source=build/env.sh
. "$(dirname "$0")/env.sh"

# cc_ok: the race detector needs a C compiler that links; gcc without libc6-dev does not.
cc_ok() { has cc && echo 'int main(void){return 0;}' | cc -x c -o /dev/null - 2>/dev/null; }

# webkit_ok: the window is built against GTK 3 and WebKitGTK 4.1 (Debian 12, Ubuntu 22.04 and later have it).
webkit_ok() { has pkg-config && pkg-config --exists webkit2gtk-4.1 gtk+-3.0 2>/dev/null; }

# packages_for NEED prints the system packages that NEED lacks, or nothing when it is there.
packages_for() {
  case $1-$os in
    git-linux) has git || echo git ca-certificates ;;
    make-linux) has make || echo make ;;
    cc-linux) cc_ok || echo gcc libc6-dev ;;
    # An old Go or Node is enough to fetch the right one with; none at all is not.
    go-linux) has go || [ -x "$go_dir/bin/go" ] || echo golang-go ca-certificates ;;
    node-linux) { has node || [ -x "$node_dir/bin/node" ]; } && has npm || echo nodejs npm ca-certificates ;;
    webkit-linux)
      cc_ok || echo gcc libc6-dev
      webkit_ok || echo pkg-config libgtk-3-dev libwebkit2gtk-4.1-dev
      ;;
    # A display without a screen, a window manager (without one the window never gets the keyboard), the driver of
    # the real window, and a browser for the page.
    display-linux)
      has Xvfb || echo xvfb xauth
      has openbox || echo openbox
      has WebKitWebDriver || echo webkit2gtk-driver
      has chromium || echo chromium
      has weston || echo weston # a display of Wayland
      has xdotool || echo xdotool
      has setxkbmap || echo x11-xkb-utils
      # What assistive programs see is read through their own bus.
      has dbus-run-session || echo dbus
      [ -x /usr/libexec/at-spi-bus-launcher ] || echo at-spi2-core
      /usr/bin/python3 -c 'import gi; gi.require_version("Atspi", "2.0")' 2>/dev/null || echo python3-gi gir1.2-atspi-2.0
      ;;
    webkit-darwin | display-darwin) ;; # the window is built and tested on Linux alone
    conformance-*) ;; # node's; what else it needs comes from npm
    shellcheck-*) has shellcheck || echo shellcheck ;;
    bubblewrap-linux) has bwrap || echo bubblewrap ;;
    bubblewrap-darwin) ;; # there is none, and nothing that bench would compare with it
    git-darwin) has git || echo git ;;
    go-darwin) has go || [ -x "$go_dir/bin/go" ] || echo go ;;
    node-darwin) node_ok || echo node ;;
    make-darwin | cc-darwin) cc_ok || die "the compiler is missing; run: xcode-select --install" ;;
    *) die "setup.sh: unknown need: $1" ;;
  esac
}

# allowed COMMAND: may this command of the system's package manager run?
allowed() {
  if [ "$(id -u)" = 0 ] || [ "${YES:-}" = 1 ]; then return; fi
  if ! [ -t 0 ]; then
    say "nobody to ask here; run this and try again (or set YES=1):"
    say "  $1"
    return 1
  fi
  printf 'termic: run it now? [y/N] ' >&2
  read -r answer
  [ "$answer" = y ] || [ "$answer" = Y ] || { say "nothing was installed"; return 1; }
}

# install_packages NAME... says what it will run, asks, and runs it.
install_packages() {
  local update install
  if has apt-get; then
    update='apt-get update -q'
    install="apt-get install -y --no-install-recommends $*"
    if [ "$(id -u)" != 0 ]; then
      has sudo || die "missing: $*; there is no sudo here: run as root: $install"
      update="sudo $update" install="sudo DEBIAN_FRONTEND=noninteractive $install"
    fi
  elif [ "$os" = darwin ] && has brew; then
    update=true install="brew install $*"
  elif [ "$os" = darwin ]; then
    die "missing: $*; install Homebrew (https://brew.sh), or these by hand, and try again"
  else
    die "missing: $*; there is no apt-get here: install these by hand and try again"
  fi
  say "to install: $*"
  say "will run: $update && $install"
  allowed "$update && $install" || exit 1
  $update >&2 || say "$update: did not work; trying with the package lists that are here"
  DEBIAN_FRONTEND=noninteractive $install >&2
}

# new_dir makes $tmp, a new directory in the cache, on the file system where its content will end up.
tmp=
trap '[ -z "$tmp" ] || rm -rf "$tmp"' EXIT
new_dir() {
  mkdir -p "$toolchain" 2>/dev/null || die "cannot write to $toolchain; set HOME or XDG_CACHE_HOME"
  tmp=$(mktemp -d "$toolchain/new.XXXXXX")
}

# fetch_go gets the pinned Go as the module that the go command itself would switch to. Go older than 1.21
# can download it but knows nothing of toolchains, so what cmd/go does after the download is done here:
# a module zip carries no execute bits, and nested go.mod files are named _go.mod.
fetch_go() {
  local name=go$go_version.$os-$arch want got dir
  want=$(awk -v n="$name" '$1 == n { print $2 }' build/toolchain.sum)
  [ -n "$want" ] || die "build/toolchain.sum has no checksum for $name"
  say "Go $(go_found) is older than $go_version; fetching $name into $toolchain"
  new_dir
  (cd "$tmp" && GOMODCACHE=$tmp/mod GOFLAGS='-mod=mod -modcacherw' GO111MODULE=on \
    go mod download -json "golang.org/toolchain@v0.0.1-$name" >"$tmp/json") || { cat "$tmp/json" >&2; die "could not fetch $name"; }
  got=$(sed -n 's/^[[:space:]]*"Sum": "\(.*\)",*$/\1/p' "$tmp/json")
  [ "$got" = "$want" ] || die "checksum of $name is $got, expected $want; nothing was installed"
  dir=$(sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p' "$tmp/json")
  chmod -R u+w "$dir"
  chmod -R a+x "$dir/bin" "$dir/pkg/tool"
  find "$dir/lib" -name 'go_*_exec' -exec chmod a+x {} +
  find "$dir" -name _go.mod -exec sh -c 'cp "$1" "${1%_go.mod}go.mod"' _ {} \;
  put "$dir" "$go_dir"
}

# fetch_suite gets the packages of build/conformance; npm checks their sums against its lock file.
fetch_suite() {
  say "fetching the conformance suite into $suite_dir"
  new_dir
  cp build/conformance/package.json build/conformance/package-lock.json build/conformance/.npmrc "$tmp"
  (cd "$tmp" && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error >&2) || die 'could not fetch the conformance suite'
  rm -rf "$suite_dir"
  put "$tmp" "$suite_dir"
}

# fetch_node gets the pinned Node; npm checks its sum against build/node/package-lock.json.
fetch_node() {
  [ "$os" = linux ] || die "Node $(node_found) is older than $1; run: brew upgrade node"
  local cpu=$arch
  [ "$arch" = amd64 ] && cpu=x64
  say "Node $(node_found) is older than $1; fetching $node_version into $toolchain"
  new_dir
  cp build/node/package.json build/node/package-lock.json "$tmp"
  (cd "$tmp" && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier >&2) || die "could not fetch Node $node_version"
  # To npm the packages are optional, since each is for one processor: a wrong sum is left out without a word.
  [ -x "$tmp/node_modules/node-linux-$cpu/bin/node" ] || die "npm gave no Node $node_version with the checksum in build/node"
  put "$tmp/node_modules/node-linux-$cpu" "$node_dir"
}

# put FROM TO moves FROM to TO in one step, so that a half-made TO is never seen; another run's TO stays.
put() {
  [ -e "$2" ] || mv "$1" "$2"
  rm -rf "$tmp"
  tmp=
}

missing() { for need in "$@"; do packages_for "$need"; done | tr ' ' '\n' | sort -u | tr '\n' ' '; }

packages=$(missing "$@")
if [ -n "$packages" ]; then
  # shellcheck disable=SC2086 # a list of words
  install_packages $packages
  hash -r
  use_tools
  packages=$(missing "$@")
  [ -z "$packages" ] || die "still missing after the installation: $packages"
fi
for need in "$@"; do
  if [ "$need" = go ] && ! go_ok; then
    fetch_go
    use_tools
    go_ok || die "the fetched Go does not start: $go_dir/bin/go"
  elif [ "$need" = node ] && ! node_ok; then
    fetch_node "$node_oldest"
    use_tools
    node_ok || die "the fetched Node does not start: $node_dir/bin/node"
  elif [ "$need" = conformance ]; then
    [ -n "$(suite_node)" ] || fetch_node "$suite_node_oldest"
    suite_cached || fetch_suite
  fi
done
