"""Entry for tools that still call setup.py; everything is said in pyproject.toml."""

from setuptools import setup

setup()
