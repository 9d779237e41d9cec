"""bmrm, bmrm-ls and pegasos on the command line."""

import math
import unittest

from support import CliTest


class Bundle(CliTest):
    def fit(self, *options):
        return self.json("train", "--quiet", self.small(), "m", *options)

    def test_they_agree(self):
        for bias in ("none", "free", "regularized"):
            for penalty in ("l2", "elastic-net"):
                problem = ["--lambda", "0.05", "--bias", bias, "--penalty", penalty]
                exact = self.fit(*problem, "--solver", "bmrm", "--tol", "1e-9")
                self.assertEqual(exact["solver"], "bmrm")
                for solver, tol in [("sdca", "1e-4"), ("bmrm-ls", "0.1"), ("pegasos", "0.2")]:
                    if (solver, penalty) == ("pegasos", "elastic-net"):
                        continue
                    other = self.fit(*problem, "--solver", solver, "--tol", tol)
                    self.assertLessEqual(abs(exact["primal"] - other["primal"]), exact["gap"] + other["gap"])

    def test_batch(self):
        problem = ["--lambda", "0.05", "--bias", "none", "--solver", "pegasos", "--tol", "0.2"]
        single, batch = self.fit(*problem), self.fit(*problem, "--batch", "5")
        self.assertNotIn("batch", single)
        self.assertEqual(batch["batch"], 5)
        self.assertNotEqual(single["primal"], batch["primal"])
        self.assertLessEqual(abs(single["primal"] - batch["primal"]), single["gap"] + batch["gap"])
        self.assertEqual(self.fit("--lambda", "0.05", "--batch", "5", "--tol", "0.2")["solver"], "pegasos")

    def test_a_batch_of_more_rows_than_there_are(self):
        problem = ["--lambda", "0.05", "--bias", "none", "--solver", "pegasos", "--tol", "0.2"]
        huge = self.fit(*problem, "--batch", "18446744073709551615")
        self.assertEqual(huge["primal"], self.fit(*problem, "--batch", "24")["primal"])

    def test_a_best_bias_of_zero_at_the_start(self):
        """Most targets are 0: at w = 0 the best bias is a kink at 0 exactly."""
        rows = "".join(f"{0 if i % 3 else i - 20} 1:{i % 7 - 3} 2:{i % 5 - 2}\n" for i in range(41))
        data = self.write("zeros.svm", rows)
        for loss in ("absolute", "quantile", "epsilon-insensitive"):
            problem = ["--loss", loss, "--lambda", "0.1", data, "m"]
            exact = self.json("train", "--quiet", "--solver", "sdca", "--tol", "1e-6", *problem)
            found = self.json("train", "--quiet", "--solver", "bmrm", "--tol", "1e-6", *problem)
            roundings = 2 * math.ulp(exact["primal"])  # both values are rounded as they are reported
            self.assertLessEqual(abs(exact["primal"] - found["primal"]), exact["gap"] + found["gap"] + roundings)

    def test_refusals(self):
        self.refused(2, "train", self.small(), "m", "--solver", "pegasos", "--batch", "0", says="--batch")
        self.refused(2, "train", "small.svm", "m", "--solver", "sdca", "--batch", "2",
                     says=["--batch", "pegasos", "not for sdca"])
        self.refused(2, "train", "small.svm", "m", "--solver", "pegasos", "--loss", "squared",
                     says=["bounded subgradients", "bmrm"])
        for solver in ("bmrm", "bmrm-ls"):
            self.refused(2, "train", "small.svm", "m", "--solver", solver, "--penalty", "l1",
                         says=["strongly convex", "sdca"])
        self.refused(2, "train", "small.svm", "m", "--solver", "pegasos", "--penalty", "elastic-net", says="l2 penalty")


if __name__ == "__main__":
    unittest.main()
