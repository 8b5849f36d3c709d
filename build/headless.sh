#!/bin/sh
# headless.sh OUT OS ARCH VERSION COMMIT
#
# Builds the program without a window for a system as GOOS and GOARCH name it,
# static, into the file OUT. The same commit with the same Go gives the same
# bytes, wherever the tree lies and whatever GOFLAGS say: releases, the image of
# build/docker and the check of both are built here.
#
# STEWARD_UPDATE_ADDRESS and STEWARD_UPDATE_KEY are built in when they are set: the
# folder of the newest release, and the release key, 32 raw bytes in base64; so is
# STEWARD_UPDATE_NOTES, the page that tells people what is new.
set -eu
out=$1 os=$2 arch=$3 version=$4 commit=$5

[ -f frontend/dist/index.html ] || {
	echo "headless.sh: the page is not built: make frontend/dist/index.html" >&2
	exit 1
}
env -u GOFLAGS -u GOEXPERIMENT -u GOAMD64 -u GOARM64 CGO_ENABLED=0 GOOS="$os" GOARCH="$arch" "${GO:-go}" build -trimpath -buildvcs=false \
	-ldflags "-s -w $(build/ldflags.sh "$version" "$commit")" -o "$out" .
