"""fenchel predict, export, info and generate."""

import json
import math
import shutil
import subprocess
import unittest

from support import SMALL, CliTest


class Predict(CliTest):
    def setUp(self):
        super().setUp()
        self.ok("generate", "d", "--rows", "400", "--features", "30", "--quiet")
        self.labels = [float(line.split()[0]) for line in (self.dir / "d").read_text().splitlines()]

    def test_labels_scores_and_summary(self):
        self.ok("train", "d", "m", "--loss", "logistic", "--tol", "1e-8")
        summary = self.json("predict", "d", "m", "out")
        predicted = [float(x) for x in (self.dir / "out").read_text().split()]
        correct = sum(a == b for a, b in zip(predicted, self.labels))
        self.assertEqual((summary["rows"], summary["correct"]), (400, correct))
        self.assertAlmostEqual(summary["accuracy"], correct / 400)
        self.assertGreater(summary["certified_share"], 0.5)
        done = self.run_cli("predict", "d", "m")
        self.assertEqual([float(x) for x in done.stdout.split()], predicted)
        self.assertIn("accuracy", done.stderr)
        self.assertIn("certified", done.stderr)
        scores = [float(x) for x in self.ok("predict", "d", "m", "--scores", "--quiet").split()]
        self.assertEqual([1.0 if z > 0 else -1.0 for z in scores], predicted)
        lines = self.ok("predict", "d", "m", "--probabilities", "--quiet").splitlines()
        self.assertEqual(lines[0], "labels -1 1")
        for z, label, line in zip(scores, predicted, lines[1:]):
            numbers = [float(x) for x in line.split()]
            self.assertEqual(numbers[0], label)
            self.assertAlmostEqual(numbers[2], 1 / (1 + math.exp(-z)))
            self.assertAlmostEqual(numbers[1] + numbers[2], 1)

    def test_no_label_is_certified_without_strong_convexity(self):
        self.ok("train", "d", "m", "--loss", "logistic", "--penalty", "l1", "--lambda", "0.001")
        self.assertNotIn("certified_share", self.json("predict", "d", "m", "out"))

    def test_regression(self):
        self.ok("generate", "r", "--task", "regression", "--rows", "200", "--features", "10", "--density", "1",
                "--quiet")
        self.ok("train", "r", "m", "--loss", "squared", "--lambda", "1e-3")
        summary = self.json("predict", "r", "m", "out")
        truth = [float(line.split()[0]) for line in (self.dir / "r").read_text().splitlines()]
        values = [float(x) for x in (self.dir / "out").read_text().split()]
        self.assertAlmostEqual(summary["mean_squared_error"], sum((a - b)**2 for a, b in zip(truth, values)) / 200)
        self.assertLess(summary["mean_squared_error"], 0.1)

    def test_unseen_columns_count_nothing(self):
        self.ok("train", "d", "m")
        self.write("wide", "1 1:1\n1 1:1 1000:5\n")
        scores = self.ok("predict", "wide", "m", "--scores", "--quiet").split()
        self.assertEqual(scores[0], scores[1])

    def test_zero_based_model(self):
        self.write("zero", "1 0:1 1:2\n-1 0:-1 1:1\n1 0:2\n-1 0:-2\n")
        self.ok("train", "zero", "m")
        self.write("part", "1 1:1\n")  # no index 0: must not be taken for 1-based data
        self.write("same", "1 0:0 1:1\n")
        self.assertEqual(self.ok("predict", "part", "m", "--scores", "--quiet"),
                         self.ok("predict", "same", "m", "--scores", "--quiet"))


class Export(CliTest):
    def test_json_reads_back_exactly(self):
        self.ok("train", self.small(), "m", "--loss", "logistic")
        self.ok("export", "m", "e.json", "--format", "json", "--quiet")
        model = json.loads((self.dir / "e.json").read_text())
        self.assertEqual((model["loss"], model["penalty"], model["classes"]), ("logistic", "l2", [-1, 1]))
        w = model["weights"]
        if isinstance(w, dict):
            w = [dict(zip(w["indices"], w["values"])).get(j, 0.0) for j in range(4)]
        scores = self.ok("predict", "small.svm", "m", "--scores", "--quiet").split()
        for line, score in zip(SMALL.splitlines(), scores):
            entries = (entry.split(":") for entry in line.split()[1:])
            self.assertAlmostEqual(sum(w[int(j) - 1] * float(v) for j, v in entries) + model["bias"], float(score))

    @unittest.skipUnless(shutil.which("liblinear-predict"), "needs liblinear-predict")
    def test_liblinear_predicts_the_same_labels(self):
        cases = [("classification", "hinge"), ("multiclass", "logistic"), ("regression", "epsilon-insensitive")]
        for task, loss in cases:
            for bias in ["none", "free", "regularized"]:
                with self.subTest(f"{task} {bias}"):
                    self.ok("generate", "d", "--task", task, "--rows", "300", "--features", "15", "--quiet")
                    self.ok("train", "d", "m", "--loss", loss, "--bias", bias, "--C", "0.1", "--quiet")
                    self.ok("export", "m", "l", "--format", "liblinear", "--quiet")
                    subprocess.run(["liblinear-predict", "-q", "d", "l", "theirs"], cwd=self.dir, check=True,
                                   stdout=subprocess.DEVNULL)
                    self.ok("predict", "d", "m", "ours", "--quiet")
                    self.ok("predict", "d", "l", "again", "--quiet")
                    read = lambda name: [float(x) for x in (self.dir / name).read_text().split()]
                    for a, b, c in zip(read("ours"), read("theirs"), read("again")):
                        self.assertAlmostEqual(a, b, places=4)
                        self.assertAlmostEqual(a, c, places=9)


class InfoAndGenerate(CliTest):
    def test_same_seed_same_data(self):
        for name, seed in [("a", 1), ("b", 1), ("c", 2)]:
            self.ok("generate", name, "--seed", seed, "--weights-out", name + "w", "--quiet")
        files = self.files()
        self.assertEqual(files["a"], files["b"])
        self.assertNotEqual(files["a"], files["c"])
        self.assertEqual(len(files["aw"].split()), 101)

    def test_info_of_data(self):
        self.ok("generate", "d", "--rows", "50", "--features", "20", "--density", "1", "--quiet")
        info = self.json("info", "d")
        self.assertEqual((info["kind"], info["rows"], info["features"], info["empty_columns"]), ("data", 50, 20, 0))
        self.assertEqual(sum(info["labels"]["most_frequent"].values()), 50)
        self.assertIn("density", self.ok("info", "d"))

    def test_info_of_a_model(self):
        report = self.json("train", self.small(), "m")
        info = self.json("info", "m")
        self.assertEqual(info["kind"], "model")
        for key in ["primal", "dual", "gap", "loss", "penalty", "lambda", "solver", "rows", "features", "nonzeros"]:
            self.assertEqual(info[key], report[key])


if __name__ == "__main__":
    unittest.main()
