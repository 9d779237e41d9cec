"""Equal rows are solved for as one; what is certified is the problem with all of them."""

import random
import unittest

from support import CliTest


class EqualRows(CliTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(1)
        rows = [f"1:{draw.gauss(0, 1):.3f} 3:{draw.gauss(0, 1):.3f}" for _ in range(100)]
        # Every row has both labels somewhere.
        self.lines = [f"{draw.choice((-1, 1, 1))} {draw.choice(rows)}\n" for _ in range(6000)]
        self.write("d", "".join(self.lines))
        self.distinct = len(set(self.lines))

    def train(self, *options, code=0):
        report = self.json("train", "d", "m", "--lambda", "0.01", "--tol", "1e-6", *options, code=code)
        self.assertTrue(self.json("certify", "d", "m")["certified"])
        self.assertEqual(report["rows"], 6000)
        return report

    def test_the_optimum_is_that_of_all_rows(self):
        self.write("weights", "".join(f"{i % 5}\n" for i in range(6000)))
        for loss in ["hinge", "logistic", "squared"]:
            for more in [[], ["--weights", "weights"], ["--bias", "none", "--standardize"]]:
                merged = self.train("--solver", "newton", "--loss", loss, *more)
                apart = self.train("--solver", "newton", "--loss", loss, *more, "--equal-rows", "separate")
                self.assertEqual(merged["distinct_rows"], self.distinct)
                self.assertNotIn("distinct_rows", apart)
                self.assertLessEqual(abs(merged["primal"] - apart["primal"]), merged["gap"] + apart["gap"])

    def test_said_in_words(self):
        self.assertIn(f"of 6000 rows, {self.distinct} that differ", self.ok("train", "d", "m", "--solver", "newton"))
        self.assertNotIn("that differ", self.ok("train", "d", "m", "--solver", "newton", "--equal-rows", "separate"))
        self.refused(2, "train", "d", "m", "--equal-rows", "merge", says=["--equal-rows", "auto", "separate"])

    def test_the_same_bits_with_any_number_of_threads(self):
        reports, models = [], []
        for threads in ("1", "2"):
            reports.append(self.train("--solver", "newton", "--threads", threads))
            models.append((self.dir / "m").read_bytes())
        self.assertEqual(models[0], models[1])
        self.assertEqual(reports[0]["gap"], reports[1]["gap"])

    def test_warm_starts(self):
        cold = self.train("--solver", "fista", "--loss", "logistic")
        warm = self.train("--solver", "fista", "--loss", "logistic", "--warm-start", "m")
        self.assertLess(warm["passes"], cold["passes"])
        self.assertEqual(warm["distinct_rows"], self.distinct)

    def test_solvers_that_go_row_by_row_keep_them(self):
        self.assertNotIn("distinct_rows", self.train("--solver", "sdca", "--loss", "logistic"))
        self.assertNotIn("distinct_rows", self.json("train", "d", "m", "--solver", "pegasos", "--tol", "1"))

    def test_rows_that_differ_stay(self):
        self.write("d", "".join(f"{1 - 2 * (i % 2)} 1:{i % 3} 2:{i}\n" for i in range(6000)))
        self.assertNotIn("distinct_rows", self.json("train", "d", "m", "--tol", "0.5", "--lambda", "1", "--solver", "newton"))


if __name__ == "__main__":
    unittest.main()
