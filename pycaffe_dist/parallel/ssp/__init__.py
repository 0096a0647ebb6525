"""Stale synchronous training: ranks that may be some iterations ahead of each other.

``ssp.py`` is the stepper, ``items`` and ``routes`` say what is exchanged and by which way, ``mail``
and ``messenger`` carry it, ``clocks`` and ``stale_board`` keep the bound.  This package must not
know the exchanges of synchronous training (``schemes``), but for the names of the plan.
"""
