"""Bytes from rank to rank: communicators, collectives, streams, number formats, budgets.

Knows nothing of nets, plans and schemes.
"""
