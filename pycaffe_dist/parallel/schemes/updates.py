"""updates: sums of updates, which take the place of dense gradients where staleness is allowed.

Their exchange is not that of a parcel: see the room ``ssp``.
"""

from __future__ import annotations

from pycaffe_dist.parallel.plan.cost import Cost, CostModel, Load
from pycaffe_dist.parallel.schemes.scheme import Scheme


class Updates(Scheme):
    """Updates of several iterations and ranks travel as one sum."""

    name = "updates"
    travels = "with `--staleness`: sums of updates, by a hub"
    sent = "2(n-1)/n · wV"
    work = "adds to outboxes and from inboxes; updates V values"
    bucketed = True
    stale = "updates"
    synchronous = False

    def exchange_cost(self, model: CostModel, load: Load) -> Cost:
        """To the hub and from it; values are added to an outbox, copied out, added up, taken in."""
        sent = 2 * (model.nodes - 1) / model.nodes * model.wire * load.values
        work = model.update(load.values) + model.touch(12 * load.values)
        return model.sending(sent, 2 * (model.nodes - 1), work + model.through_node(load))


UPDATES = Updates()
