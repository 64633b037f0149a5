"""Routing of a ModelService: pure decisions about addresses, hosts, weights and the features of a gateway.

A request of one namespace must never reach an endpoint of another. Traffic must never be split otherwise than asked. A
feature that the gateway cannot express must be refused with a reason and never dropped.
"""
