"""Fields of forks in a solver: obeyed, harmless, or told."""

import pytest

from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.dialects import PRIVATE
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import FORK_FIELDS, passed_over


@pytest.mark.parametrize("name", sorted(FORK_FIELDS))
def test_these_are_fields_of_forks(name):
    field = SolverParameter.DESCRIPTOR.fields_by_name[name.removeprefix("SolverParameter.")]
    assert field.number >= PRIVATE


def test_what_has_no_effect_is_told():
    text = 'larc: true min_lr: 0.1 clip_weights: 3 ap_version: "11point" net: "n"'
    (told,) = passed_over(parse_text(text, SolverParameter()).message)
    assert told.startswith("SolverParameter.clip_weights has no effect here: it comes from")
