#!/usr/bin/env bash
# package.sh OUTDIR VERSION [ARCH...]
#
# Makes the installers for Windows, steward-VERSION-windows-ARCH-setup.exe, for
# amd64 and arm64, or for those named, into OUTDIR. Needs Go, the page's Node, and makensis; signs
# when a certificate is given (see sign.sh), which needs osslsigncode.
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd) version=$2
shift 2
archs=(amd64 arm64)
[ $# = 0 ] || archs=("$@")
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

winres=github.com/tc-hib/go-winres@v0.3.3
most=$((20 * 1024 * 1024)) # bytes of one installer

say() { printf 'windows: %s\n' "$*" >&2; }

build/need.sh 'makes the installer' makensis nsis
if [ -n "${STEWARD_WINDOWS_CERT:-}" ]; then
	build/need.sh 'signs the programs' osslsigncode osslsigncode
else
	say 'STEWARD_WINDOWS_CERT is not set: programs, installer and uninstaller are not signed'
fi
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
*) say "no version: $version" && exit 2 ;;
esac

# program NAME DESCRIPTION GOFLAG... builds it for both, with its icon, version
# and manifest.
program() {
	local name=$1 description=$2 arch
	shift 2
	sed -e "s/@NAME@/$name/" -e "s/@DESCRIPTION@/$description/" "$here/winres.json" >"$work/winres.json"
	cp build/appicon.png "$work/icon.png"
	go run "$winres" make --in "$work/winres.json" --arch "$(IFS=,; echo "${archs[*]}")" --file-version "$number" --product-version "$version"
	for arch in "${archs[@]}"; do
		mkdir -p "$work/$arch"
		CGO_ENABLED=0 GOOS=windows GOARCH=$arch go build -trimpath "$@" -o "$work/$arch/$name.exe" .
		"$here/sign.sh" "$work/$arch/$name.exe"
	done
	rm -f rsrc_windows_amd64.syso rsrc_windows_arm64.syso
}

version_flag=$(build/ldflags.sh "$version")
program steward 'Steward for clients and the command line' -ldflags "-w -s $version_flag"
program steward-desktop 'Steward' -tags desktop,production -ldflags "-w -s -H windowsgui $version_flag"

# The installer's own icon is the program's.
go run "$winres" extract --dir "$work/resources" "$work/${archs[0]}/steward-desktop.exe"
icon=$(find "$work/resources" -name '*.ico' | head -n 1)

# Microsoft's small program that fetches WebView2 comes with the window's library.
webview=$(go list -m -f '{{.Dir}}' github.com/wailsapp/wails/v2)/internal/webview2runtime/MicrosoftEdgeWebview2Setup.exe

for arch in "${archs[@]}"; do
	# The 64-bit installer is the one that the test under wine runs. A 32-bit one
	# also starts on the older Windows for arm64, which runs no amd64 program.
	target=x86-unicode
	[ "$arch" = arm64 ] || target=amd64-unicode
	setup=$out/steward-$version-windows-$arch-setup.exe
	makensis -V2 -INPUTCHARSET UTF8 "-XTarget $target" -DARCH="$arch" -DVERSION="$version" -DNUMBER="$number" \
		-DPROGRAMS="$work/$arch" -DICON="$icon" -DLICENSE="$PWD/LICENSE" -DWEBVIEW="$webview" \
		-DSIGN="$here/sign.sh" -DOUT="$setup" "$here/installer.nsi" >&2
	"$here/sign.sh" "$setup"
	size=$(wc -c <"$setup")
	say "$(basename "$setup"): $((size / 1024)) KiB"
	[ "$size" -le "$most" ] || { say "that is more than $((most / 1024)) KiB" && exit 1; }
done
