# Every target is a script in build/ or a Go program that one starts; `make` alone lists them.
# Nothing is built into the tree but build/bin and frontend/node_modules, both ignored by git.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup build window run test test-window check demo bench soak soak-window screenshots fuzz mutants test-clients record-agents clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: ## install what is missing to build and test (YES=1: without asking)
	@build/setup.sh git go cc node conformance webkit display

build: ## build/bin/termic, static (VERSION=… to name it)
	@build/setup.sh go
	@build/build.sh

window: build ## build/bin/termic-app, the app with its window
	@build/setup.sh node webkit
	@build/window.sh

run: ## set up, build, start the app: with its window where there is a display
	@build/setup.sh git go
	@build/build.sh
	@build/run.sh

test: ## set up, then everything: checks, demo, tests
	@build/setup.sh git go cc node conformance
	@build/test.sh

test-window: ## the window's own tests: its page, the page in a browser, the real window (installs both)
	@build/setup.sh git go node webkit display
	@build/build.sh
	@build/test-window.sh

check: ## formatting, vet on each system, staticcheck, known vulnerabilities, generated files, types, scripts
	@build/setup.sh git go node
	@build/check.sh

demo: build ## the main job on a temporary repository, step by step
	@build/go-run.sh build/demo

bench: build ## compare with peers measured in the same run
	-@build/setup.sh bubblewrap
	@build/go-run.sh build/bench

soak: build ## run for a long time and watch what grows
	@build/go-run.sh build/soak

soak-window: ## print FLOOD_MIB (4096) into a terminal of the real window: the page's process must not grow
	@build/setup.sh git go node webkit display
	@build/build.sh
	@build/window.sh
	@build/isolate.sh env TERMIC_FLOOD_MIB=$(or $(FLOOD_MIB),4096) node --test --test-name-pattern='does not grow' frontend/e2e/desktop.test.mjs

screenshots: ## take the pictures of docs/window.md anew
	@build/setup.sh git go node display
	@build/build.sh
	@build/window.sh page
	@command -v convert >/dev/null || { echo 'termic: convert is missing; install imagemagick' >&2; exit 1; }
	@CGO_ENABLED=0 go build -trimpath -o build/bin/testagent ./testdata/testagent
	@build/isolate.sh node frontend/e2e/shots.mjs

fuzz: ## each fuzz target for FUZZTIME (10s)
	@build/setup.sh go node
	@build/fuzz.sh

mutants: ## remove each check of the authority in turn: its tests must notice (about 20 minutes)
	@build/setup.sh git go
	@build/mutants.sh

test-clients: ## try real agent programs (fetches some 400 MB the first time, 1.1 GB on disk)
	@build/setup.sh git go node
	@build/test-clients.sh

record-agents: ## record the sessions of agent programs anew that their state is tested on (app/tab/testdata/agents)
	@build/setup.sh git go node
	@build/test-clients.sh --record

clean: ## remove what was built; the cache of setup stays
	rm -rf build/bin frontend/node_modules frontend/dist
