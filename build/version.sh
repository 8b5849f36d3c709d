#!/bin/sh
# version.sh
#
# Prints the version of this tree, ordered as semver.org says, so that of two
# services the one with the later commit counts as newer:
#
#   1.2.3                       on the tag v1.2.3
#   1.2.4-dev.5.gabc1234        five commits after it
#   1.3.0-rc.1.5.gabc1234       five commits after v1.3.0-rc.1
#   0.1.0-dev.5.gabc1234        the fifth commit, before any tag
#
# and .dirty after it when the tree holds changes. Prints 0.1.0-dev outside git.
set -eu

if described=$(git describe --tags --match 'v[0-9]*' --long --dirty 2>/dev/null); then
	dirty=
	case $described in *-dirty) dirty=.dirty described=${described%-dirty} ;; esac
	hash=${described##*-} described=${described%-*}
	count=${described##*-} tag=${described%-*}
	version=${tag#v}
	if [ "$count" = 0 ] && [ -z "$dirty" ]; then
		echo "$version"
		exit
	fi
	case $version in
	*-*) echo "$version.$count.$hash$dirty" ;;
	*)
		patch=${version##*.}
		echo "${version%.*}.$((patch + 1))-dev.$count.$hash$dirty"
		;;
	esac
elif count=$(git rev-list --count HEAD 2>/dev/null); then
	dirty=
	[ -z "$(git status --porcelain --untracked-files=no)" ] || dirty=.dirty
	echo "0.1.0-dev.$count.g$(git rev-parse --short HEAD)$dirty"
else
	echo 0.1.0-dev
fi
