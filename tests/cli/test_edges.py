"""Edges of the command line: scales at which numbers underflow, files that would overwrite each other, problems that
no solver takes but the auditor still judges."""

import unittest

from support import CliTest


class Edges(CliTest):
    def test_tiny_weights_give_the_same_certificate_as_equal_ones(self):
        data = self.write("t.svm", "1e-13 1:1\n3e-13 1:1\n-2e-13 2:1\n")
        weights = self.write("w.txt", "1e-300\n" * 3)
        for options in (["--penalty", "none", "--solver", "fista"], ["--lambda", "0.1", "--solver", "sdca"]):
            plain = self.json("train", "--loss", "squared", "--bias", "none", *options, data, "a.fenchel")
            tiny = self.json("train", "--loss", "squared", "--bias", "none", *options, "--weights", weights, data,
                             "b.fenchel")
            for name in ("primal", "gap"):  # the weights of record are not exactly equal to 1: roundings differ
                self.assertAlmostEqual(tiny[name] / plain[name], 1.0, delta=1e-6)

    def test_nothing_that_was_read_is_overwritten(self):
        data = self.small()
        before = data.read_bytes()
        self.refused(2, "train", data, data, says=["overwritten"])
        self.refused(2, "train", "--trace", data, data, "m.fenchel", says=["overwritten"])
        self.refused(2, "train", "--trace", "m.fenchel", data, "m.fenchel", says=["overwritten"])
        self.assertEqual(data.read_bytes(), before)

    def test_the_auditor_needs_no_solver(self):
        weights = self.write("w.txt", "0\n0\n0\n0\n0\n")
        verdict = self.json("certify", "--model-format", "weights", "--loss", "hinge", "--penalty", "l1", "--lambda",
                            "10", "--bias", "free", self.small(), weights)
        self.assertGreaterEqual(verdict["gap"], 0.0)

    def test_data_without_features(self):
        data = self.write("empty.svm", "1\n-1\n1\n")
        for penalty in ("l1", "none"):
            for solver in ("auto", "interior-point", "pdhg"):
                found = self.json("train", "--loss", "hinge", "--penalty", penalty, "--bias", "none", "--solver", solver,
                                  data, "m.fenchel")
                self.assertEqual(found["primal"], 1.0)

    def test_a_C_without_a_lambda_is_refused(self):
        self.refused(2, "train", "--C", "1e308", self.small(), "m.fenchel", says=["--C"])
        self.refused(2, "train", "--C", "1e-320", self.small(), "m.fenchel", says=["--C"])

    def test_class_weights_show_in_the_formula(self):
        data = self.small()
        self.ok("train", "--class-weight", "1:5", data, "m.fenchel")
        self.assertIn("weighted mean", self.ok("certify", data, "m.fenchel"))

    def test_the_limit_on_passes_holds(self):
        for solver, loss in [("sdca", "logistic"), ("sdca", "hinge"), ("fista", "logistic")]:
            fit = self.json("train", "--loss", loss, "--tol", "1e-15", "--max-passes", "20", "--solver", solver,
                            self.small(), "m.fenchel", code=4)
            self.assertLessEqual(fit["passes"], 20)

    def test_the_limit_on_passes_holds_with_levels_by_row(self):
        rows = []
        for i in range(400):  # norms that differ by a factor of 1000
            entries = (f"{j}:{((7 * i + 3 * j * j) % 11 - 5 or 6) * 10 ** (i % 4 - 2):.9g}" for j in range(1, 21))
            rows.append(" ".join(["1" if (i * i) % 7 < 3 else "-1", *entries]))
        data = self.write("spread.svm", "\n".join(rows) + "\n")
        for limit in (60, 200, 800):  # the last one leaves passes for the question of eigenvalues
            fit = self.json("train", "--loss", "hinge", "--tol", "1e-15", "--max-passes", limit, "--solver", "agm-1",
                            data, "m.fenchel", code=4)
            self.assertLessEqual(fit["passes"], limit + 2)  # one search of the curvature more than foreseen


if __name__ == "__main__":
    unittest.main()
