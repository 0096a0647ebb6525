import pytest
from made_runs import make_project


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A project with a small run that was really trained."""
    return make_project(tmp_path_factory.mktemp("a project"))


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    """Tests that go to another folder come back from it."""
    monkeypatch.chdir(tmp_path)
