"""The helpers of the benchmarks: objectives from weights, plots, files of results."""

import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(os.environ.get("FENCHEL_SOURCE_DIR", Path(__file__).parents[2])) / "bench"))
import _common as common  # noqa: E402
import _plot as plot  # noqa: E402

try:
    import numpy as np
    import scipy.sparse
    import _objective
except ImportError as missing:
    raise unittest.SkipTest(f"the peers are not installed: {missing}") from missing

ROWS = [[1.0, 0.0, 2.0], [0.0, -1.0, 0.5], [3.0, 1.0, 0.0], [0.0, 0.0, 0.0]]


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


class Objective(unittest.TestCase):
    def test_binary(self):
        labels, w, lam = [1.0, -1.0, -1.0, 1.0], [0.3, -0.7], 0.1  # the last column is left out
        losses = {"hinge": lambda m: max(0.0, 1 - m), "squared-hinge": lambda m: max(0.0, 1 - m) ** 2,
                  "logistic": lambda m: math.log(1 + math.exp(-m))}
        data = _objective.Data(scipy.sparse.csr_matrix(ROWS), np.array(labels), 2)
        for name, loss in losses.items():
            expected = math.fsum(loss(y * dot(x, w)) for x, y in zip(ROWS, labels)) / 4 + lam / 2 * dot(w, w)
            self.assertAlmostEqual(_objective.objective(data, name, lam, w), expected, 14, name)

    def test_multiclass(self):
        labels, lam = [2, 0, 1, 2], 0.1
        weights = [[0.3, -0.7, 0.1], [0.0, 0.5, -2.0], [1.0, 1.0, 0.4]]
        data = _objective.Data(scipy.sparse.csr_matrix(ROWS), np.array(labels), 3)
        flat = [x for w in weights for x in w]
        hinge = softmax = 0.0
        for x, y in zip(ROWS, labels):
            z = [dot(x, w) for w in weights]
            hinge += max((k != y) + z[k] - z[y] for k in range(3))
            softmax += math.log(math.fsum(math.exp(v - z[y]) for v in z))
        penalty = lam / 2 * dot(flat, flat)
        self.assertAlmostEqual(_objective.objective(data, "multiclass-hinge", lam, flat), hinge / 4 + penalty, 14)
        self.assertAlmostEqual(_objective.objective(data, "softmax", lam, flat), softmax / 4 + penalty, 14)


class Files(unittest.TestCase):
    def test_plot_is_well_formed(self):
        lines = {"a & b": [(1.0, 1e-3), (2.0, 0.0), (10.0, 1e-5)], "one point": [(3.0, 1e-4)], "none": []}
        plots = [{"title": "x < y", "lines": lines}, {"title": "empty", "lines": {}}]
        for log_x in (True, False):
            root = ElementTree.fromstring(plot.svg(plots, 2, "seconds", "distance", log_x=log_x))
            self.assertEqual(len(root.findall("{*}polyline")), 2)

    def test_json_is_read_back(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "new", "result.json")
            for content in ([{"a": [1, 2.5]}, {"b": None}], {"key": {"x": 1e-300}, "other": []}):
                common.write_json(path, content)
                self.assertEqual(json.loads(path.read_text()), content)


class Scripts(unittest.TestCase):
    @unittest.skipUnless(os.environ.get("FENCHEL_CLI"), "FENCHEL_CLI does not name an executable")
    def test_pragam_on_a_tiny_set(self):
        random = np.random.default_rng(5)
        with tempfile.TemporaryDirectory() as directory:
            with open(Path(directory, "tiny.svm"), "w") as file:
                for x in random.normal(size=(60, 5)):
                    label = 1 if x[0] + 0.3 * random.normal() > 0.2 else -1
                    file.write(f"{label} " + " ".join(f"{j + 1}:{value:.6f}" for j, value in enumerate(x)) + "\n")
            script = Path(common.SOURCE, "bench", "pragam.py")
            done = subprocess.run([sys.executable, script, "--sets", "tiny,absent", "--exponents", "4,6", "--cap", "0.5",
                                   "--reference", "2"], env={**os.environ, "FENCHEL_DATA": directory, "TMPDIR": directory},
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = [line.split("|") for line in done.stdout.splitlines() if line.startswith("| tiny")]
            self.assertEqual([row[2].strip() for row in rows], ["2^-4", "2^-6"])
            head = next(line.split("|") for line in done.stdout.splitlines() if line.startswith("| data"))
            bmrm = [cell.strip() for cell in head].index("bmrm")
            for row in rows:
                self.assertNotIn("–", row[bmrm], "bmrm reaches both levels on so small a problem")
            ElementTree.parse(Path(directory, "pragam-part.svg"))


if __name__ == "__main__":
    unittest.main()
