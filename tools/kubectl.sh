#!/usr/bin/env bash
# Prints the path of the kubectl on PATH if it fits a control plane of VERSION, such as
# v1.36.3; else fails. Kubernetes allows one minor version of difference, but scenarios
# hold kubectl's own messages, which differ between minor versions: only a release of the
# same one fits. It is asked as scenarios run it, without the user's environment:
# wrappers that choose a kubectl for each cluster do not fit.
set -euo pipefail

version=$1
minor=${version%.*}
path=$(command -v kubectl) || exit 1
path=$(readlink -f "$path")
# What was built here before is built again: it may be of another release.
if [[ $path == "$(readlink -f "$(dirname "$0")/..")"/bin/* ]]; then exit 1; fi
said=$(env -i HOME=/nonexistent PATH=/usr/bin:/bin "$path" version --client 2>/dev/null) || exit 1
# As in Client Version: v1.36.2 or v1.36.2+k3s1; with a - it is no release.
[[ $said =~ ^"Client Version: ${minor}."[0-9]+(\+[[:alnum:].-]+)?($|$'\n') ]] || exit 1
echo "$path"
