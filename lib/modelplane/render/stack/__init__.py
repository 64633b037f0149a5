"""Serving stack: what makes a bare cluster able to serve, as releases of provider-helm in an order.

A component is one entry of `profile`. Everything else here reads that table.
"""
