import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_docs = load("check_docs")


@pytest.fixture
def problems(tmp_path):
    def problems(text):
        page = tmp_path / "page.md"
        page.write_text(text)
        (tmp_path / "other.md").write_text("# Other things, `too`\n")
        check_docs.anchors.cache_clear()
        return [p.removeprefix(f"{page}:") for p in check_docs.problems(page)]

    return problems


def test_our_pages():
    assert check_docs.main([]) == 0


@pytest.mark.parametrize(
    "text",
    [
        "[a](other.md) [b](other.md#other-things-too) [c](https://x.y/z) [d](#here)\n# Here",
        "`[a](nowhere.md)`",
        "```\n[a](nowhere.md)\n```",
        "```sh\n$ pcd train -solver=x --max_iter 5 -gpu 0   # --nonsense\n```",
        "```\nmpirun -n 2 pcd train --solver x | tee --append log\n```",
        "```\npcd VERB --help\npcd run script.py --its-own\ncd pcd\n```",
        "```\npcd time -model x \\\n  -iterations 3\n```",
        "```\nit's no command\n```",
    ],
)
def test_fine(problems, text):
    assert problems(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\n[a](nowhere.md)", "2: the link nowhere.md leads nowhere"),
        ("[a](other.md#else)", "1: other.md has no heading #else"),
        ("```\npcd tarin -solver x\n```", "2: pcd has no verb tarin"),
        ("```\nA=1 pcd train --slover x\n```", "2: pcd train has no flag --slover"),
        ("```\npcd train -solver x && pcd time --modl=x\n```", "2: pcd time has no flag --modl"),
        ("```\npython -m pycaffe_dist time \\\n  -x 3\n```", "3: pcd time has no flag -x"),
    ],
)
def test_wrong(problems, text, expected):
    assert problems(text) == [expected]


def test_the_script_says_so(tmp_path, capsys):
    (tmp_path / "a.md").write_text("[a](b.md)")
    assert check_docs.main([str(tmp_path / "a.md")]) == 1
    assert capsys.readouterr().out == f"{tmp_path}/a.md:1: the link b.md leads nowhere\n"
