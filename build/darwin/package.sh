#!/usr/bin/env bash
# package.sh OUTDIR VERSION
#
# Makes steward-VERSION-macos-universal.dmg in OUTDIR, for both processors: the
# program, and a link to the folder that it is dragged to. On a Mac with Xcode's
# command line tools all of it; sign.sh signs.
#
# Elsewhere the window cannot be built. There it makes the same bundle of the
# program without a window, in steward-VERSION-macos-universal-nowindow.dmg, so
# that what can be looked at is looked at. That one is not for people.
#
# What it packs build.sh makes first, or has made before in the folder that
# STEWARD_PARTS names.
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd) version=$2
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

say() { printf 'macos: %s\n' "$*" >&2; }

mac=
[ "$(uname -s)" != Darwin ] || mac=1
[ -n "$mac" ] || build/need.sh 'makes the disk image' genisoimage genisoimage

work=$(mktemp -d)
image=$work/image # which others may enter, unlike work
trap 'rm -rf "$work"' EXIT
mkdir "$image"
if [ -n "${STEWARD_PARTS:-}" ]; then
	cp -RP "$STEWARD_PARTS/." "$image/"
else
	"$here/build.sh" "$image" "$version"
fi

if [ -n "$mac" ]; then
	dmg=$out/steward-$version-macos-universal.dmg
	"$here/sign.sh" app "$image/Steward.app"
	hdiutil create -quiet -ov -volname Steward -fs HFS+ -format UDZO -srcfolder "$image" "$dmg"
	"$here/sign.sh" dmg "$dmg"
else
	dmg=$out/steward-$version-macos-universal-nowindow.dmg
	genisoimage -quiet -V Steward -D -R -no-pad -o "$dmg" "$image"
	say 'left out, as they need a Mac: the window, signing, notarising'
fi
say "$(basename "$dmg"): $(($(wc -c <"$dmg") / 1024)) KiB"
