"""Ranks: one training job in several processes, on one machine or many.

``cluster.py`` puts the parts together; ``dwbp.py`` and ``ssp/ssp.py`` are the steppers that solvers
call, ``stepper.py`` is what they have in common.  The rooms: ``transport`` (bytes from rank to
rank), ``schemes`` (how a gradient is exchanged) and what they are made of (``exchange``), ``plan``
(which scheme each parameter takes), ``ssp`` (stale synchronous training), ``job`` (processes:
start, supervise, end) and ``observe`` (what was exchanged, and when).
"""
