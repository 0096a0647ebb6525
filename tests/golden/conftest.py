import pytest


@pytest.fixture(autouse=True)
def quiet(monkeypatch, log_as_it_was):
    """Nets do not log: what they would say is tested elsewhere, and takes half of the time."""
    monkeypatch.setenv("GLOG_minloglevel", "2")
