# What there is to do here: make help
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO ?= go
# The Kubernetes release that e2e/controlplane is built from.
K8S_VERSION := v1.36.3
K8S_LDFLAGS := -s -w \
	-X k8s.io/component-base/version.gitVersion=$(K8S_VERSION) \
	-X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36
# What the binaries say of themselves; a release is built from its tag.
# A tag with other characters could be code for a shell.
VERSION ?= $(or $(shell git describe --tags --always --dirty 2>/dev/null | grep -Ex '[A-Za-z0-9._+-]+'),unknown)
LDFLAGS := -s -w -X github.com/defaultplan/defaultplan/cmd/internal/version.version=$(VERSION)
CONTROLLER_GEN := $(GO) tool -modfile=tools/go.mod controller-gen
CRD_REF_DOCS := $(GO) tool -modfile=tools/go.mod crd-ref-docs
# The packages that run on a control plane, two at a time, those that take long first; all
# others are unit tests.
E2E := $(patsubst %,./e2e/%,install ha osb svcat instances controllers moving claims quotas rotation freshness defaults races attacks fairness charts admission certs observe ui endpoints sharing deletion bindings oldclients policies simulate)
# Two of them have a module of their own, for what only they depend on, and so have some programs that
# tests run. One workspace gives them the same versions: each dependency is compiled once.
WORKSPACE := GOWORK=$(CURDIR)/e2e/scenarios.work
# Where DEFAULTPLAN_LONG makes a difference, and to which tests.
LONG := ./e2e/races ./e2e/osb ./e2e/claims ./e2e/quotas ./e2e/svcat ./e2e/freshness ./e2e/instances ./e2e/moving ./e2e/simulate
LONG_TESTS := ^Test(DefaultsAreRaced|Crashes|Faults|NeverOver|RenderAndTheWebhookAgree|SwitchRace|APlanAndItsInstanceInOneFile|ADefaultInTheSameFile|ARecordedDefaultThatNoCacheHas|AfterASwitchReturned|ControllersConflict|TheControllerConforms|KilledAtAWrite|WhatSimulateSaysHappens)
# The same for -short, which test-unit gives.
REPEATED := ./webhook ./webhook/keeper/defaults ./resolve/policy ./resolve/quota ./merge ./osb/lifecycle ./osb/controller/relist ./osb/conformance/examiner ./cmd/svcat/internal/simulation
REPEATED_TESTS := ^(FuzzAdmission|FuzzBindingAdmission|TestWhateverHappensATypeSettles|TestTwoKeepersSettleATypeToo|TestLaws|TestTransformLaws|TestNeverOverAndNeverUnder|TestRotationStateMachine|TestRealCatalogs|TestInterrupts|TestRandomly|TestStepByStep)$$
# Other supported releases of Kubernetes, the oldest first: those of each minor version
# whose modules of staging a module proxy has whole. The core scenarios run on them.
VERSIONS ?= v1.33.13 v1.34.4 v1.35.4 v1.37.0
CORE := ./e2e/admission ./e2e/bindings ./e2e/defaults ./e2e/instances ./e2e/oldclients ./e2e/policies
CORE_SVCAT := ^Test(Bind|CheckSaysWhatIsBroken|CreateClassAndProvisionFromIt|Describe|ExplainDrawsGraphs|Get|KubectlTakesSvcatAsPlugin|ProvisionBySelector|ProvisionByType|ProvisionDryRun|ProvisionErrors|ProvisionWithDefaults|Register|RetireAndAdopt|SwitchEndsAlikeByKubectl|SwitchPrintsTheProposalsLines|Sync|TheProposalsDiscovery|Unbind|VersionNamesAllThree|WaitUntilReady)$$
# Of both, what the shipped manifests and kubectl have to do with the most.
CORE_SHORT := ^Test(Bind|BindingTakesWhatThePlanGives|DefaultsAreRepaired|FlowsAreAccepted|KubectlShowsWhyItIsRefused|OldManifestsAreAdmittedAsTheyAlwaysWere|OneDefaultPerType|PlansAreFoundByField|PoliciesGuardWithoutTheWebhook|PolicyKeepsAPlanOutOfANamespace|ProvisionWithDefaults|TheManifestsAreTheProposals|TheSchemaHoldsWhatCannotChange|WhatAWriteLeavesOutIsRestored|WhatKubectlGetShows|WhichWritesTheWebhookIsAskedAbout)$$
MODULES := . $(wildcard e2e/controlplane e2e/certmanager e2e/charts e2e/ui tools tools/dashboard tools/golangci tools/helm tools/helm3 tools/image tools/pictures tools/promtool tools/site)

# One mode of compiling for all that is built, linted and tested without the race
# detector, and one with it, which alone wants C: tools/once.sh shows that no package is
# compiled twice for one mode. The user's own flags stay, and decide. What a debugger needs is
# left out, as it is of all that is released.
export CGO_ENABLED := 0
COMPILE := -trimpath -gcflags=all=-dwarf=false
export GOFLAGS := $(strip $(COMPILE) $(filter-out $(COMPILE),$(shell $(GO) env GOFLAGS)))
# Test binaries are linked again for each run: without symbols for a debugger that is twice as fast.
LINK := -ldflags "-s -w"
RACE := CGO_ENABLED=1 $(GO) test -race -vet=off $(LINK)
# A process with the race detector would sleep for a second before it ends.
export GORACE ?= atexit_sleep_ms=0
# What go test printed, and what was skipped.
export DEFAULTPLAN_SKIPPED := $(CURDIR)/bin/test.skipped
TESTED := | tee -a $(CURDIR)/bin/test.log

##@ Run
.PHONY: demo
demo: build ## Play the main story on a real API server (STORY=all: every story)
	bin/playground demo --story=$(or $(STORY),main)

.PHONY: up
up: build ## Start the same stack in the background; kubeconfig in .run/
	bin/playground up

.PHONY: down
down: ## Stop what make up started
	if [ -x bin/playground ]; then bin/playground down; fi

##@ Build
.PHONY: build
build: first-build bin/webhook bin/controller bin/svcat bin/playground bin/controlplane bin/kubectl ## Build all binaries into bin/

.PHONY: first-build
first-build:
	@test -e bin/controlplane || echo "compiling Kubernetes, about 5 minutes on two cores, once" >&2

.PHONY: bin/webhook bin/controller bin/svcat bin/playground bin/controlplane bin/kubectl
bin/webhook bin/controller bin/svcat bin/playground:
	$(GO) build -ldflags "$(LDFLAGS)" -o $@ ./cmd/$(@F)
# Never with the race detector: this is Kubernetes, not ours.
bin/controlplane: first-build
	cd e2e/controlplane && $(GO) build -ldflags "$(K8S_LDFLAGS)" -o ../../$@ .
# A link to the kubectl on PATH where that fits.
bin/kubectl:
	mkdir -p bin && rm -f $@
	if path=$$(tools/kubectl.sh $(K8S_VERSION)); then ln -s "$$path" $@; \
		else cd e2e/controlplane && $(GO) build -ldflags "$(K8S_LDFLAGS)" -o ../../$@ ./kubectl; fi

# Helm 4 and Helm 3, which the tests of the charts install with.
.PHONY: bin/helm bin/helm3
bin/helm:
	cd tools/helm && $(WORKSPACE) $(GO) build -ldflags "-s -w" -o ../../$@ helm.sh/helm/v4/cmd/helm
bin/helm3:
	cd tools/helm3 && $(WORKSPACE) $(GO) build -ldflags "-s -w" -o ../../$@ helm.sh/helm/v3/cmd/helm

# promtool, which the tests of the alerts judge them with; without the clouds that
# Prometheus finds its targets in, which are most of it. It is not in the workspace, because it does not
# compile with the main module's version of client_golang.
.PHONY: bin/promtool
bin/promtool:
	cd tools/promtool && $(GO) build -tags remove_all_sd -ldflags "-s -w" -o ../../$@ github.com/prometheus/prometheus/cmd/promtool

# cert-manager's own controllers in one process, for the tests of certificates.
.PHONY: bin/certmanager
bin/certmanager:
	cd e2e/certmanager && $(WORKSPACE) $(GO) build -ldflags "-s -w" -o ../../$@ .

# axe-core, with which the scenarios of svcat ui check accessibility; npm checks it against the
# lock file. Without npm there is none: the scenarios report that they skip the check.
bin/axe.min.js: tools/axe/package.json tools/axe/package-lock.json
	@mkdir -p bin/axe && cp $^ bin/axe/
	if npm ci --prefix bin/axe --ignore-scripts --no-audit --no-fund; then cp bin/axe/node_modules/axe-core/axe.min.js $@; else rm -f $@; fi

.PHONY: image
image: ## Write the images into bin/image as OCI layouts (VERSION, PUSH=host/path)
	cd tools/image && $(GO) run . -version $(VERSION) $(if $(PUSH),-push $(PUSH))

.PHONY: release
release: ## Write a release into bin/release/VERSION (VERSION=v0.2.0, REGISTRY=host/path)
	cd tools/image && $(GO) run . -version $(VERSION) -release ../../bin/release/$(VERSION) $(if $(REGISTRY),-registry $(REGISTRY))

##@ Pages
.PHONY: site
site: ## Write README.md and docs/ as HTML into bin/site, with a search and a page to try manifests on
	cd tools/site && $(GO) run .

.PHONY: pictures pictures-svcat pictures-check
pictures: pictures-svcat dashboard-picture ## Make docs/pictures again from running stacks (needs Chromium and npm)

pictures-svcat: build
	cd tools/pictures && npm ci --ignore-scripts --no-audit --no-fund && $(GO) run .

# It takes about five minutes.
.PHONY: dashboard-picture
dashboard-picture: build ## Draw docs/pictures/dashboard.svg from live data of a playground
	cd tools/dashboard && $(WORKSPACE) $(GO) run .
	cd tools/pictures && $(GO) run . -record dashboard.svg

pictures-check: build ## Compare docs/pictures with what svcat and kubectl print now
	cd tools/pictures && $(GO) run . -check

##@ Test
.PHONY: test
test: build test-unit test-deploy test-controlplane test-image test-pages test-e2e ## What proves every promise, race detector on for what serves; ends with the slowest packages
	@tools/slowest.sh < bin/test.log
	@if [ -s $(DEFAULTPLAN_SKIPPED) ]; then cat $(DEFAULTPLAN_SKIPPED); fi

.PHONY: test-started
test-started:
	@mkdir -p bin && rm -f bin/test.log $(DEFAULTPLAN_SKIPPED)

# Lint vets them all already.
.PHONY: test-unit
test-unit: test-started build ## The unit tests; those of cmd/playground run what was built
	$(RACE) -short -timeout 20m $$($(GO) list ./... | grep -v -x -F "$$($(WORKSPACE) $(GO) list $(E2E) ./deploy/...)") $(TESTED)

.PHONY: test-deploy
test-deploy: test-started build bin/helm bin/helm3 bin/promtool ## The chart, the manifests and the alerts
	$(WORKSPACE) $(RACE) ./deploy/... ./e2e/charts/health $(TESTED)
	cd tools/dashboard && $(WORKSPACE) $(GO) test -vet=off $(LINK) -count=1 ./... $(TESTED)

# Go vets the packages that it tests. Of the commands go vet would analyze all of Kubernetes, which took
# four minutes of processor time.
.PHONY: test-controlplane
test-controlplane: test-started bin/controlplane bin/kubectl
	cd e2e/controlplane && $(GO) test ./folder ./pki ./test $(TESTED)

.PHONY: test-image
test-image: test-started
	cd tools/image && $(GO) test -timeout 30m ./... $(TESTED)

# Not from the cache: go test does not see that a page outside the module has changed. A test compiles
# svcat for the browser, which takes minutes the first time.
.PHONY: test-pages
test-pages: test-started ## The site of the pages, and how pictures are made
	cd tools/site && $(GO) test -timeout 30m -count=1 ./... $(TESTED)
	cd tools/pictures && $(GO) test -count=1 ./... $(TESTED)

# The scenarios run the built binaries: the two that serve with the race detector, but not where a
# scenario of make test is repeated: in make test-long, and on other releases of Kubernetes. svcat is
# started some thousand times, which is slow with it; its unit tests have it.
SERVING := DEFAULTPLAN_WEBHOOK=$(CURDIR)/bin/race/webhook DEFAULTPLAN_CONTROLLER=$(CURDIR)/bin/race/controller
SCENARIOS := $(GO) test -vet=off $(LINK) -count=1

.PHONY: bin/race
bin/race:
	mkdir -p $@
	CGO_ENABLED=1 $(GO) build -race $(LINK) -o $@/ ./cmd/webhook ./cmd/controller

.PHONY: test-e2e
test-e2e: test-started build bin/race bin/helm bin/helm3 bin/promtool bin/certmanager bin/axe.min.js ## The scenarios on a real control plane
	$(SERVING) $(WORKSPACE) $(SCENARIOS) -timeout 30m -p 2 $(E2E) $(TESTED)

.PHONY: test-long
test-long: build ## The repetitions and random sequences in their long form
	$(SCENARIOS) -run '$(REPEATED_TESTS)' $(REPEATED)
	$(GO) test -vet=off $(LINK) -count=1 -run '^TestStateMachine$$' ./osb/lifecycle -states 4000
	$(GO) test -vet=off $(LINK) -count=1 -run '^TestExplore' ./e2e/explore/... ./webhook/keeper/defaults
	DEFAULTPLAN_LONG=1 $(SCENARIOS) -timeout 60m -p 2 -run '$(LONG_TESTS)' $(LONG)

# One release after the other: building its control plane is most of the time.
MATRIX := $(addprefix matrix-,$(VERSIONS))
.PHONY: matrix matrix-short $(MATRIX)
matrix: $(MATRIX) ## The core scenarios on the other supported releases of Kubernetes (VERSIONS=...)

matrix-short: ## A few of them on the oldest release
	$(MAKE) matrix SHORT=1 VERSIONS="$(firstword $(VERSIONS))"

$(MATRIX): matrix-%: test-started bin/webhook bin/controller bin/svcat
	@TIMEFORMAT='=== Kubernetes $* is built: %0R s, processors: %0U s user, %0S s system'; time tools/matrix.sh $*
	@export DEFAULTPLAN_CONTROLPLANE=$(CURDIR)/bin/matrix/$*/controlplane DEFAULTPLAN_KUBECTL=$(CURDIR)/bin/matrix/$*/kubectl; \
	TIMEFORMAT='=== scenarios on Kubernetes $*: %0R s, processors: %0U s user, %0S s system'; \
	if [ -n "$(SHORT)" ]; then time $(SCENARIOS) -timeout 25m -p 2 -run '$(CORE_SHORT)' $(CORE) ./e2e/svcat; \
		else time { $(SCENARIOS) -timeout 25m -p 2 $(CORE) && $(SCENARIOS) -timeout 25m -run '$(CORE_SVCAT)' ./e2e/svcat; }; fi

.PHONY: soak
soak: build bin/race ## The long random tests (PARTS="fuzz races crashes faults switches quotas simulate", FUZZTIME=1m)
	$(SERVING) ./e2e/soak.sh

.PHONY: bench
bench: build ## Measure DESIGN.md section 9, as ratios in one run
	$(GO) run ./e2e/bench

.PHONY: bench-smallest
bench-smallest: build ## Run each part of the benchmark once, with the least that runs all of it; no goal is judged
	$(GO) run ./e2e/bench --smallest

##@ Keep
.PHONY: generate
generate: ## Write the generated files
	$(CONTROLLER_GEN) object paths=./api/...
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:dir=deploy/crds
	$(CONTROLLER_GEN) webhook paths=./deploy output:webhook:dir=deploy/hooks
	$(CONTROLLER_GEN) rbac:roleName=defaultplan-webhook paths=./webhook output:rbac:dir=deploy/rbac
	$(CONTROLLER_GEN) rbac:roleName=defaultplan-keeper,fileName=keeper_cluster_role.yaml paths=./webhook/keeper output:rbac:dir=deploy/rbac
	$(CONTROLLER_GEN) rbac:roleName=defaultplan-controller,fileName=controller_role.yaml \
		paths="$$($(GO) list ./osb/... | grep -v '/osb/controller/endpoints$$' | paste -s -d ';')" output:rbac:dir=deploy/rbac
	$(CONTROLLER_GEN) rbac:roleName=defaultplan-controller-endpoints paths=./osb/controller/endpoints output:rbac:dir=deploy/endpoints
	$(GO) run ./certs/generate > deploy/certs/cert-manager/certificates.yaml
	$(GO) run ./deploy/generate
	$(GO) run ./cmd/svcat reference > docs/svcat.md
	$(CRD_REF_DOCS) --source-path=api/v1beta1 --config=tools/crd-ref-docs.yaml --renderer=markdown --output-path=docs/api.md --log-level=ERROR

# Rarely: when another release of Grafana's types is pinned. It needs Node.
.PHONY: dashboard-schema
dashboard-schema: ## Write the schema of the dashboard from what Grafana publishes on npm
	cd tools/dashboard/schema && npm ci --ignore-scripts --no-audit --no-fund && npm run schema

# Not as a tool of its module: go tool -modfile takes no workspace.
.PHONY: bin/golangci-lint
bin/golangci-lint:
	cd tools/golangci && $(GO) build -ldflags "-s -w" -o ../../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

.PHONY: lint
lint: bin/golangci-lint ## Lint, the import law included
	$(WORKSPACE) bin/golangci-lint run ./... ./e2e/charts/... ./e2e/ui/...

.PHONY: verify
verify: generate ## Check that generated files are current, modules tidy, code formatted
	for m in $(MODULES); do (cd $$m && $(GO) mod tidy); done
	test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "not formatted: run gofmt -w"; exit 1; }
	test -z "$$(git status --porcelain)" || { git status --short; git diff; echo "generated files, modules or formatting are not current: commit what make verify changed"; exit 1; }

.PHONY: help
help: ## Show this help
	@awk 'BEGIN {FS = ":.*##"} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*##/ {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
