"""Diagnosis of replicas without a place, and the changes that would make them fit. It places no replica itself."""
