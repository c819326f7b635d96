package deploy

import "embed"

// Manifests are the files of this folder, as shipped: crds/, rbac/, vap/ and flow/
// are for kubectl apply as they are; hooks/ needs a caBundle, and clientConfig.url in
// place of the service where the webhook does not run in the cluster.
//
//go:embed crds/*.yaml rbac/*.yaml hooks/*.yaml vap/*.yaml flow/*.yaml
var Manifests embed.FS
