"""Which scheme each parameter takes, and in which order exchanges start (SACP).

A plan is made from shapes, links and costs before training begins.  This room must not know how a
scheme moves bytes, nor the solver's loop.
"""
