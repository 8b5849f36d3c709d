#!/usr/bin/env bash
# build.sh PARTS VERSION
#
# Makes in the folder PARTS what package.sh signs and packs: the program as a bundle
# for both processors, and a link to the folder that it is dragged to. Needs Go and
# the page's Node, and no secret: code of others runs here. On a Mac with Xcode's
# command line tools all of it; elsewhere the bundle has the program without a window.
set -euo pipefail
parts=$(mkdir -p "$1" && cd "$1" && pwd) version=$2
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

say() { printf 'macos: %s\n' "$*" >&2; }

mac=
[ "$(uname -s)" != Darwin ] || mac=1
number=$(printf '%s' "$version" | sed -nE 's/^([0-9]+\.[0-9]+\.[0-9]+).*$/\1/p')
[ -n "$number" ] || { say "no version: $version" && exit 2; }

[ -n "$mac" ] || build/need.sh 'makes the icon' png2icns icnsutils
"${MAKE:-make}" --no-print-directory frontend/dist/index.html >&2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
app=$parts/Steward.app/Contents
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
ln -s /Applications "$parts/Applications"
