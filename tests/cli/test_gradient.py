"""The options of accelerated gradient and excessive gap methods."""

import unittest

from support import CliTest


class Options(CliTest):
    def setUp(self):
        super().setUp()
        self.ok("generate", "d", "--rows", "300", "--features", "10", "--quiet")

    def check(self, *options, code=0):
        report = self.json("train", "d", "m", "--lambda", "0.01", "--tol", "1e-3", *options, code=code)
        self.assertTrue(self.json("certify", "d", "m")["certified"])
        return report

    def test_every_value_of_every_option(self):
        reference = self.check("--solver", "sdca")
        for solver in ["agm-inf", "agm-1"]:
            for space in ["primal", "dual", "dual-smooth"]:
                report = self.check("--solver", solver, "--agm-space", space)
                self.assertLessEqual(abs(report["primal"] - reference["primal"]), report["gap"] + reference["gap"])
                self.assertEqual(report["agm_space"], space)
        for solver in ["agm-inf", "agm-1", "pragam"]:
            for curvature in ["search", "bound"]:
                report = self.check("--solver", solver, "--curvature", curvature)
                self.assertLessEqual(abs(report["primal"] - reference["primal"]), report["gap"] + reference["gap"])
                self.assertEqual(report["curvature"], curvature)
            for weights in ["equal", "norms", "auto"] if solver != "pragam" else []:
                report = self.check("--solver", solver, "--smoothing-weights", weights)
                self.assertLessEqual(abs(report["primal"] - reference["primal"]), report["gap"] + reference["gap"])
                self.assertEqual(report["smoothing_weights"], weights)
        self.assertNotIn("agm_space", reference)
        self.assertNotIn("smoothing_weights", reference)

    def test_a_warm_start_is_not_lost(self):
        for solver in ["agm-1", "pragam"]:
            cold = self.check("--solver", solver)
            warm = self.check("--solver", solver, "--warm-start", "m")
            self.assertLess(warm["passes"], cold["passes"])

    def test_auto_takes_a_solver_that_has_the_option(self):
        self.assertEqual(self.check("--agm-space", "dual")["solver"], "agm-1")


class Refusals(CliTest):
    def test_values(self):
        self.refused(2, "train", self.small(), "m", "--agm-space", "both", says=["primal", "dual-smooth"])
        self.refused(2, "train", self.small(), "m", "--curvature", "exact", says=["search", "bound"])
        self.refused(2, "train", self.small(), "m", "--smoothing-weights", "uniform", says=["equal", "norms", "auto"])

    def test_solvers_that_do_not_take_them(self):
        self.refused(2, "train", self.small(), "m", "--solver", "sdca", "--agm-space", "dual",
                     says=["--agm-space", "agm-inf, agm-1", "not for sdca"])
        self.refused(2, "train", self.small(), "m", "--solver", "pragam", "--smoothing", "0.1",
                     says=["--smoothing", "not for pragam"])
        for solver in ["sdca", "pragam"]:
            self.refused(2, "train", self.small(), "m", "--solver", solver, "--smoothing-weights", "norms",
                         says=["--smoothing-weights", "agm-inf, agm-1", f"not for {solver}"])

    def test_what_contradicts_the_problem(self):
        small = self.small()
        self.refused(2, "train", small, "m", "--solver", "agm-1", "--penalty", "l1", "--agm-space", "dual",
                     says=["strongly convex", "primal"])
        self.refused(2, "train", small, "m", "--solver", "agm-1", "--agm-space", "dual", "--smoothing", "0.1",
                     says=["dual-smooth"])
        self.refused(2, "train", small, "m", "--solver", "agm-1", "--loss", "logistic", "--agm-space", "dual-smooth",
                     says=["logistic", "dual"])
        self.refused(2, "train", small, "m", "--solver", "agm-1", "--loss", "logistic", "--smoothing-weights", "auto",
                     says=["--smoothing-weights", "not smooth", "logistic"])
        self.refused(2, "train", small, "m", "--agm-space", "dual", "--smoothing-weights", "norms",
                     says=["dual-smooth", "--smoothing-weights"])
        self.refused(2, "train", small, "m", "--solver", "pragam", "--penalty", "l1", says=["strongly convex", "agm-1"])


if __name__ == "__main__":
    unittest.main()
