module modelplane.ai/conformance/charts

go 1.26.0

// Read for the charts in them, never built: those of the profile of the serving stack, at its versions but for LeaderWorkerSet, of
// which 0.9.0 is the newest whose archive has its chart.
require (
	github.com/cert-manager/cert-manager v1.21.2
	github.com/envoyproxy/gateway v1.9.1
	github.com/kserve/kserve v0.20.0
	sigs.k8s.io/dra-driver-nvidia-gpu v0.4.1
	sigs.k8s.io/kueue v0.19.2
	sigs.k8s.io/lws v0.9.0
)
