module modelplane.ai/conformance/definitions

go 1.26.0

// Read for the definitions in them, never built. KServe, LeaderWorkerSet and provider-kubernetes are pinned where they
// are built.
require (
	// v1.4.0 is what the package asks for; v1.3.0 is the newest whose archive could be fetched through the module proxy.
	github.com/crossplane-contrib/provider-helm v1.3.0
	github.com/envoyproxy/gateway v1.9.0
	github.com/prometheus-operator/prometheus-operator v0.85.0
	istio.io/api v1.29.0
	sigs.k8s.io/gateway-api v1.6.1
	sigs.k8s.io/gateway-api-inference-extension v1.5.0
)
