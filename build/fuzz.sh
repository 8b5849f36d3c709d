#!/bin/sh
# fuzz.sh GO INPUTS
#
# Tries INPUTS (such as 4000x) in every fuzzer of the module, one after another.
# A number and never a time: up to Go 1.26 a fuzzer stopped by its time fails now
# and then with "context deadline exceeded" and nothing found (go.dev/issue/75804).
set -eu
go=$1 inputs=$2

case $inputs in
'' | *[!0-9x]* | x* | *x?* | *[!x]) echo "fuzz.sh: INPUTS is a number of inputs, such as 4000x, and not $inputs" >&2; exit 2 ;;
esac

"$go" list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' ./... |
	while read -r package dir; do
		cat "$dir"/*_test.go 2>/dev/null |
			sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*\*testing\.F).*/\1/p' |
			while read -r fuzzer; do
				"$go" test -run '^$' -fuzz "^$fuzzer\$" \
					-fuzztime "$inputs" -fuzzminimizetime 100x "$package" </dev/null
			done
	done
