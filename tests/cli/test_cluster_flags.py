import argparse

import pytest

from pycaffe_dist.cli import train
from pycaffe_dist.cli._cluster_flags import add_cluster, asked_ranks, by_layer, cluster_settings
from pycaffe_dist.errors import NetError
from pycaffe_dist.parallel.settings import ClusterSettings


def parse(*argv):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    add_cluster(parser)
    return parser.parse_args(argv)


def settings(*argv):
    return cluster_settings(parse(*argv), 300.0)


def test_no_flag_is_the_default():
    assert settings() == ClusterSettings()
    assert asked_ranks(parse()) is None


@pytest.mark.parametrize(
    ("argv", "name", "value"),
    [
        (["--comm", "sharded"], "comm", "sharded"),
        (["-comm=sfb"], "comm", "sfb"),
        (["--comm-layer", "fc6=sfb,fc7=dense", "--comm_layer", "a=b=sfb"], "comm_layer", None),
        (["--policy", "paper"], "policy", "paper"),
        (["--overlap", "off"], "overlap", False),
        (["--staleness", "3"], "staleness", 3),
        (["--table_staleness=2"], "staleness", 2),
        (["--table_staleness", "2", "--staleness", "2"], "staleness", 2),
        (["--bandwidth", "200mbit"], "bandwidth", 200e6),
        (["--wire", "bf16"], "wire", "bf16"),
        (["--sum-updates"], "sum_updates", True),
        (["--sync-bn"], "sync_bn", True),
        (["--check-every", "50"], "check_every", 50),
        (["--svb"], "comm", "sfb"),
        (["--svb=true"], "comm", "sfb"),
        (["-svb=false"], "comm", "dense"),
        (["--trace", "t.json"], "trace", "t.json"),
        (["--stats_path=s.yaml"], "stats_path", "s.yaml"),
        (["--net_outputs", "out"], "net_outputs", "out"),
    ],
)
def test_flags(argv, name, value):
    expected = {"fc6": "sfb", "fc7": "dense", "a=b": "sfb"} if name == "comm_layer" else value
    assert getattr(settings(*argv), name) == expected


@pytest.mark.parametrize("argv", [["--ranks", "3"], ["--num_clients", "3"], ["-num_clients=3"]])
def test_how_many_ranks(argv):
    assert asked_ranks(parse(*argv)) == 3


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (["--staleness", "1", "--table_staleness", "2"], "are the same and differ: [1, 2]"),
        (["--staleness", "-1"], "0 or more"),
        (["--check-every", "-1"], "0 or more"),
        (["--check-every", "5", "--staleness", "1"], "needs --staleness 0"),
        (["--svb", "--comm", "sharded"], "contradict each other"),
        (["--bandwidth", "fast"], "no bandwidth"),
        (["--comm-layer", "fc6"], "LAYER=SCHEME"),
        (["--comm-layer", "fc6=sfbb"], 'no "sfbb"'),
    ],
)
def test_what_makes_no_sense_is_refused(argv, text):
    with pytest.raises(NetError) as error:
        settings(*argv)
    assert text in str(error.value)


def test_two_numbers_of_ranks():
    with pytest.raises(NetError, match="differ"):
        asked_ranks(parse("--ranks", "2", "--num_clients", "3"))


def test_a_wrong_word_is_argparses_matter(capsys):
    for argv in (["--svb=perhaps"], ["--comm", "fast"], ["--overlap", "maybe"]):
        with pytest.raises(SystemExit):
            parse(*argv)
    assert "true or false, not 'perhaps'" in capsys.readouterr().err


def test_names_of_layers_are_stripped():
    assert by_layer([" fc6 = sfb "]) == {"fc6": "sfb"}


@pytest.mark.parametrize(
    ("name", "bad", "good"),
    [
        ("staleness", -1, 0),
        ("bandwidth", 0, 1),
        ("bandwidth", -5, None),
        ("check_every", -1, 0),
        ("stall_timeout", -0.5, 0),
    ],
)
def test_numbers_that_a_script_gives_are_looked_at(name, bad, good):
    assert getattr(ClusterSettings(**{name: good}), name) == good
    flag = name.replace("_", "-")
    with pytest.raises(NetError, match=rf"--{flag} .*, not {bad}"):
        ClusterSettings(**{name: bad})


@pytest.mark.parametrize(("rank", "device"), [(0, 4), (1, 7), (2, 4), (3, 7)])
def test_ranks_of_a_host_take_its_devices_in_turn(monkeypatch, rank, device):
    monkeypatch.setattr(train, "devices", lambda given, engine: [4, 7])
    monkeypatch.setattr(train, "local_rank", lambda: rank)
    argv = ["-solver", "solver.prototxt", "-gpu", "4,7"]
    assert train.options_of(train.parse(argv), argv).device == device
