"""Envoy AI Gateway's controller and external processor with Envoy Gateway and Envoy, all real, around our objects."""
