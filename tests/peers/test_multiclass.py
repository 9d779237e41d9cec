"""Multiclass fits against scikit-learn's multinomial LogisticRegression: the objectives agree within the gap."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

try:
    import numpy as np
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import LogisticRegression
except ImportError as missing:
    raise unittest.SkipTest(f"the peers are not installed: {missing}") from missing

CLI = os.environ.get("FENCHEL_CLI")
if not CLI or not os.access(CLI, os.X_OK):
    raise unittest.SkipTest("FENCHEL_CLI does not name an executable")


class Softmax(unittest.TestCase):
    def test_agrees(self):
        with tempfile.TemporaryDirectory(prefix="fenchel-") as name:
            self.compare(Path(name))

    def compare(self, folder):
        data, model = folder / "d", folder / "m"
        run = lambda *args: subprocess.run([CLI, *map(str, args)], check=True, capture_output=True, text=True).stdout
        run("generate", data, "--task", "multiclass", "--classes", 5, "--rows", 400, "--features", 15)
        x, y = load_svmlight_file(str(data))
        for bias in ["none", "free"]:
            ours = json.loads(run("train", data, model, "--loss", "softmax", "--bias", bias, "--tol", "1e-7", "--json"))
            peer = LogisticRegression(C=1.0, fit_intercept=bias == "free", tol=1e-10, max_iter=10000)
            peer.fit(x, y)
            z = x @ peer.coef_.T + peer.intercept_
            top = z.max(axis=1, keepdims=True)
            losses = np.log(np.exp(z - top).sum(axis=1)) + top[:, 0] - z[np.arange(len(y)), (y - 1).astype(int)]
            theirs = losses.mean() + 0.5 * ours["lambda"] * (peer.coef_ ** 2).sum()
            self.assertGreaterEqual(theirs * (1 + 1e-12), ours["dual"])
            self.assertLessEqual(ours["primal"], theirs + ours["gap"])
            self.assertAlmostEqual(ours["primal"] / theirs, 1.0, delta=1e-5)


if __name__ == "__main__":
    unittest.main()
