#!/bin/sh
# Becomes the git that comes after this one in the PATH. First it says where the task's repository is, when that is the one
# that git would look for: started in the checkout, in no repository below it, and told of no other. The checkout's
# own .git file is closed in here: it is for programs outside.
checkout=@checkout@
private=@private@
programs=@programs@

real=
set -f
ifs=$IFS
IFS=:
for dir in $PATH; do
	case $dir in
	"$programs") ;;
	/*) if [ -f "$dir/git" ] && [ -x "$dir/git" ]; then real=$dir/git && break; fi ;;
	esac
done
IFS=$ifs
set +f
if [ -z "$real" ]; then
	echo 'git: not found' >&2
	exit 127
fi

# What an outer git was told by this program does not hold for another directory.
if [ "${GIT_DIR-}" = "$private" ]; then unset GIT_DIR GIT_WORK_TREE; fi
if [ -n "${GIT_DIR+set}" ]; then exec "$real" "$@"; fi

here=$(pwd -P)
takes=
for word do
	if [ "$takes" = -C ] && [ -n "$word" ]; then
		here=$(CDPATH='' cd -P -- "$here" && CDPATH='' cd -P -- "$word" && pwd -P) || exec "$real" "$@"
	fi
	if [ -n "$takes" ]; then
		takes=
		continue
	fi
	case $word in
	-C | -c | --namespace | --work-tree | --config-env | --super-prefix | --attr-source) takes=$word ;;
	--git-dir | --git-dir=* | --bare | clone | init) exec "$real" "$@" ;;
	-*) ;;
	*) break ;;
	esac
done

case $here in
"$checkout" | "$checkout"/*) ;;
*) exec "$real" "$@" ;;
esac
while [ "$here" != "$checkout" ]; do
	if [ -e "$here/.git" ] || { [ -f "$here/HEAD" ] && [ -d "$here/objects" ] && [ -d "$here/refs" ]; }; then exec "$real" "$@"; fi
	here=${here%/*}
done
GIT_DIR=$private
GIT_WORK_TREE=$checkout
export GIT_DIR GIT_WORK_TREE
exec "$real" "$@"
