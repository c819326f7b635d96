package deploy

import "embed"

// Manifests are the files of this folder, as shipped: crds/, rbac/, vap/, flow/,
// workload/ and certs/managed are for kubectl apply as they are; endpoints/ goes with the
// controller's --endpoints; certs/switch is for the time of a switch to
// certs/cert-manager only; hooks/ gets its caBundle from the running
// webhook or from cert-manager, and needs clientConfig.url in place of the service where
// the webhook does not run in the cluster.
//
//go:embed crds/*.yaml rbac/*.yaml endpoints/*.yaml hooks/*.yaml vap/*.yaml flow/*.yaml workload/*.yaml certs/*/*.yaml
var Manifests embed.FS
