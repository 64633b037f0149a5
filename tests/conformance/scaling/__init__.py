"""The composed scalers at work: the HPA controller of Kubernetes, and KEDA, on a scale subresource that is served."""
