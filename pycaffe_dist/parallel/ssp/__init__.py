"""Stale synchronous training: ranks may be some iterations apart (``--staleness``)."""
