"""The options of dual coordinate ascent."""

import unittest

from support import CliTest


class Options(CliTest):
    def setUp(self):
        super().setUp()
        self.ok("generate", "d", "--rows", "400", "--features", "20", "--quiet")

    def check(self, *options, code=0, tolerance="1e-5"):
        report = self.json("train", "d", "m", "--lambda", "0.01", "--tol", tolerance, *options, code=code)
        self.assertTrue(self.json("certify", "d", "m")["certified"])
        return report

    def test_every_value_of_every_option(self):
        logistic = ["--loss", "logistic", "--solver", "sdca"]
        reference = self.check(*logistic)
        for option, values in {"--sdca-option": ["1", "2", "3", "4", "5", "I", "II", "III", "IV", "V"],
                               "--sampling": ["permutation", "uniform", "importance"],
                               "--iterate": ["auto", "last", "averaged", "random"],
                               "--momentum": ["auto", "off"], "--blocks": ["1", "2", "3"]}.items():
            for value in values:
                report = self.check(*logistic, option, value)
                self.assertLessEqual(abs(report["primal"] - reference["primal"]), report["gap"] + reference["gap"])
                key = option[2:].replace("-", "_")
                roman = {"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5}
                wanted = roman.get(value) or (int(value) if value.isdigit() else value)
                self.assertEqual(report.get(key, "auto"), wanted)
        self.assertNotIn("sampling", reference)
        for value in ["practical", "theory"]:
            report = self.check("--loss", "logistic", "--solver", "accelerated-sdca", "--acceleration", value)
            self.assertLessEqual(abs(report["primal"] - reference["primal"]), report["gap"] + reference["gap"])

    def test_smoothing_keeps_the_gap_of_the_loss(self):
        exact = self.check("--solver", "sdca", tolerance="1e-4")
        smoothed = self.check("--solver", "sdca", "--smoothing", "0.05", "--max-passes", "500", code=4)
        self.assertLessEqual(smoothed["gap"], 0.03)
        self.assertGreater(smoothed["gap"], exact["gap"])
        self.assertLessEqual(abs(smoothed["primal"] - exact["primal"]), exact["gap"] + smoothed["gap"])
        self.check("--solver", "sdca", "--smoothing", "1e-6", "--sdca-option", "5", "--max-passes", "5", code=4)

    def test_auto_takes_a_solver_that_has_the_option(self):
        options = ["--loss", "squared", "--l2", "1e-7"]
        report = self.json("train", "d", "m", *options, "--iterate", "averaged", "--max-passes", "5", code=4)
        self.assertEqual(report["solver"], "sdca")
        report = self.json("train", "d", "m", *options, "--acceleration", "practical", "--max-passes", "5", code=4)
        self.assertEqual(report["solver"], "accelerated-sdca")

    def test_penalties_that_are_not_strongly_convex(self):
        for penalty in [["--penalty", "l1"], ["--penalty", "elastic-net", "--l1-ratio", "1"]]:
            reference = self.check("--loss", "squared", "--solver", "fista", *penalty)
            for solver in ["sdca", "accelerated-sdca"]:
                report = self.check("--loss", "squared", "--solver", solver, *penalty)
                self.assertLessEqual(abs(report["primal"] - reference["primal"]), report["gap"] + reference["gap"])
        for loss in ["hinge", "absolute"]:  # which no other solver takes with l1
            self.check("--loss", loss, "--penalty", "l1", tolerance="1e-2")


class Refusals(CliTest):
    def test_values(self):
        for option, value, says in [("--sdca-option", "6", ["--sdca-option", "V"]),
                                    ("--sampling", "cyclic", ["permutation", "importance"]),
                                    ("--iterate", "best", ["last", "averaged"]),
                                    ("--acceleration", "fast", ["practical", "theory"]),
                                    ("--smoothing", "0", "--smoothing"), ("--smoothing", "-1", "--smoothing"),
                                    ("--blocks", "0", "--blocks"), ("--momentum", "on", ["auto", "off"]), ("--blocks", "1.5", "--blocks")]:
            self.refused(2, "train", self.small(), "m", option, value, says=says)

    def test_solvers_that_do_not_take_them(self):
        values = {"--sdca-option": "1", "--sampling": "permutation", "--iterate": "last", "--smoothing": "0.1",
                  "--acceleration": "practical", "--momentum": "off", "--blocks": "1"}
        for option, value in values.items():
            self.refused(2, "train", self.small(), "m", "--loss", "logistic", "--solver", "fista", option, value,
                         says=[option, "not for fista", "sdca"])
        self.refused(2, "train", "small.svm", "m", "--solver", "sdca", "--acceleration", "theory",
                     says=["--acceleration", "accelerated-sdca", "not for sdca"])
        self.refused(2, "train", "small.svm", "m", "--solver", "accelerated-sdca", "--iterate", "averaged",
                     says=["--iterate", "not for accelerated-sdca"])
        self.refused(2, "train", "small.svm", "m", "--acceleration", "theory", "--iterate", "averaged",
                     says=["--iterate", "--acceleration"])

    def test_what_contradicts_the_problem(self):
        self.refused(2, "train", self.small(), "m", "--sdca-option", "5", says=["smooth", "hinge"])
        self.refused(2, "train", "small.svm", "m", "--penalty", "l1", "--acceleration", "theory",
                     says=["strongly convex", "practical"])
        self.assertFalse((self.dir / "m").exists())


if __name__ == "__main__":
    unittest.main()
