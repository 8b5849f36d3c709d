#!/usr/bin/env bash
# dist.sh OUTDIR VERSION
#
# Builds every package of a release that this machine can build into OUTDIR, with
# sums and a list of what is in it, and says what was left out and why. Fails when
# something that was begun did not come to its end.
#
# STEWARD_DIST names the systems, by default all: "linux windows darwin". Which
# secrets and addresses a release takes from the environment: build/ldflags.sh,
# build/sums.sh, and the scripts of each system.
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd) version=$2
cd "$(dirname "$0")/.."
# shellcheck source=build/stamp.sh
. build/stamp.sh

say() { printf 'dist: %s\n' "$*" >&2; }

[ -z "$(ls -A "$out")" ] || {
	say "$out is not empty; its files would be taken for files of the release"
	exit 1
}
left=() failed=
for system in ${STEWARD_DIST:-linux windows darwin}; do
	if [ -x "build/$system/package.sh" ]; then
		say "for $system"
		"build/$system/package.sh" "$out" "$version" || {
			left+=("$system: build/$system/package.sh failed; its lines above say why")
			failed=1
		}
	else
		left+=("$system: this tree has no build/$system/package.sh")
	fi
done
build/sbom.sh "$out/steward_${version}_sbom.cdx.json" "$version"
build/sums.sh "$out"

say "in $out:"
cat "$out/SHA256SUMS" >&2
for l in ${left[@]+"${left[@]}"}; do say "left out: $l"; done
[ -z "$failed" ]
