"""From a ModelService to a route: pure decisions about addresses, hosts, weights and what a gateway can express.

What may never happen here: a request of one namespace that ends at an endpoint of another, a share of traffic that
nobody asked for, and a wish that the gateway cannot express and that is dropped without a word.
"""
