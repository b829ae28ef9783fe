# introgen's tasks. `make help` lists them; each brings what it needs itself.

# Tools that are Go programs, pinned; go fetches and builds them the first time.
GOTESTSUM     := gotest.tools/gotestsum@v1.13.0
STATICCHECK   := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# The platforms that must build and vet besides this one.
CROSS    := linux/amd64 linux/arm64 darwin/arm64 darwin/amd64
FUZZTIME ?= 10m
ROUNDS   ?= 3

# scripts/env adds the tag hf where the tokenizers library has been built.
GO := scripts/env go

.DEFAULT_GOAL := help
.PHONY: help run test programs bench peers growth metal-check lint setup cross race fuzz clean

help: ## list the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## set up, and time ROUNDS=3 generations of the real model on the CPU
	@scripts/setup run
	bin/introgen cpu $(ROUNDS)

test: ## set up for tests, and run all of them
	@scripts/setup all
	@$(GO) run $(GOTESTSUM) --format pkgname-and-test-fails --format-hide-empty-pkg -- -timeout 20m ./...
	@scripts/test-arm64
	@scripts/test-apple
	@scripts/recorder-macos

programs: ## build programs of others' making from published crates, run them, and hold introgen's plan against candle (minutes the first time)
	@scripts/setup all
	@INTROGEN_PROGRAMS=1 $(GO) test -v -count=1 -timeout 60m ./examples
	@$(GO) run ./scripts/candleplan -program "$$(scripts/candle-program)" $(ARGS)

bench: ## run the Go benchmarks of every package
	@scripts/setup run
	@$(GO) test -run '^$$' -bench . ./...

peers: ## build the peers and compare with them in one interleaved run (ARGS=-h)
	@scripts/setup run
	@scripts/peers/run $(ARGS)

growth: ## measure how cost grows with size and context, beside llama.cpp: hours (ARGS=-h)
	@scripts/setup run
	@scripts/growth/run $(ARGS)

metal-check: ## check the apple driver on this Mac, and write metal-check/metal-check.txt (ARGS=-h)
	@scripts/setup run
	@go run ./scripts/metalcheck $(ARGS)

lint: cross ## gofmt, vet for every platform, staticcheck, golangci-lint
	@scripts/lint $(STATICCHECK) $(GOLANGCI_LINT)

setup: ## build bin/introgen; bring the model, clang and what tests compare with
	@scripts/setup all

cross: ## build and vet for every platform, without cgo
	@scripts/cross $(CROSS)

race: ## run the tests that need no long computing under the race detector
	@$(GO) test -race -short ./...

fuzz: ## fuzz every parser for FUZZTIME=10m each
	@scripts/fuzz $(FUZZTIME)

clean: ## remove what was built in this folder; models and libraries stay
	rm -rf bin
