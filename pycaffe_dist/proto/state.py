"""Which layers of a net are in it: the state it is built in, and the rules of its layers."""

from __future__ import annotations

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import NetParameter, NetState, NetStateRule, Phase


def rule_matches(state: NetState, rule: NetStateRule) -> bool:
    """True if every condition that ``rule`` gives holds in ``state``; an empty rule always does."""
    if rule.HasField("phase") and rule.phase != state.phase:
        return False
    if rule.HasField("min_level") and state.level < rule.min_level:
        return False
    if rule.HasField("max_level") and state.level > rule.max_level:
        return False
    stages = set(state.stage)
    return stages.issuperset(rule.stage) and stages.isdisjoint(rule.not_stage)


def filter_net(net: NetParameter, state: NetState | None = None) -> NetParameter:
    """A copy of ``net`` with only the layers that belong to ``state`` (by default the net's own).

    A layer without rules is in; with ``include`` it is in if any of them matches; with ``exclude``
    it is out if any of them matches.
    """
    if state is None:
        state = net.state
    filtered = NetParameter()
    filtered.CopyFrom(net)
    filtered.ClearField("layer")
    filtered.state.CopyFrom(state)
    for layer in net.layer:
        if layer.include and layer.exclude:
            raise NetError(
                f'layer "{layer.name}": give either include rules or exclude rules, not both'
            )
        rules = layer.include or layer.exclude
        matched = any(rule_matches(state, rule) for rule in rules)
        if not rules or matched == bool(layer.include):
            filtered.layer.add().CopyFrom(layer)
    return filtered


def merge_state(phase: Phase, *states: NetState) -> NetState:
    """A net's state as the solver makes it: the phase, then each given state on top in turn.

    Merging is protobuf's: a later phase or level replaces, stages add up.
    """
    merged = NetState(phase=phase)
    for state in states:
        merged.MergeFrom(state)
    return merged
