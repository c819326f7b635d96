#!/usr/bin/env bash
# Builds the control plane and kubectl of another Kubernetes release into bin/matrix/VERSION:
#
#     tools/matrix.sh v1.33.13
#
# The sources are those of e2e/controlplane. Their go.mod is written here: it is that of
# the release, so that each dependency, etcd included, has the version that the release
# was made with. In it, folders of staging are replaced by the modules of these names.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1
minor=${version#v1.}
minor=${minor%%.*}
out=$PWD/bin/matrix/$version
mod=$out/go.mod
mkdir -p "$out"
cd e2e/controlplane

# Only the version of Go is ours: our sources need it.
if ! download=$(cd / && go mod download -json "k8s.io/kubernetes@$version"); then
	printf 'cannot download k8s.io/kubernetes@%s:\n%s\n' "$version" "$download" >&2
	exit 1
fi
released=$(sed -n 's/^\t"GoMod": "\(.*\)",$/\1/p' <<<"$download")
staging=$(sed -n 's#^\t\(k8s.io/[a-z-]*\) => ./staging/.*#\1#p' "$released")
etcd=$(sed -n 's#^\tgo.etcd.io/etcd/client/v3 \(v[^ ]*\).*#\1#p' "$released")
install -m 644 "$released" "$mod"
edits=(-module=github.com/defaultplan/defaultplan/e2e/controlplane "-go=$(go list -m -f '{{.GoVersion}}')"
	"-require=k8s.io/kubernetes@$version" "-require=go.etcd.io/etcd/server/v3@$etcd" "-require=go.etcd.io/etcd/etcdutl/v3@$etcd")
for module in $staging; do
	edits+=("-replace=$module=$module@v0.${version#v1.}")
done
go mod edit "${edits[@]}" "$mod"

# Build tags of the sources: before1.36 is set for each release before 1.36, and so on.
tags=
for ((i = minor + 1; i <= 36; i++)); do tags+=before1.$i,; done
info=k8s.io/component-base/version
# Compiling takes longer than the scenarios that run on it: without inlining the compiler takes a quarter
# less time.
flags=(-mod=mod "-modfile=$mod" "-tags=$tags" "-gcflags=all=-l -dwarf=false" -ldflags
	"-s -w -X $info.gitVersion=$version -X $info.gitMajor=1 -X $info.gitMinor=$minor")
go build "${flags[@]}" -o "$out/controlplane" .
go build "${flags[@]}" -o "$out/kubectl" ./kubectl
