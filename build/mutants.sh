#!/usr/bin/env bash
# mutants.sh: removes one check of the authority after another, each by a patch in build/mutants, and runs the tests that the
# patch names. A mutant that its tests do not notice fails the run, and so does a patch that no longer applies: then the check
# has moved, and nobody would know whether it is still tested. Names given as arguments run only those.
#
# A patch begins with lines "check: WHAT" and "tests: PACKAGE -run PATTERN" (one or more). The tests that start the program
# build it from the changed tree.
set -euo pipefail
# shellcheck source=build/env.sh
. "$(dirname "$0")/env.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree

# fresh: the tree as it is, without what was changed before.
fresh() {
  rm -rf "$tree"
  mkdir -p "$tree"
  git ls-files -z -co --exclude-standard | while IFS= read -r -d '' f; do
    [ ! -f "$f" ] || printf '%s\0' "$f"
  done | tar -cf - --null -T - | tar -xf - -C "$tree"
}

# red PATCH: whether each of its tests fails on the changed tree, by a test that says so and not because nothing builds.
red() {
  local patch=$1 line out
  grep '^tests: ' "$patch" >"$work/tests" || { echo "names no tests"; return 1; }
  while read -r line; do
    # shellcheck disable=SC2086 # words of a command line
    if out=$(cd "$tree" && go test -count=1 -vet=off ${line#tests: } 2>&1); then
      echo "stays green: ${line#tests: }"
      return 1
    fi
    if ! grep -q -- '--- FAIL' <<<"$out"; then
      printf 'does not run: %s\n%s\n' "${line#tests: }" "$(tail -5 <<<"$out")"
      return 1
    fi
  done <"$work/tests"
}

survivors=0 count=0
for patch in build/mutants/*.patch; do
  name=$(basename "$patch" .patch)
  if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then continue; fi
  count=$((count + 1))
  fresh
  if ! out=$(patch -d "$tree" -p1 --forward --fuzz=0 <"$patch" 2>&1); then
    printf 'FAIL  %s: the patch no longer applies\n%s\n' "$name" "$out"
    survivors=$((survivors + 1))
  elif ! out=$(red "$patch"); then
    printf 'FAIL  %s: %s\n' "$name" "$out"
    survivors=$((survivors + 1))
  else
    printf 'ok    %s: %s\n' "$name" "$(sed -n 's/^check: //p' "$patch")"
  fi
done
[ "$count" -gt 0 ] || die "no such mutant: $*"
[ "$survivors" = 0 ] || die "$survivors of $count mutants live"
printf '%s mutants, each noticed\n' "$count"
