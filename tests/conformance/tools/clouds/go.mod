module modelplane.ai/conformance/clouds

go 1.26.0

// Read for the definitions in them, never built: the newest releases whose archives the module proxy serves. What is
// written here is the same in provider-aws v2.6.0 and provider-azure v2.7.0.
require (
	github.com/upbound/provider-aws/v2 v2.5.0
	github.com/upbound/provider-azure/v2 v2.6.0
)
