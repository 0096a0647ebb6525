"""Training on a cluster that need not be there: P ranks take steps in thought.

The plan, its schemes, their costs and the order of exchanges are those of real runs
(``parallel/plan``, ``parallel/schemes``); this room adds many ranks that are not equally fast, the
hardware they run on, and what the result means.  It knows neither MPI nor the communication thread.
"""
