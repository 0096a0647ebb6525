import signal
import textwrap

import pytest
import warm

from pycaffe_dist.cli.run import main


@pytest.fixture
def run(tmp_path):
    """Write a script into a folder and run it from the folder above."""
    folder = tmp_path / "scripts"
    folder.mkdir()

    def run(text, *args, path="scripts/script.py", flags=()):
        (folder / "script.py").write_text(textwrap.dedent(text), encoding="latin-1")
        return warm.pcd("run", *flags, path, *args, cwd=tmp_path)

    return run


def test_a_script_in_pycaffes_words(run, tmp_path):
    (tmp_path / "scripts" / "caffe.py").write_text("raise ImportError('another caffe')")
    result = run(
        """
        import caffe
        import caffe.io
        import numpy as np
        from caffe import layers as L
        from caffe.net_spec import NetSpec
        from caffe.proto import caffe_pb2

        n = NetSpec()
        n.data = L.Input(shape=dict(dim=[2, 3]))
        n.ip = L.InnerProduct(n.data, num_output=1, weight_filler=dict(type="constant", value=2))
        with open("net.prototxt", "w") as f:
            f.write(str(n.to_proto()))
        net = caffe.Net("net.prototxt", caffe.TEST)
        print(net.forward(data=np.ones((2, 3)))["ip"].ravel().tolist())

        import pycaffe_dist.io
        print(caffe.__version__, caffe.io is pycaffe_dist.io, caffe_pb2.TEST == caffe.TEST)
        """
    )
    assert result.stdout.splitlines() == ["[6.0, 6.0]", "1.0.0 True True"], result.stderr
    assert result.returncode == 0


def test_as_python_runs_it(run, tmp_path):
    (tmp_path / "scripts" / "helper.py").touch()
    result = run(
        """
        import atexit, os, pickle, sys
        import helper
        print(sys.argv)
        print(__name__, __package__, __spec__)
        print(__file__)
        print(sys.path[0])
        class Thing: pass
        print(type(pickle.loads(pickle.dumps(Thing()))) is sys.modules["__main__"].Thing)
        def f(x: list[int]): pass
        print(f.__annotations__)  # no __future__ of ours leaks in
        atexit.register(lambda: print(__import__("__main__").f.__name__))
        """,
        "--flag",
        "-h",
        "two words",
    )
    assert result.stderr == ""
    script = tmp_path / "scripts" / "script.py"
    assert result.stdout.splitlines() == [
        "['scripts/script.py', '--flag', '-h', 'two words']",
        "__main__ None None",
        str(script),
        str(script.parent),
        "True",
        "{'x': list[int]}",
        "f",
    ]
    assert result.returncode == 0


def test_links_and_encodings(run, tmp_path):
    (tmp_path / "link.py").symlink_to(tmp_path / "scripts" / "script.py")
    text = "# -*- coding: latin-1 -*-\nimport sys\nprint(ascii('é'), sys.argv[0], sys.path[0])"
    result = run(text, path="link.py")
    assert result.stdout == f"'\\xe9' link.py {tmp_path / 'scripts'}\n", result.stderr


@pytest.mark.parametrize(("value", "code", "shown"), [(7, 7, ""), ("'no'", 1, "no\n")])
def test_exit_codes(run, value, code, shown):
    result = run(f"import sys\nsys.exit({value})")
    assert (result.returncode, result.stderr) == (code, shown)


def test_exceptions_have_the_scripts_traceback(run):
    result = run("import caffe\ncaffe.Net('nothing.prototxt', caffe.TEST)")
    assert result.returncode == 1
    assert 'scripts/script.py", line 2, in <module>' in result.stderr
    assert "Could not open file nothing.prototxt" in result.stderr
    assert "cli/run.py" not in result.stderr


def test_hooks_of_the_script(run):
    result = run(
        """
        import sys
        sys.excepthook = lambda kind, value, traceback: print("hook:", value)
        raise ValueError("bad")
        """
    )
    assert (result.returncode, result.stdout) == (1, "hook: bad\n")


def test_interrupt(run):
    result = run("raise KeyboardInterrupt")
    assert result.returncode == 128 + signal.SIGINT
    assert result.stderr.endswith("KeyboardInterrupt\n")


def test_python_2(run):
    result = run("print 'hello'")
    assert result.returncode == 1
    assert "SyntaxError" in result.stderr
    assert "Python 2" in result.stderr
    assert "Traceback" not in result.stderr


def test_words_of_python_2(run):
    result = run("for i in xrange(3):\n    pass")
    assert result.returncode == 1
    assert "bring it to Python 3 first." in result.stderr
    assert "'xrange' is of Python 2; Python 3 has range." in result.stderr


@pytest.mark.parametrize(
    "text",
    [
        "for i in xrange(3): pass",
        "import cPickle",
        "import StringIO",
        "{}.iteritems()",
        "{}.has_key(1)",
        "import string; string.letters",
        "import helper",
    ],
)
def test_other_words_of_python_2(run, tmp_path, text):
    (tmp_path / "scripts" / "helper.py").write_text("print 'hello'")
    result = run(text)
    assert result.returncode == 1
    assert result.stderr.endswith("pcd run: if this is Python 2: pcd run --py2 scripts/script.py\n")


@pytest.mark.parametrize("text", ["nothing", "import nothing_here", "None.x", "1 / 0"])
def test_other_mistakes(run, text):
    assert "Python 2" not in run(text).stderr


def test_python_2_with_its_flag(run, tmp_path):
    (tmp_path / "scripts" / "helper.py").write_text("print 'helper', 3 / 2\n")
    result = run("import helper\nprint 'hello', __name__", flags=["--py2"])
    assert (result.returncode, result.stdout) == (0, "helper 1\nhello __main__\n")
    told = [line.partition(": ")[2] for line in result.stderr.splitlines()]
    assert told == [
        "scripts/script.py: 1 x print statement",
        "scripts/helper.py: 1 x / that may be between integers",
        "scripts/helper.py: 1 x print statement",
    ]
    assert not list(tmp_path.rglob("*.pyc"))
    assert run("print 'hello'", flags=["--py2", "-q"]).stderr == ""


def test_the_traceback_of_a_translated_script(run):
    result = run("x = 1\nprint 'a', \\\n  'b'\nraise ValueError, 'bad'", flags=["--py2", "-q"])
    assert result.returncode == 1
    assert 'scripts/script.py", line 4, in <module>' in result.stderr
    assert "raise ValueError, 'bad'" in result.stderr
    assert "pycaffe_dist/py2" not in result.stderr


def test_what_is_no_python_at_all(run):
    result = run("print 'a'\nif x\n", flags=["--py2"])
    assert result.returncode == 1
    assert 'scripts/script.py", line 2' in result.stderr
    assert "--py2 SCRIPT" not in result.stderr


def test_scripts_that_cannot_be_opened(tmp_path, capsys):
    for path in (tmp_path, tmp_path / "missing.py"):
        assert main([str(path)]) == 2
        assert capsys.readouterr().err.startswith(f"pcd run: can't open file '{path}': ")


def test_usage(capsys):
    for args, code in (([], 2), (["--unknown", "script.py"], 2), (["--help"], 0)):
        with pytest.raises(SystemExit) as e:
            main(args)
        assert e.value.code == code
        shown = capsys.readouterr()
        assert (shown.err if code else shown.out).startswith("usage: pcd run [")
        assert (shown.out if code else shown.err) == ""


def test_the_cpu_for_a_script_that_asks_for_a_gpu(run):
    script = "import caffe\ncaffe.set_device(3)\ncaffe.set_mode_gpu()\nprint('done')"
    result = run(script, flags=["--cpu"])
    assert (result.returncode, result.stdout) == (0, "done\n")
    assert result.stderr.count("\n") == 1
    assert "computing on the CPU" in result.stderr


def test_quiet(run):
    result = run("import caffe\ncaffe.log('hello')", "-q", flags=["-q"])
    assert (result.returncode, result.stderr) == (0, "")
    assert "hello" in run("import caffe\ncaffe.log('hello')", "-q").stderr  # the script's own -q


def test_a_package_that_the_script_needs_is_named(run):
    result = run("import sys\nsys.modules['cv2'] = None\nimport cv2.dnn")
    assert result.returncode == 1
    assert result.stderr.endswith(
        "pcd run: the script needs a package: pip install 'opencv-python-headless<5'\n"
    )
    lacking = "import sys, types\ncv2 = sys.modules['cv2'] = types.ModuleType('cv2')\ncv2.SIFT()"
    assert run(lacking).stderr.endswith(
        "OpenCV before version 5 may have SIFT: pip install 'opencv-python-headless<5'\n"
    )
    assert "pip" not in run("import no_such_module_at_all").stderr
