"""fenchel certify: claims confirmed and refuted, and answers of other tools audited."""

import shutil
import subprocess
import unittest

from support import SMALL, CliTest


class OwnModels(CliTest):
    def test_confirms_every_kind_of_model(self):
        self.ok("generate", "d", "--rows", "200", "--features", "20", "--quiet")
        cases = ["--loss hinge", "--loss squared-hinge --bias none", "--loss logistic --penalty l1 --lambda 0.01",
                 "--loss huber --penalty elastic-net", "--loss quantile --tau 0.3",
                 "--loss squared --bias regularized --bias-value 3",
                 "--loss smooth-hinge --gamma 0.5 --class-weight balanced"]
        for options in cases:
            with self.subTest(options):
                report = self.json("train", "d", "m", *options.split())
                verdict = self.json("certify", "d", "m")
                self.assertIs(verdict["certified"], True)
                self.assertLessEqual(verdict["gap"], report["gap"] + verdict["rounding"])
                for key in ["primal", "dual", "gap", "relative_gap"]:
                    self.assertIn(key, verdict)

    def test_refutes_other_data(self):
        self.ok("train", self.small(), "m")
        changes = {"a value": SMALL.replace("2:0.6", "2:0.61", 1), "a label": SMALL.replace("-1", "1", 1),
                   "a row less": SMALL.split("\n", 1)[1], "a row more": SMALL + "1 1:1\n"}
        for what, content in changes.items():
            with self.subTest(what):
                self.write("other.svm", content)
                self.refused(1, "certify", "other.svm", "m", "--json", says="not certified")

    def test_format_of_the_file_does_not_matter(self):
        self.ok("train", self.small(), "m")
        self.write("same.svm", "# a comment\r\n" + SMALL.replace(" 1:", "   1:").replace("\n", "\r\n"))
        self.assertTrue(self.json("certify", "same.svm", "m")["certified"])


class PlainWeights(CliTest):
    def test_bounds_the_true_distance(self):
        self.ok("generate", "d", "--rows", "300", "--features", "20", "--weights-out", "w", "--quiet")
        options = ["--loss", "logistic", "--lambda", "0.01"]
        best = self.json("train", "d", "m", *options, "--tol", "1e-9")
        verdict = self.json("certify", "d", "w", "--model-format", "weights", *options)
        self.assertIs(verdict["certified"], False)
        self.assertGreaterEqual(verdict["gap"], verdict["primal"] - best["primal"])
        self.assertLessEqual(verdict["gap"], verdict["primal"] - best["dual"] + 1e-5)

    def test_weights_of_an_optimal_model_are_certified(self):
        options = ["--loss", "squared", "--lambda", "0.1"]
        self.ok("train", self.small(), "m", *options, "--tol", "1e-9")
        self.ok("export", "m", "e.csv", "--format", "csv", "--quiet")
        rows = (self.dir / "e.csv").read_text().splitlines()[1:]
        self.write("w", "".join(row.split(",")[1] + "\n" for row in rows))
        verdict = self.json("certify", "small.svm", "w", "--model-format", "weights", *options)
        self.assertIs(verdict["certified"], True)

    def test_is_never_guessed(self):
        self.write("w", "1\n2\n3\n4\n")
        self.refused(3, "certify", self.small(), "w", says="w")
        self.refused(3, "certify", "small.svm", self.write("v", "1\n"), "--model-format", "weights")


@unittest.skipUnless(shutil.which("liblinear-train"), "needs liblinear-train")
class Liblinear(CliTest):
    def train(self, *options):
        subprocess.run(["liblinear-train", "-q", *options, "d", "l"], cwd=self.dir, check=True,
                       stdout=subprocess.DEVNULL)

    def audit(self, *options):
        return self.json("certify", "d", "l", *options)

    def test_audits_its_answers(self):
        self.ok("generate", "d", "--rows", "500", "--features", "40", "--quiet")
        cases = {"0": ["--loss", "logistic"], "3": ["--loss", "hinge"], "2": ["--loss", "squared-hinge"],
                 "6": ["--loss", "logistic", "--penalty", "l1"]}
        for solver, options in cases.items():
            for bias in [["-B", "-1"], ["-B", "1"]]:
                with self.subTest(f"-s {solver} {bias}"):
                    self.train("-s", solver, "-c", "0.5", "-e", "1e-8", *bias)
                    wanted = ["--bias", "none" if bias[1] == "-1" else "regularized"]
                    explicit = self.audit(*options, *wanted, "--C", "0.5", "--model-format", "liblinear")
                    self.assertIs(explicit["certified"], True, explicit)
                    self.assertLess(explicit["relative_gap"], 1e-4)
                    self.assertEqual(self.audit("--C", "0.5"), explicit)  # the file says the rest

    def test_a_loose_answer_is_not_certified(self):
        self.ok("generate", "d", "--rows", "500", "--features", "40", "--quiet")
        self.train("-s", "0", "-c", "10", "-e", "0.5")
        verdict = self.audit("--C", "10")
        self.assertIs(verdict["certified"], False)
        self.assertGreater(verdict["relative_gap"], 1e-4)

    def test_one_versus_rest(self):
        self.ok("generate", "d", "--task", "multiclass", "--rows", "300", "--features", "20", "--quiet")
        self.train("-s", "0", "-e", "1e-8")
        verdict = self.audit("--C", "1")
        self.assertIs(verdict["certified"], True)
        self.assertEqual([entry["class"] for entry in verdict["per_class"]], [1, 2, 3])


if __name__ == "__main__":
    unittest.main()
