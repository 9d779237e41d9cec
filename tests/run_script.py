#!/usr/bin/env python3
"""Runs the unittest cases of one file and tells ctest the truth: a file whose tests were all skipped is skipped
(exit code 77), and one that holds no tests has failed.

    run_script.py tests/cli/test_train.py
"""

import sys
import unittest
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

SKIPPED = 77


def load(file):
    sys.path.insert(0, str(file.parent))  # as if the file were run itself: its neighbours can be imported
    spec = spec_from_file_location(file.stem, file)
    module = module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def main():
    try:
        suite = load(Path(sys.argv[1]).resolve())
    except unittest.SkipTest as reason:
        print(f"skipped: {reason}")
        return SKIPPED
    count = suite.countTestCases()
    if count == 0:
        print(f"{sys.argv[1]} holds no tests")
        return 1
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if not result.wasSuccessful():
        return 1
    # A class or module that skips as a whole counts once and runs nothing.
    return SKIPPED if result.skipped and len(result.skipped) >= result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
