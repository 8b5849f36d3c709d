# Steward. On a fresh machine with Go and make, two commands do everything:
#
#   make run     build and start the service in this terminal, with HTTP
#   make test    every test, with the race detector, the fuzzers briefly
#
# `make help` lists the rest. Nothing is installed unless it is missing, and then
# the line that installs it says so.

GO    ?= go
SHELL := /bin/sh

bin     := build/bin
steward := $(bin)/steward

VERSION ?= $(shell build/version.sh)
ldflags := -X steward/app/cli.version=$(VERSION)

# staticcheck by exact version, run from the module proxy: nothing to install.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0

# How long each fuzzer runs in `make test`.
FUZZTIME ?= 5s

.PHONY: help build run test test-clients unit fuzz bench bench-large generate lint fmt clean need-go need-cc FORCE

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(steward) ## build/bin/steward

$(steward): need-go FORCE
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(ldflags)' -o $@ .

run: build ## build and start the service in this terminal, with HTTP on this machine
	$(steward) serve --listen 127.0.0.1:8971

test: need-cc ## every test with the race detector; the fuzzers briefly
	@$(MAKE) --no-print-directory fuzz
	@$(MAKE) --no-print-directory unit

unit: need-cc # every test with the race detector
	CGO_ENABLED=1 $(GO) test -race -shuffle=on -timeout 12m ./...

# A fuzzer that finds something writes it under testdata/fuzz of its package.
fuzz: need-go # every fuzzer for FUZZTIME
	@build/fuzz.sh '$(GO)' '$(FUZZTIME)'

test-clients: build need-go ## real MCP clients against the built program; installs them outside the repository
	@clients=$$(.ci/clients-install) && \
	STEWARD_CLIENTS=$$clients STEWARD_CLIENTS_PROGRAM=$(CURDIR)/$(steward) \
		$(GO) test -count=1 -v -timeout 20m ./app/clients/

bench: build need-go ## ratios against peers and limits, about ten minutes
	@build/need.sh 'the Python peer of the benchmarks' python3 python3
	$(GO) build -trimpath -o $(bin)/bench/ ./bench/...
	@for b in receipts report workspaces bridge idle kill; do \
		$(bin)/bench/$$b -steward $(steward) || exit 1; done

bench-large: build need-go ## ten million events, and a disk made slow by strace
	@build/need.sh 'slows fsync down' strace strace
	$(GO) build -trimpath -o $(bin)/bench/ ./bench/...
	$(bin)/bench/slowdisk
	$(bin)/bench/report -large

generate: need-go ## mcp/local/tools.gen.json, frontend/src/ops.gen.ts, the tables of the two READMEs
	$(GO) run ./mcp/ops/gen

lint: need-go ## gofmt, go vet, staticcheck, and golangci-lint where it is installed
	@f=$$(gofmt -l .); [ -z "$$f" ] || { echo "gofmt wants:" >&2; echo "$$f" >&2; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	@if command -v golangci-lint >/dev/null 2>&1; then golangci-lint run; fi

fmt: need-go # format what gofmt would change
	gofmt -w .

clean: ## what build and test made
	rm -rf $(bin)
	$(GO) clean -testcache

need-go:
	@command -v '$(GO)' >/dev/null 2>&1 || { echo 'Steward is built with Go 1.26 or newer: https://go.dev/dl/' >&2; exit 1; }

# The race detector links C.
need-cc: need-go
	@build/need.sh 'the race detector links C' "$$($(GO) env CC)" gcc libc6-dev

FORCE:
