"""Parses the words of a command of the trainer by its own parser, and runs nothing.

Packages that are not installed, PyTorch for one, are there by name only.
"""

import argparse
import importlib.abc
import importlib.machinery
import sys
from unittest.mock import MagicMock


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return MagicMock(name=spec.name, __path__=[], __spec__=spec)

    def exec_module(self, module):
        pass


sys.meta_path.append(Absent())
parse = argparse.ArgumentParser.parse_args


def parse_only(parser):
    parse(parser)
    sys.exit(0)


argparse.ArgumentParser.parse_args = parse_only
from trainer.__main__ import main  # noqa: E402

main()
