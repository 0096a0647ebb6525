"""Which layers of a net are in it: the state it is built in, and the rules of its layers."""

from __future__ import annotations

from pycaffe_dist import caffe_log as log
from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import (
    LayerParameter,
    NetParameter,
    NetState,
    NetStateRule,
    Phase,
)


def rule_matches(state: NetState, rule: NetStateRule, layer: str = "") -> bool:
    """True if every condition that ``rule`` gives holds in ``state``; an empty rule always does."""
    why = _mismatch(state, rule)
    if why:
        log.info("net.cpp:296", "The NetState %s by a rule in layer %s", why, layer)
    return not why


def _mismatch(state: NetState, rule: NetStateRule) -> str:
    """Why a rule does not hold, as Caffe's log puts it."""
    if rule.HasField("phase") and rule.phase != state.phase:
        return f"phase ({state.phase:d}) differed from the phase ({rule.phase:d}) specified"
    if rule.HasField("min_level") and state.level < rule.min_level:
        return f"level ({state.level}) is below the min_level ({rule.min_level}) specified"
    if rule.HasField("max_level") and state.level > rule.max_level:
        return f"level ({state.level}) is above the max_level ({rule.max_level}) specified"
    for stage in rule.stage:
        if stage not in state.stage:
            return f"did not contain stage '{stage}' specified"
    for stage in rule.not_stage:
        if stage in state.stage:
            return f"contains a not_stage '{stage}' specified"
    return ""


def rule_problems(net: NetParameter) -> list[tuple[int, str]]:
    """Layers with both kinds of rules, as (layer index, message)."""
    return [
        (i, f'layer "{layer.name}": give either include rules or exclude rules, not both')
        for i, layer in enumerate(net.layer)
        if layer.include and layer.exclude
    ]


def filter_net(net: NetParameter, state: NetState | None = None) -> NetParameter:
    """A copy of ``net`` with only the layers that belong to ``state`` (by default the net's own).

    A layer without rules is in; with ``include`` it is in if any of them matches; with ``exclude``
    it is out if any of them matches.
    """
    if state is None:
        state = net.state
    if problems := rule_problems(net):
        raise NetError(problems[0][1])
    filtered = NetParameter()
    filtered.CopyFrom(net)
    filtered.state.CopyFrom(state)
    kept = [layer for layer in net.layer if _belongs(layer, state)]
    if len(kept) < len(net.layer):
        filtered.ClearField("layer")
        filtered.layer.extend(kept)
    return filtered


def _belongs(layer: LayerParameter, state: NetState) -> bool:
    rules = layer.include or layer.exclude
    if not rules:
        return True
    return any(rule_matches(state, rule, layer.name) for rule in rules) == bool(layer.include)


def merge_state(phase: Phase, *states: NetState) -> NetState:
    """A net's state as the solver makes it: the phase, then each given state on top in turn.

    Merging is protobuf's: a later phase or level replaces, stages add up.
    """
    merged = NetState(phase=phase)
    for state in states:
        merged.MergeFrom(state)
    return merged
