#!/usr/bin/env bash
# build.sh PARTS VERSION [ARCH...]
#
# Makes in the folder PARTS what package.sh signs and packs: the programs for
# Windows, for amd64 and arm64 or for those named, and the other files that the
# installer takes. Needs Go and the page's Node, and no secret: code of others runs
# here.
set -euo pipefail
parts=$(mkdir -p "$1" && cd "$1" && pwd) version=$2
shift 2
archs=(amd64 arm64)
[ $# = 0 ] || archs=("$@")
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

winres=github.com/tc-hib/go-winres@v0.3.3

"${MAKE:-make}" --no-print-directory frontend/dist/index.html >&2

# The linker takes resources only from files beside the code, and into whatever
# is built meanwhile: they are there no longer than they must.
work=$(mktemp -d)
trap 'rm -rf "$work" rsrc_windows_amd64.syso rsrc_windows_arm64.syso' EXIT

# The resources' version is four numbers: the last counts the commits since the
# tag.
number=$(printf '%s' "$version" | sed -nE 's/^([0-9]+\.[0-9]+\.[0-9]+)(-dev\.([0-9]+))?.*$/\1.\3/p')
number=${number%.}
case $number in
*.*.*.*) ;;
*.*.*) number=$number.0 ;;
*) echo "windows: no version: $version" >&2 && exit 2 ;;
esac
echo "$number" >"$parts/number"

# program NAME DESCRIPTION GOFLAG... builds it for both, with its icon, version
# and manifest.
program() {
	local name=$1 description=$2 arch
	shift 2
	sed -e "s/@NAME@/$name/" -e "s/@DESCRIPTION@/$description/" "$here/winres.json" >"$work/winres.json"
	cp build/appicon.png "$work/icon.png"
	go run "$winres" make --in "$work/winres.json" --arch "$(IFS=,; echo "${archs[*]}")" --file-version "$number" --product-version "$version"
	for arch in "${archs[@]}"; do
		mkdir -p "$parts/$arch"
		CGO_ENABLED=0 GOOS=windows GOARCH=$arch go build -trimpath "$@" -o "$parts/$arch/$name.exe" .
	done
	rm -f rsrc_windows_amd64.syso rsrc_windows_arm64.syso
}

version_flag=$(build/ldflags.sh "$version")
program steward 'Steward for clients and the command line' -ldflags "-w -s $version_flag"
program steward-desktop 'Steward' -tags desktop,production -ldflags "-w -s -H windowsgui $version_flag"

# The installer's own icon is the program's.
go run "$winres" extract --dir "$work/resources" "$parts/${archs[0]}/steward-desktop.exe"
cp "$(find "$work/resources" -name '*.ico' | head -n 1)" "$parts/steward.ico"

# Microsoft's small program that fetches WebView2 comes with the window's library.
cp "$(go list -m -f '{{.Dir}}' github.com/wailsapp/wails/v2)/internal/webview2runtime/MicrosoftEdgeWebview2Setup.exe" "$parts/"
