# Steward. On a fresh machine with Go and make, two commands do everything:
#
#   make run     build and show the window; without a display the service, with HTTP
#   make test    every test, with the race detector, the fuzzers briefly
#
# `make help` lists the rest. Nothing is installed unless it is missing, and then
# the line that installs it says so.

GO    ?= go
SHELL := /bin/sh

comma   := ,
bin     := build/bin
steward := $(bin)/steward
desktop := $(bin)/steward-desktop
inspect := $(bin)/steward-desktop-inspect

# The window is made of the system's web view: on Linux WebKitGTK, on macOS WebKit.
system       := $(shell uname -s)
desktop_tags := desktop,production$(if $(filter Linux,$(system)),$(comma)webkit2_41)

# A newer Node than the system's, where that one is too old; see build/node.sh.
newer := $(CURDIR)/$(bin)/node
export PATH := $(newer)/node_modules/.bin:$(PATH)

# The page is built again when something that it is made of has changed.
page      := frontend/dist/index.html
page_made := frontend/node_modules/.package-lock.json
page_from := $(wildcard frontend/*.json frontend/*.ts frontend/*.js frontend/index.html) \
	$(shell find frontend/src frontend/public frontend/build \( -type f -o -type d \) 2>/dev/null)

VERSION ?= $(shell build/version.sh)
# Where newer releases are is built in from STEWARD_UPDATE_...: see build/ldflags.sh.
ldflags = $(shell build/ldflags.sh '$(VERSION)')

# staticcheck by exact version, run from the module proxy: nothing to install.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0

# How many inputs each fuzzer tries in `make test`.
FUZZINPUTS ?= 4000x

.PHONY: help build run test test-clients test-window test-page test-e2e test-day test-packages screenshots unit fuzz bench bench-large generate lint fmt clean \
	dist need-go need-cc need-node need-browser need-window need-screen FORCE

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(steward) $(desktop) ## build/bin/steward, and steward-desktop with the window

$(steward): need-go $(page) FORCE
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(ldflags)' -o $@ .

$(desktop): need-go need-window $(page) FORCE
	CGO_ENABLED=1 $(GO) build -trimpath -tags $(desktop_tags) -ldflags '-w -s $(ldflags)' -o $@ .

# For tests alone: the web view's inspector opens when it is asked to.
$(inspect): need-go need-window $(page) FORCE
	CGO_ENABLED=1 $(GO) build -trimpath -tags $(desktop_tags),inspect -ldflags '-w -s $(ldflags)' -o $@ .

$(page): $(page_made) $(page_from)
	cd frontend && npm run --silent build

$(page_made): frontend/package.json frontend/package-lock.json | need-node
	cd frontend && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

run: build ## build and show the window; without a display the service, with HTTP on this machine
	@if [ '$(system)' = Darwin ] || [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ]; then \
		echo '$(desktop)'; exec $(desktop); \
	else \
		echo 'There is no display: $(steward) serve --listen 127.0.0.1:8971'; \
		exec $(steward) serve --listen 127.0.0.1:8971; \
	fi

test: need-cc ## every test: Go with the race detector, fuzzers briefly, the page, the window
	@$(MAKE) --no-print-directory test-page
	@$(MAKE) --no-print-directory test-e2e
ifeq ($(system),Linux)
	@$(MAKE) --no-print-directory test-window
endif
	@$(MAKE) --no-print-directory fuzz
	@$(MAKE) --no-print-directory unit

test-page: $(page_made) # the page's own tests and types
	cd frontend && npm run --silent check && npm test --silent

unit: need-cc # every test with the race detector
	CGO_ENABLED=1 $(GO) test -race -shuffle=on -timeout 12m ./...

# A fuzzer that finds something writes it under testdata/fuzz of its package.
fuzz: need-go # every fuzzer with FUZZINPUTS
	@build/fuzz.sh '$(GO)' '$(FUZZINPUTS)'

test-window: $(inspect) $(desktop) need-screen ## the real window on a screen that nobody sees, by mouse, keyboard and pixels
	STEWARD_WINDOW=$(CURDIR)/$(inspect) STEWARD_WINDOW_RELEASE=$(CURDIR)/$(desktop) \
		$(GO) test -count=1 -timeout 10m ./app/windowtest/

test-e2e: $(steward) need-browser ## the page in Chromium, against the real service and real bridges
	cd frontend && npx --no-install tsc -p e2e && npx --no-install playwright test --project=page

test-day: $(steward) need-browser ## a day of decisions: 30 streams, 300 questions, a person at the keyboard, five kills
	cd frontend && npx --no-install tsc -p e2e && npx --no-install playwright test --project=day

screenshots: $(steward) need-browser ## every view of the page into build/bin/screenshots; refreshes the two in build/screenshots
	@[ -n "$$(fc-list :lang=zh 2>/dev/null)" ] || echo 'There is no Chinese font here (fonts-noto-cjk): half of the pictures will be empty boxes.' >&2
	cd frontend && npx --no-install playwright test --project=shots

test-clients: $(steward) need-go ## real MCP clients against the built program; installs them outside the repository
	@clients=$$(.ci/clients-install) && \
	STEWARD_CLIENTS=$$clients STEWARD_CLIENTS_PROGRAM=$(CURDIR)/$(steward) \
		$(GO) test -count=1 -v -timeout 20m ./app/clients/

bench: build need-go need-browser $(if $(filter Linux,$(system)),need-screen) ## ratios against peers and limits, about a quarter of an hour
	@build/need.sh 'the Python peer of the benchmarks' python3 python3
	$(GO) build -trimpath -o $(bin)/bench/ ./bench/...
	@for b in receipts ask report workspaces bridge idle kill page; do \
		$(bin)/bench/$$b -steward $(steward) || exit 1; done
ifeq ($(system),Linux)
	$(bin)/bench/window -window $(desktop)
endif

bench-large: build need-go ## ten million events, and a disk made slow by strace
	@build/need.sh 'slows fsync down' strace strace
	$(GO) build -trimpath -o $(bin)/bench/ ./bench/...
	$(bin)/bench/slowdisk
	$(bin)/bench/report -large

# Linux packages are built with Go alone, and the window's libraries; build/dist.sh
# says what each system's packages need and what was left out here.
dist: need-go need-node ## every package of a release that this machine can build, into build/bin/dist
	rm -rf $(bin)/dist
	@GO='$(GO)' MAKE='$(MAKE)' build/dist.sh $(bin)/dist $(VERSION)

test-packages: need-go need-node ## the Linux packages, installed and run in a small Debian; the image's root; needs root
	@GO='$(GO)' MAKE='$(MAKE)' .ci/packages

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

# npm of Node 20.19 or newer.
need-node:
	@build/need.sh 'builds the page' node nodejs
	@build/need.sh 'builds the page' npm npm
	@build/node.sh '$(newer)'

# The system's own browser; Playwright fetches none.
need-browser: need-node
	@build/need.sh 'the page is looked at in it' "$${CHROMIUM:-chromium}" chromium
	@build/need.sh 'signs in as a person at a terminal does' script bsdutils

need-window: need-cc
ifeq ($(system),Linux)
	@build/need.sh 'finds the libraries of the window' pkg-config pkg-config
	@build/need.sh 'the window is made of it' lib:gtk+-3.0 libgtk-3-dev
	@build/need.sh 'the window is made of it' lib:webkit2gtk-4.1 libwebkit2gtk-4.1-dev
endif

need-screen:
	@build/need.sh 'a screen that nobody sees' Xvfb xvfb
	@build/need.sh 'a window manager for it' openbox openbox
	@build/need.sh 'a compositor for it' picom picom

FORCE:
