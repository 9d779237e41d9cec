"""The ladder check must fail where an include climbs, and name the place."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(os.environ.get("FENCHEL_SOURCE_DIR", Path(__file__).parents[2])) / "tools" / "check_ladder.py"


def check(files):
    """Runs the script over a small tree given as {path: text}."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            file = Path(root, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True)


class CheckLadder(unittest.TestCase):
    def assert_refused(self, files, place):
        result = check(files)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(place, result.stdout)

    def test_going_down_is_fine(self):
        result = check({
            "fenchel/loss/hinge.hpp": '#include <cmath>\n#include "fenchel/base/error.hpp"\n',
            "fenchel/penalty/l1.hpp": '#include "fenchel/projection/simplex.hpp"\n',
            "fenchel/solver/sdca.cpp": '#include "fenchel/solver/sdca.hpp"\n#include "fenchel/loss/hinge.hpp"\n',
            "cli/main.cpp": '#include "cli/train.hpp"\n#include "fenchel/model/file.hpp"\n',
        })
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_climbing_is_refused_with_its_place(self):
        self.assert_refused({"fenchel/base/a.hpp": '// why\n\n#include "fenchel/run/run.hpp"\n'}, "fenchel/base/a.hpp:3:")

    def test_losses_never_include_data(self):
        self.assert_refused({"fenchel/loss/a.hpp": '#include "fenchel/data/csr.hpp"\n'}, "loss may not include data")

    def test_siblings_are_refused(self):
        self.assert_refused({"fenchel/projection/a.hpp": '#include "fenchel/loss/a.hpp"\n'}, "fenchel/projection/a.hpp:1:")

    def test_the_library_never_includes_the_command_line(self):
        self.assert_refused({"fenchel/model/a.cpp": '#  include <cli/train.hpp>\n'}, "model may not include cli")

    def test_relative_includes_do_not_hide(self):
        self.assert_refused(
            {"fenchel/base/a.hpp": '#include "../run/run.hpp"\n', "fenchel/run/run.hpp": ""}, "fenchel/base/a.hpp:1:")

    def test_unknown_rooms_are_refused(self):
        self.assert_refused({"fenchel/utils/a.hpp": ""}, "no room")


if __name__ == "__main__":
    unittest.main()
