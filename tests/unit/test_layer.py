"""What a layer is built in."""

import pytest

from pycaffe_dist.errors import NetError, PcdError
from pycaffe_dist.layer import Context, DataSettings, Layer
from pycaffe_dist.proto.caffe_pb2 import LayerParameter


def test_threads_of_data_layers(monkeypatch):
    monkeypatch.delenv("PCD_DATA_THREADS", raising=False)
    assert Context().data.count_threads() == 1
    monkeypatch.setenv("PCD_DATA_THREADS", "3")
    assert Context().data.count_threads() == 3
    assert DataSettings(threads=0).count_threads() == 0
    monkeypatch.setenv("PCD_DATA_THREADS", "many")
    with pytest.raises(PcdError, match='PCD_DATA_THREADS is "many"'):
        DataSettings().count_threads()


def test_settings_of_data_that_cannot_be():
    with pytest.raises(PcdError, match="-1; give 0 or more"):
        DataSettings(threads=-1)
    with pytest.raises(PcdError, match="give stop or skip"):
        DataSettings(bad_records="maybe")


class Refuses(Layer):
    type = "Refuses"
    bottoms = tops = 0

    def reshape(self, bottom, top):
        raise self.error("no") if self.layer_param.name == "named" else NetError("no")


@pytest.mark.parametrize("name", ["named", "unnamed"])
def test_what_is_wrong_has_the_name_of_its_layer_and_is_not_its_own_cause(name):
    """Else only the garbage collector could free it, and the layers that it has seen."""
    with pytest.raises(NetError, match=f'^layer "{name}" .Refuses.: no$') as e:
        Refuses(LayerParameter(name=name), Context()).set_up([], [])
    assert e.value.__cause__ is not e.value
