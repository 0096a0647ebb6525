"""All is said in pyproject.toml, but that the wheel carries models/, data/ and the schema."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
SHARED = ("models/*/*.prototxt", "models/*/*.md", "models/*/*.py", "data/*/*.py", "data/*/*.md")
SHARED += ("data/*/*.npz", "data/*/*.prototxt", "proto/caffe.proto")


class BuildWithShare(build_py):
    """Puts what lies beside the package into its folder ``share``; a clone uses it where it is."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        share = Path(self.build_lib) / "pycaffe_dist" / "share"
        shutil.rmtree(share, ignore_errors=True)  # of an earlier build
        for pattern in SHARED:
            for path in ROOT.glob(pattern):
                target = share / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)


setup(cmdclass={"build_py": BuildWithShare})
