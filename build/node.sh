#!/bin/sh
# node.sh FOLDER
#
# Makes sure that Node is 20.19 or newer, which the page is built with. A system
# that has an older one gets a newer beside it, in FOLDER alone, and is told so.
set -eu

folder=$1
enough='const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)'

node -e "$enough" 2>/dev/null && exit 0

echo "Node $(node --version) is too old for the page: fetching 22 from npm into $folder" >&2
mkdir -p "$folder"
npm install --prefix "$folder" --no-save --no-audit --no-fund --loglevel=error node@22 >&2
"$folder/node_modules/.bin/node" -e "$enough" || {
	echo "npm did not bring a Node that runs here: install Node 20.19 or newer" >&2
	exit 1
}
