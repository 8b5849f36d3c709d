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
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd) version=$2
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

say() { printf 'macos: %s\n' "$*" >&2; }

mac=
[ "$(uname -s)" != Darwin ] || mac=1
number=$(printf '%s' "$version" | sed -nE 's/^([0-9]+\.[0-9]+\.[0-9]+).*$/\1/p')
[ -n "$number" ] || { say "no version: $version" && exit 2; }

if [ -z "$mac" ]; then
	build/need.sh 'makes the icon' png2icns icnsutils
	build/need.sh 'makes the disk image' genisoimage genisoimage
fi
"${MAKE:-make}" --no-print-directory frontend/dist/index.html >&2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
app=$work/image/Steward.app/Contents
mkdir -p "$app/MacOS" "$app/Resources"

# universal NAME CGO GOFLAG... builds a program for both processors.
universal() {
	local name=$1 cgo=$2 arch
	shift 2
	for arch in arm64 amd64; do
		CGO_ENABLED=$cgo GOOS=darwin GOARCH=$arch MACOSX_DEPLOYMENT_TARGET=12.0 \
			go build -trimpath -ldflags "-w -s $(build/ldflags.sh "$version")" "$@" -o "$work/$name-$arch" .
	done
	if [ -n "$mac" ]; then
		lipo -create -output "$app/MacOS/$name" "$work/$name-arm64" "$work/$name-amd64"
	else
		go run "$here/fat.go" "$app/MacOS/$name" "$work/$name-arm64" "$work/$name-amd64"
	fi
}

executable=steward
universal steward 0
if [ -n "$mac" ]; then
	executable=steward-desktop
	universal steward-desktop 1 -tags desktop,production
fi

if [ -n "$mac" ]; then
	mkdir "$work/Steward.iconset"
	for size in 16 32 128 256; do
		sips -z $size $size build/appicon.png --out "$work/Steward.iconset/icon_${size}x$size.png" >/dev/null
		sips -z $((2 * size)) $((2 * size)) build/appicon.png --out "$work/Steward.iconset/icon_${size}x$size@2x.png" >/dev/null
	done
	iconutil -c icns -o "$app/Resources/Steward.icns" "$work/Steward.iconset"
else
	png2icns "$app/Resources/Steward.icns" build/appicon.png >/dev/null
fi
sed -e "s/@EXECUTABLE@/$executable/" -e "s/@VERSION@/$version/" -e "s/@NUMBER@/$number/" "$here/Info.plist" >"$app/Info.plist"
printf 'APPL????' >"$app/PkgInfo"
cp LICENSE "$app/Resources/LICENSE.txt"
ln -s /Applications "$work/image/Applications"

if [ -n "$mac" ]; then
	dmg=$out/steward-$version-macos-universal.dmg
	"$here/sign.sh" app "$work/image/Steward.app"
	hdiutil create -quiet -ov -volname Steward -fs HFS+ -format UDZO -srcfolder "$work/image" "$dmg"
	"$here/sign.sh" dmg "$dmg"
else
	dmg=$out/steward-$version-macos-universal-nowindow.dmg
	genisoimage -quiet -V Steward -D -R -no-pad -o "$dmg" "$work/image"
	say 'left out, as they need a Mac: the window, signing, notarising'
fi
say "$(basename "$dmg"): $(($(wc -c <"$dmg") / 1024)) KiB"
