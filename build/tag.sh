#!/bin/sh
# tag.sh TAG
#
# Refuses a TAG that is no v and a version as semver.org says, without build
# metadata. Prints, as NAME=VALUE lines:
#
#   version   the version
#   latest    true if it is no pre-release and no tag here is of a higher version
#   minor     the same among those of its first two numbers, such as 1.2
#
# A release of an older line that is tended still must not become the newest.
set -eu
tag=$1

number='(0|[1-9][0-9]{0,8})'
word='(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)'
releases() { grep -xE "v$number\.$number\.$number" || true; }

case $tag in
*'
'*) one=false ;;
*) one=true ;;
esac
if ! $one || ! printf '%s\n' "$tag" | grep -qxE "v$number\.$number\.$number(-$word(\.$word)*)?"; then
	echo "tag.sh: a release's tag is v and a version such as 1.2.3 or 1.2.3-rc.1, and not $tag" >&2
	exit 2
fi

# highest PREFIX is the highest release that begins so, this one among them.
highest() { { git tag --list 'v*' && echo "$tag"; } | releases | grep -F "$1" | sort -V | tail -n 1; }
answer() { if [ "$1" = "$tag" ]; then echo true; else echo false; fi; }

version=${tag#v}
echo "version=$version"
echo "latest=$(answer "$(highest v)")"
echo "minor=$(answer "$(highest "${tag%.*}.")")"
