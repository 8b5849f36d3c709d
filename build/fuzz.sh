#!/bin/sh
# fuzz.sh GO TIME
#
# Runs every fuzzer of the module for TIME, one after another.
set -eu
go=$1 time=$2

"$go" list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' ./... |
	while read -r package dir; do
		cat "$dir"/*_test.go 2>/dev/null |
			sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*\*testing\.F).*/\1/p' |
			while read -r fuzzer; do
				"$go" test -run '^$' -fuzz "^$fuzzer\$" -fuzztime "$time" "$package" </dev/null
			done
	done
