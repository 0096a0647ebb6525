"""What a layer is built in."""

import pytest

from pycaffe_dist.errors import PcdError
from pycaffe_dist.layer import Context, DataSettings


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
