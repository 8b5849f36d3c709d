#!/bin/sh
# sbom.sh FILE VERSION
#
# Writes what Steward is made of as a CycloneDX list, in JSON: the Go modules, as
# cyclonedx-gomod finds them with their licences, and what of npm goes into the page.
# The same commit gives the same bytes.
set -eu
file=$1 version=$2
cd "$(dirname "$0")/.."
GO=${GO:-go}
gomod=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

modules=$(mktemp)
trap 'rm -f "$modules"' EXIT
"$GO" run "$gomod" mod -json -licenses -assert-licenses -noserial -notimestamp -output-version 1.5 -output "$modules" .
"$GO" run ./build/sbom "$version" "$modules" frontend/package-lock.json >"$file"
