# One way to do each chore. Scripts say what they need; tools go to ignored folders of the repo.
.DEFAULT_GOAL := help
.PHONY: help dev test e2e proof lists bench release sim explore walks oracle fences chaos soak mutate load lint fmt synth tools

help: ## list the targets
	@sed -nE 's/^([a-z0-9]+):.*## (.*)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) | while IFS='|' read -r t d; do printf '  make %-7s %s\n' "$$t" "$$d"; done

dev: ## run the example jobs in a local cloud (needs Go)
	go run ./cmd/cronfence dev

test: .venv/stamp ## run every test, under the race detector too (needs Go, a C compiler, Python 3.11, Node.js)
	scripts/test

release: ## build the command line for all platforms into dist, with checksums and bills of materials (needs Go, git)
	scripts/release

lists: .venv/stamp ## measure long lists of the command line on an emulator (needs Go, Python 3.11)
	go test -v -timeout 30m ./cmd/cronfence -run MeasureLists -lists

bench: .venv/stamp ## measure speed beside peers, cold starts and scale; docs/performance.md has the figures (needs Go, Python 3.11, Java 17, Maven)
	scripts/bench

e2e: .venv/stamp ## deploy the example on an emulator with the CDK, watch its ticks for four minutes (needs Go, Python 3.11, Node.js)
	go test -v -count=1 -timeout 25m ./internal/e2e -e2e

proof: sim explore walks oracle fences chaos soak mutate load ## all the long runs below; docs/proof.md has their figures (needs hours)

sim: ## simulate a million schedules with faults and a year of ticks, break the protocol in 43 ways (needs Go)
	go test -v -timeout 0 ./internal/sim -sim.n=1000000 -sim.mutants=all -sim.year

STATES ?= 25000000
explore: ## try every interleaving of a small model with every pair of faults, 25 million states of each or STATES=0 for all (needs Go, 16 GB)
	go test -v -timeout 0 ./internal/explore -run '^TestInvariants' -explore.full -explore.states $(STATES)

walks: .venv/stamp ## walk 5,000 random sequences on memory and on an emulator (needs Go, Python 3.11)
	go test -v -timeout 20m ./pkg/guard/dynamo -run 'RandomWalks|Histories' -walks 5000

oracle: ## hold 20,000 random expressions against a minute-by-minute oracle (needs Go)
	go test -v ./pkg/schedule -run '^TestOracle$$' -oracle.n=20000

fences: .venv/stamp ## try 10,000 interleavings of each fenced write (needs Go, Python 3.11, PostgreSQL, MariaDB, Redis)
	CRONFENCE_INTERLEAVINGS=10000 go test -timeout 60m ./pkg/job/...

chaos: .venv/stamp ## kill the dispatcher before and after each request that it sends (needs Go, Python 3.11)
	go test -v -count=1 -timeout 20m ./internal/chaos -chaos.every

SOAK ?= 10m
soak: .venv/stamp ## run 50 jobs with faults for ten minutes, or SOAK=1m, and what is open then (needs Go, Python 3.11)
	go test -v -count=1 -timeout 60m ./internal/soak -soak $(SOAK)

mutate: ## change the policies and the protocol one token at a time and expect a test to fail (needs Go)
	scripts/mutate

load: ## run 50 jobs in a local cloud for a minute, at 60 times real time (needs Go, Linux)
	go test -v ./cmd/cronfence -run '^TestFiftyJobs' -dev.load

lint: ## check style, imports and go.mod; changes nothing (needs Go)
	scripts/lint

fmt: ## format the Go files (needs Go)
	scripts/lint fmt

synth: ## synthesize the example app into cdk.out (needs Go, Node.js)
	CDK_OUTDIR=cdk.out go run ./infra/app

tools: .venv/stamp ## install what tests start, pinned, into .venv and folders node_modules (needs Python 3.11, Node.js)

.venv/stamp: scripts/requirements.txt scripts/cdk/package-lock.json docs/examples/node/package-lock.json
	scripts/tools
