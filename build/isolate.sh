#!/usr/bin/env bash
# isolate.sh COMMAND...: runs a command as every test of ours is run: with an allow-listed environment, a new empty
# HOME and TMPDIR that are removed afterwards, no module downloads, and, where the system lets us, no network but lo.
set -euo pipefail
# shellcheck source=build/env.sh
. "$(dirname "$0")/env.sh"

# lo_up: a new network namespace has its loopback down. perl is in every Debian and Ubuntu, iproute2 is not.
# shellcheck disable=SC2016 # perl's variables
lo_up='ip link set lo up 2>/dev/null || perl -MSocket -e '\''
  socket(my $s, AF_INET, SOCK_DGRAM, 0) or die "socket: $!";
  my $request = pack("a16 s x22", "lo", 1);  # struct ifreq, IFF_UP; linux/if.h
  ioctl($s, 0x8914, $request) or die "SIOCSIFFLAGS: $!";  # linux/sockios.h
'\'' || exit 1; '

# netns COMMAND...: runs it in a network namespace of its own. A user who is not root gets it through a user
# namespace, and a second one inside gives them their own uid back: tests must not believe that they are root.
# shellcheck disable=SC2016 # the inner shell's variables
netns() {
  if [ "$(id -u)" = 0 ]; then
    unshare --net sh -c "$lo_up"'exec "$@"' sh "$@"
  else
    unshare --user --map-root-user --net sh -c "$lo_up"'
      uid=$1 gid=$2; shift 2
      exec unshare --user --map-user="$uid" --map-group="$gid" "$@"' sh "$(id -u)" "$(id -g)" "$@"
  fi
}

sandbox=
if [ "$os" = linux ] && has unshare && why=$(netns true 2>&1); then
  sandbox=netns
else
  say "tests are not cut off from the network here: ${why:-this system has no unshare}"
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/termic.XXXXXX")
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT # a test may leave a read-only directory
mkdir "$dir/home" "$dir/tmp"
chmod 711 "$dir" "$dir/tmp" # tests run children as other users, who have to get through

path=$(for tool in go git node; do has "$tool" && dirname "$(command -v "$tool")"; done | awk '!seen[$0]++' | tr '\n' ':')
$sandbox env -i \
  PATH="$path/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin" \
  HOME="$dir/home" TMPDIR="$dir/tmp" LANG=C.UTF-8 \
  GOCACHE="$(go env GOCACHE)" GOMODCACHE="$(go env GOMODCACHE)" GOPATH="$dir/home/go" \
  GOENV=off GOFLAGS='-mod=readonly -buildvcs=false' GOPROXY=off GOTOOLCHAIN=local GOWORK=off \
  "$@"
