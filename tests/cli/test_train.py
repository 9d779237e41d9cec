"""fenchel train: the JSON object, limits, weights, warm starts, reproducibility."""

import json
import math
import os
import unittest

from support import SMALL, CliTest

KEYS = ["status", "primal", "dual", "gap", "relative_gap", "rounding", "loss", "penalty", "lambda", "bias",
        "solver", "passes", "seconds", "rows", "features", "nonzeros", "nonzero_weights", "threads", "precision",
        "model"]


class Report(CliTest):
    def test_json_has_the_keys_of_the_contract(self):
        report = self.json("train", self.small(), "m")
        for key in KEYS:
            self.assertIn(key, report)
        self.assertEqual(set(report["seconds"]), {"load", "solve", "total"})
        self.assertEqual((report["status"], report["loss"], report["penalty"], report["bias"], report["precision"]),
                         ("optimal", "hinge", "l2", "free", "f64"))
        self.assertEqual((report["rows"], report["features"], report["model"]), (24, 4, "m"))
        self.assertAlmostEqual(report["lambda"], 1 / 24)  # C = 1
        self.assertLessEqual(report["gap"], 1e-4 * report["primal"])
        # The difference cancels, the gap does not.
        self.assertLessEqual(report["primal"] - report["dual"], report["gap"] + 1e-12)
        self.assertGreaterEqual(report["gap"], 0)

    def test_text_says_what_is_solved(self):
        text = self.ok("train", self.small(), "m", "--lambda", "0.01", "--loss", "huber", "--delta", "2")
        for piece in ["mean huber", "delta = 2", "0.01 * 1/2 ||w||^2", "free bias", "optimal", "primal", "dual",
                      "gap", "m\n"]:
            self.assertIn(piece, text)

    def test_quiet_prints_nothing_and_verbose_every_certificate(self):
        done = self.run_cli("train", self.small(), "m", "--quiet")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        done = self.run_cli("train", "small.svm", "m", "--verbose", "--json")
        self.assertIn("passes, primal", done.stderr)
        json.loads(done.stdout)

    def test_default_model_name(self):
        report = self.json("train", self.small())
        self.assertEqual(report["model"], "small.fenchel")
        self.assertTrue((self.dir / "small.fenchel").exists())

    def test_one_versus_rest(self):
        self.ok("generate", "d", "--task", "multiclass", "--classes", "4", "--rows", "300", "--features", "20")
        report = self.json("train", "d", "m", "--loss", "logistic")
        self.assertEqual(report["classes"], [1, 2, 3, 4])
        self.assertEqual([entry["class"] for entry in report["per_class"]], [1, 2, 3, 4])
        for key in ["primal", "dual", "gap"]:
            self.assertAlmostEqual(report[key], sum(entry[key] for entry in report["per_class"]))
        for entry in report["per_class"]:
            self.assertLessEqual(entry["relative_gap"], 1e-4)

    def test_directly_given_strengths(self):
        report = self.json("train", self.small(), "m", "--loss", "logistic", "--l1", "0.01", "--l2", "0.1")
        self.assertEqual((report["l1"], report["l2"], report["penalty"]), (0.01, 0.1, "elastic-net"))


class Limits(CliTest):
    def setUp(self):
        super().setUp()
        self.ok("generate", "d", "--rows", "3000", "--features", "300", "--quiet")

    def check_stopped(self, status, *options):
        report = self.json("train", "d", "m", "--solver", "sdca", "--lambda", "1e-6", "--tol", "1e-12", *options, code=4)
        self.assertEqual(report["status"], status)
        self.assertTrue(self.json("certify", "d", "m")["certified"])

    def test_passes(self):
        self.check_stopped("max-passes", "--max-passes", "5")

    def test_time(self):
        self.check_stopped("time-limit", "--time-limit", "0.05")

    def test_auto_keeps_to_them(self):
        for passes in (5, 40, 300, 520):
            report = self.json("train", "d", "m", "--lambda", "1e-7", "--tol", "1e-14", "--max-passes", passes, code=4)
            self.assertEqual(report["status"], "max-passes")
            self.assertLessEqual(report["passes"], passes + 40)  # a step of newton is the least it takes
            self.assertTrue(self.json("certify", "d", "m")["certified"])


class Data(CliTest):
    def test_standard_input(self):
        a = self.json("train", self.small(), "a")
        b = self.json("train", "-", "b", stdin=SMALL)
        self.assertEqual(a["primal"], b["primal"])
        self.refused(2, "train", "-", stdin=SMALL, says="MODEL")

    def test_weights_equal_repeated_rows(self):
        lines = SMALL.splitlines(keepends=True)
        self.write("repeated.svm", "".join(line * (i % 3) for i, line in enumerate(lines)))
        self.write("weights", "".join(f"{i % 3}\n" for i in range(len(lines))))
        options = ["--loss", "logistic", "--lambda", "0.1", "--tol", "1e-9"]
        a = self.json("train", "repeated.svm", "a", *options)
        b = self.json("train", self.small(), "b", *options, "--weights", "weights")
        self.assertLessEqual(abs(a["primal"] - b["primal"]), a["gap"] + b["gap"])
        self.assertTrue(self.json("certify", "small.svm", "b")["certified"])

    def test_class_weight_and_penalty_factors(self):
        self.write("factors", "1\n0\n2\n0.5\n")
        options = ["--loss", "logistic", "--penalty-factors", "factors", "--class-weight", "-1:2,1:0.5"]
        self.json("train", self.small(), "m", *options)
        self.assertTrue(self.json("certify", "small.svm", "m")["certified"])
        self.json("train", "small.svm", "m", "--class-weight", "balanced")
        self.write("factors", "1\n0\n")
        self.refused(3, "train", "small.svm", "n", *options[:4], says="factors")

    def test_precision(self):
        self.assertEqual(self.json("train", self.small(), "m", "--precision", "f32")["precision"], "f32")
        self.assertTrue(self.json("certify", "small.svm", "m")["certified"])


class Trace(CliTest):
    def test_lines(self):
        report = self.json("train", self.small(), "m", "--trace", "t", "--tol", "1e-8")
        lines = [json.loads(line) for line in (self.dir / "t").read_text().splitlines()]
        self.assertEqual(list(lines[0]), ["seconds", "passes", "primal", "dual", "gap"])
        gaps = [line["gap"] for line in lines]
        self.assertEqual(gaps, sorted(gaps, reverse=True))
        self.assertEqual(gaps[-1], report["gap"])

    def test_that_cannot_be_written(self):
        self.refused(1, "train", self.small(), "m", "--trace", "no/t", says="no/t")
        if os.path.exists("/dev/full"):
            self.refused(1, "train", "small.svm", "m", "--trace", "/dev/full", says="/dev/full")
        self.assertFalse((self.dir / "m").exists())


class WarmStart(CliTest):
    def test_starts_where_the_model_ended(self):
        self.ok("generate", "d", "--rows", "1000", "--features", "100", "--quiet")
        for solver in ["sdca", "fista"]:
            options = ["--loss", "logistic", "--solver", solver, "--tol", "1e-6"]
            cold = self.json("train", "d", "m", *options)
            warm = self.json("train", "d", "n", *options, "--warm-start", "m")
            self.assertLess(warm["passes"], cold["passes"])

    def test_other_rows_take_the_weights_only(self):
        self.json("train", self.small(), "m", "--loss", "logistic")
        self.write("fewer.svm", "".join(SMALL.splitlines(keepends=True)[:20]))
        done = self.run_cli("train", "fewer.svm", "n", "--loss", "logistic", "--warm-start", "m")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning", done.stderr)

    def test_refuses_what_does_not_fit(self):
        self.json("train", self.small(), "m")
        self.write("wide.svm", SMALL + "1 9:1\n")
        self.refused(2, "train", "wide.svm", "n", "--warm-start", "m", says="features")
        self.write("other.svm", SMALL.replace("-1 ", "2 "))
        self.refused(2, "train", "other.svm", "n", "--warm-start", "m", says="classes")
        self.refused(3, "train", "small.svm", "n", "--warm-start", "small.svm", says="small.svm")


class RowOrder(CliTest):
    def test_auto_takes_a_solver_that_has_one(self):
        self.ok("generate", "d", "--rows", "300", "--features", "5", "--quiet")
        options = ["--loss", "squared", "--lambda", "1e-7"]
        self.assertEqual(self.json("train", "d", "m", *options)["solver"], "newton")
        report = self.json("train", "d", "m", *options, "--row-order", "windows")
        self.assertEqual((report["solver"], report["row_order"]), ("accelerated-sdca", "windows"))

    def test_runs_are_a_setting(self):
        self.ok("generate", "d", "--rows", "9000", "--features", "40", "--density", "0.5", "--quiet")
        reports = [self.json("train", "d", f"m{order}", "--solver", "sdca", "--row-order", order)
                   for order in ("auto", "runs", "shuffled")]
        models = [self.json("certify", "d", f"m{order}")["primal"] for order in ("auto", "runs", "shuffled")]
        self.assertEqual(models[0], models[1])  # the generated rows are not alike
        self.assertNotEqual(models[1], models[2])
        roundings = 2 * math.ulp(models[1])
        self.assertLessEqual(abs(models[1] - models[2]), reports[1]["gap"] + reports[2]["gap"] + roundings)
        for order in ("runs", "shuffled"):
            self.ok("certify", "d", f"m{order}")
        self.refused(2, "train", "d", "m", "--solver", "sdca", "--row-order", "runs", "--sampling", "uniform",
                     says="--sampling permutation")


class Reproducible(CliTest):
    def test_same_seed_same_bits_for_any_number_of_threads(self):
        self.ok("generate", "d", "--rows", "20000", "--features", "300", "--density", "0.05", "--quiet")
        for options in [["--loss", "hinge"], ["--loss", "logistic", "--penalty", "l1", "--lambda", "0.001"]]:
            codes = []
            for threads in ["1", "2"]:
                done = self.run_cli("train", "d", "m" + threads, "--threads", threads, "--max-passes", "60",
                                    "--seed", "7", *options)
                self.assertIn(done.returncode, (0, 4), done.stderr)
                codes.append(done.returncode)
            self.assertEqual(codes[0], codes[1])
            self.assertEqual((self.dir / "m1").read_bytes(), (self.dir / "m2").read_bytes())


if __name__ == "__main__":
    unittest.main()
