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
VERSION ?= $(or $(shell git describe --tags --always --dirty 2>/dev/null),unknown)
LDFLAGS := -X github.com/defaultplan/defaultplan/cmd/internal/version.version=$(VERSION)
CONTROLLER_GEN := $(GO) tool -modfile=tools/go.mod controller-gen
CRD_REF_DOCS := $(GO) tool -modfile=tools/go.mod crd-ref-docs
GOLANGCI_LINT := $(GO) tool -modfile=tools/golangci/go.mod golangci-lint
# The packages that run on a control plane; all others are unit tests.
# The scenarios: those that measure time run alone, the others two at a time.
ALONE := ./e2e ./e2e/osb ./e2e/ha
TOGETHER := $(patsubst %,./e2e/%,certs charts claims controllers endpoints install quotas rotation sharing svcat ui)
E2E := $(ALONE) $(TOGETHER)
MODULES := . $(wildcard e2e/controlplane e2e/certmanager tools tools/golangci tools/helm tools/helm3 tools/image)

# Without C: what is built is the same everywhere, and built once. Only the race
# detector wants it.
export CGO_ENABLED := 0

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
build: bin/webhook bin/controller bin/svcat bin/playground bin/controlplane bin/kubectl ## Build all binaries into bin/

.PHONY: bin/webhook bin/controller bin/svcat bin/playground bin/controlplane bin/kubectl
bin/webhook bin/controller bin/svcat bin/playground:
	$(GO) build -trimpath -ldflags "$(LDFLAGS)" -o $@ ./cmd/$(@F)
# Never with the race detector: this is Kubernetes, not ours.
bin/controlplane:
	cd e2e/controlplane && $(GO) build -trimpath -ldflags "$(K8S_LDFLAGS)" -o ../../$@ .
bin/kubectl:
	cd e2e/controlplane && $(GO) build -trimpath -ldflags "$(K8S_LDFLAGS)" -o ../../$@ ./kubectl

# Helm 4 and Helm 3, which the tests of the charts install with.
.PHONY: bin/helm bin/helm3
bin/helm:
	cd tools/helm && $(GO) build -trimpath -ldflags "-s -w" -o ../../$@ helm.sh/helm/v4/cmd/helm
bin/helm3:
	cd tools/helm3 && $(GO) build -trimpath -ldflags "-s -w" -o ../../$@ helm.sh/helm/v3/cmd/helm

# cert-manager's own controllers in one process, for the tests of certificates.
.PHONY: bin/certmanager
bin/certmanager:
	cd e2e/certmanager && $(GO) build -trimpath -ldflags "-s -w" -o ../../$@ .

.PHONY: image
image: ## Write the images into bin/image as OCI layouts (VERSION, PUSH=host/path)
	cd tools/image && $(GO) run . -version $(VERSION) $(if $(PUSH),-push $(PUSH))

##@ Test
.PHONY: test
test: build test-unit test-controlplane test-image test-e2e ## Everything that must pass, race detector on

# Lint vets them all already.
.PHONY: test-unit
test-unit: build bin/helm bin/helm3
	CGO_ENABLED=1 $(GO) test -race -vet=off $$($(GO) list ./... | grep -v -x -F "$$($(GO) list $(E2E))")

.PHONY: test-controlplane
test-controlplane: bin/controlplane bin/kubectl
	cd e2e/controlplane && $(GO) vet -trimpath ./... && $(GO) test -trimpath ./folder ./pki ./test

.PHONY: test-image
test-image:
	cd tools/image && $(GO) test -timeout 30m ./...

# The scenarios run the built binaries, here with the race detector as well.
SCENARIOS := DEFAULTPLAN_WEBHOOK=$(CURDIR)/bin/race/webhook DEFAULTPLAN_CONTROLLER=$(CURDIR)/bin/race/controller \
	DEFAULTPLAN_SVCAT=$(CURDIR)/bin/race/svcat CGO_ENABLED=1 $(GO) test -race -vet=off -count=1 -timeout 25m

.PHONY: test-e2e
test-e2e: build bin/helm bin/helm3 bin/certmanager
	mkdir -p bin/race
	CGO_ENABLED=1 $(GO) build -race -o bin/race/ ./cmd/webhook ./cmd/controller ./cmd/svcat
	$(SCENARIOS) -p 2 $(TOGETHER)
	$(SCENARIOS) -p 1 $(ALONE)

.PHONY: soak
soak: build ## The long random tests: fuzzing for FUZZTIME each, races, crashes, faults
	FUZZTIME=$(or $(FUZZTIME),1m) ./e2e/soak.sh

.PHONY: bench
bench: build ## Measure DESIGN.md section 9, as ratios in one run
	$(GO) run ./e2e/bench

##@ Keep
.PHONY: generate
generate: ## Write the generated files anew
	$(CONTROLLER_GEN) object paths=./api/...
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:dir=deploy/crds
	$(CONTROLLER_GEN) webhook paths=./deploy output:webhook:dir=deploy/hooks
	$(CONTROLLER_GEN) rbac:roleName=defaultplan-webhook paths=./webhook/... output:rbac:dir=deploy/rbac
	$(CONTROLLER_GEN) rbac:roleName=defaultplan-controller,fileName=controller_role.yaml paths=./osb/... output:rbac:dir=deploy/rbac
	$(GO) run ./certs/generate > deploy/certs/cert-manager/certificates.yaml
	$(GO) run ./deploy/generate
	$(GO) run ./cmd/svcat reference > docs/svcat.md
	$(CRD_REF_DOCS) --source-path=api/v1beta1 --config=tools/crd-ref-docs.yaml --renderer=markdown --output-path=docs/api.md --log-level=ERROR

.PHONY: lint
lint: ## Lint, the import law included
	$(GOLANGCI_LINT) run ./...

.PHONY: verify
verify: generate ## Check that generated files are current, modules tidy, code formatted
	for m in $(MODULES); do (cd $$m && $(GO) mod tidy && $(GO) mod verify >/dev/null); done
	test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "not formatted: run gofmt -w"; exit 1; }
	test -z "$$(git status --porcelain)" || { git status --short; git diff; echo "generated files, modules or formatting are not current: commit what make verify changed"; exit 1; }

.PHONY: help
help: ## Show this help
	@awk 'BEGIN {FS = ":.*##"} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*##/ {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
