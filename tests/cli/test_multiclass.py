"""Multiclass losses from the command line: train, certify, predict, export, warm starts, refusals."""

import json
import math
import shutil
import subprocess
import unittest

from support import CliTest

LOSSES = ["multiclass-hinge", "smooth-multiclass-hinge", "soft-max-of-hinge", "softmax"]


class Multiclass(CliTest):
    def data(self, classes=4, rows=240):
        self.ok("generate", "d", "--task", "multiclass", "--classes", classes, "--rows", rows, "--features", "12")
        return "d"

    def test_train_certify_predict(self):
        data = self.data()
        for loss in LOSSES:
            for bias in ["none", "free", "regularized"]:
                report = self.json("train", data, "m", "--loss", loss, "--bias", bias)
                self.assertEqual((report["status"], report["classes"]), ("optimal", [1, 2, 3, 4]))
                self.assertNotIn("per_class", report)  # one problem, one certificate
                self.assertLessEqual(report["gap"], 1e-4 * report["primal"])
                again = self.json("certify", data, "m")
                self.assertIs(again["certified"], True)
                self.assertNotIn("per_class", again)
                self.assertLessEqual(abs(again["gap"] - report["gap"]), report["rounding"] + 1e-15)
                summary = self.json("predict", data, "m", "out")
                self.assertGreater(summary["accuracy"], 0.5)
        info = self.json("info", "m")
        self.assertEqual(info["loss"], "softmax")
        self.assertEqual(info["gap"], report["gap"])

    def test_scores_and_probabilities(self):
        data = self.data()
        self.ok("train", data, "m", "--loss", "softmax")
        labels = self.ok("predict", data, "m", "--quiet").split()
        scores = [list(map(float, line.split())) for line in self.ok("predict", data, "m", "--scores").splitlines()]
        lines = self.ok("predict", data, "m", "--probabilities").splitlines()
        self.assertEqual(lines[0], "labels 1 2 3 4")
        for label, score, line in zip(labels, scores, lines[1:]):
            self.assertEqual(int(label), 1 + score.index(max(score)))
            predicted, *shares = line.split()
            self.assertEqual(predicted, label)
            total = sum(math.exp(s) for s in score)
            for share, s in zip(shares, score):
                self.assertAlmostEqual(float(share), math.exp(s) / total)
        self.ok("train", data, "m", "--loss", "soft-max-of-hinge")
        self.refused(2, "predict", data, "m", "--probabilities", says=["logistic or softmax", "soft-max-of-hinge"])

    def test_newton(self):
        data = self.data()
        for loss in LOSSES:
            for bias in ["none", "free", "regularized"]:
                options = ["--loss", loss, "--bias", bias, "--tol", "1e-4" if loss.endswith("multiclass-hinge") else "1e-8"]
                report = self.json("train", data, "m", *options, "--solver", "newton")
                self.assertEqual((report["status"], report["solver"]), ("optimal", "newton"))
                self.assertIs(self.json("certify", data, "m")["certified"], True)
                other = self.json("train", data, "n", *options, "--solver", "sdca")
                self.assertLessEqual(abs(other["primal"] - report["primal"]), other["gap"] + report["gap"])
        self.refused(2, "train", data, "m", "--loss", "multiclass-hinge", "--penalty", "elastic-net", "--solver", "newton",
                     says=["an l2 penalty", "sdca"])

    def test_two_classes_have_two_outputs(self):
        for loss in LOSSES:
            self.ok("train", self.small(), "m", "--loss", loss)
            self.assertEqual(len(self.ok("predict", "small.svm", "m", "--scores").split("\n")[0].split()), 2)
            exported = json.loads(self.ok("export", "m", "-", "--format", "json"))
            self.assertEqual((len(exported["weights"]), len(exported["bias"])), (2, 2))

    @unittest.skipUnless(shutil.which("liblinear-predict"), "LIBLINEAR is not installed")
    def test_liblinear_predicts_the_same(self):
        for data in [self.data(), self.small().name]:
            for loss in LOSSES:
                for bias in ["none", "free", "regularized"]:
                    self.ok("train", data, "m", "--loss", loss, "--bias", bias)
                    self.ok("export", "m", "e", "--format", "liblinear", "--quiet")
                    self.assertIn("solver_type MCSVM_CS", (self.dir / "e").read_text())
                    subprocess.run(["liblinear-predict", data, "e", "theirs"], cwd=self.dir, check=True,
                                   capture_output=True)
                    ours = self.ok("predict", data, "m", "--quiet").split()
                    theirs = (self.dir / "theirs").read_text().split()
                    self.assertEqual(list(map(float, ours)), list(map(float, theirs)), (data, loss, bias))
                    self.assertEqual(self.ok("predict", data, "e", "--quiet").split(), ours)

    def test_tampering_is_noticed(self):
        data = self.data()
        self.ok("train", data, "m", "--loss", "multiclass-hinge")
        self.ok("generate", "other", "--task", "multiclass", "--classes", "4", "--rows", "240", "--features", "12",
                "--seed", "5")
        self.refused(1, "certify", "other", "m", says="not the data of the model")
        bytes_ = bytearray((self.dir / "m").read_bytes())
        bytes_[-100] ^= 1
        self.write("broken", bytes(bytes_))
        self.refused(3, "certify", data, "broken", says="checksum")

    def test_threads_do_not_matter(self):
        data = self.data(classes=9)
        for loss in ["multiclass-hinge", "softmax"]:
            for threads in ["1", "2", "3"]:
                self.ok("train", data, "m" + threads, "--loss", loss, "--threads", threads)
            files = self.files()
            self.assertEqual(files["m1"], files["m2"])
            self.assertEqual(files["m1"], files["m3"])

    def test_warm_start(self):
        data = self.data()
        cold = self.json("train", data, "m", "--loss", "softmax", "--tol", "1e-7")
        warm = self.json("train", data, "n", "--loss", "softmax", "--warm-start", "m")
        self.assertLess(warm["passes"], cold["passes"])
        self.ok("train", data, "n", "--loss", "multiclass-hinge", "--warm-start", "m")
        done = self.run_cli("train", data, "n", "--loss", "logistic", "--warm-start", "m")
        self.assertEqual(done.returncode, 0)
        self.assertIn("do not fit", done.stderr)
        self.ok("train", self.small(), "b")
        for first, second in [("hinge", "softmax"), ("softmax", "hinge")]:
            self.ok("train", "small.svm", "b", "--loss", first)
            self.ok("train", "small.svm", "c", "--loss", second, "--warm-start", "b", "--bias", "regularized")

    def test_weights_and_penalties(self):
        data = self.data()
        self.write("c", "".join(f"{1 + i % 3}\n" for i in range(240)))
        self.write("f", "".join(f"{1 + j % 2}\n" for j in range(12)))
        for loss in LOSSES:
            self.ok("train", data, "m", "--loss", loss, "--weights", "c", "--class-weight", "balanced",
                    "--penalty-factors", "f", "--l1", "0.001", "--l2", "0.01", "--standardize")
            self.ok("certify", data, "m")

    def test_solvers_agree(self):
        data = self.data()
        for loss in LOSSES:
            for bias in ["none", "free"]:
                reports = [self.json("train", data, "m", "--loss", loss, "--bias", bias, "--solver", solver)
                           for solver in ["sdca", "agm-inf", "agm-1", "bmrm"] + ["fista"] * (loss != "multiclass-hinge")]
                for report in reports:
                    self.assertEqual(report["status"], "optimal", report["solver"])
                self.assertLessEqual(max(r["dual"] for r in reports), min(r["primal"] for r in reports) * (1 + 1e-14))

    def test_l1(self):
        data = self.data()
        for loss, solver in [("multiclass-hinge", "agm-1"), ("softmax", "fista")]:
            report = self.json("train", data, "m", "--loss", loss, "--penalty", "l1", "--lambda", "0.02")
            self.assertEqual((report["status"], report["solver"]), ("optimal", solver))
            self.assertIs(self.json("certify", data, "m")["certified"], True)

    def test_levels_of_smoothing(self):
        data = self.data()
        run = lambda *more, code=0: self.json("train", data, "m", "--loss", "multiclass-hinge", "--tol", "1e-3", "--solver",
                                              "agm-inf", *more, code=code)
        self.assertEqual(run()["status"], "optimal")
        self.assertEqual(run("--curvature", "bound")["status"], "optimal")
        coarse = run("--smoothing", "1", "--max-passes", "2000", code=4)
        self.assertNotEqual(coarse["status"], "optimal")  # what the smoothing costs stays
        self.assertLessEqual(coarse["gap"], 0.5)

    def test_refusals(self):
        data = self.data()
        self.refused(2, "train", data, "--loss", "multiclass-hinge", "--penalty", "l1", "--solver", "sdca", says="strongly convex")
        self.refused(2, "train", data, "--loss", "multiclass-hinge", "--penalty", "none", says="a penalty on every feature")
        self.refused(2, "train", data, "--loss", "multiclass-hinge", "--solver", "fista", says=["a smooth loss", "sdca, newton, agm-1, agm-inf, bmrm, bmrm-ls"])
        self.refused(2, "train", data, "--loss", "softmax", "--smoothing", "0.1", says="only multiclass-hinge")
        self.refused(2, "train", data, "--loss", "softmax", "--solver", "agm-1", "--smoothing", "0.1", says="only multiclass-hinge")
        self.refused(2, "train", data, "--loss", "multiclass-hinge", "--agm-space", "primal", says="--agm-space is not for")
        self.refused(2, "train", data, "--loss", "softmax", "--gamma", "2", says="--gamma does not go with")
        self.write("one", "1 1:1\n1 1:2\n")
        self.refused(3, "train", "one", "--loss", "softmax", says="two classes")

    @unittest.skipUnless(shutil.which("liblinear-train"), "LIBLINEAR is not installed")
    def test_audit_of_liblinear(self):
        data = self.data()
        subprocess.run(["liblinear-train", "-s", "4", "-e", "1e-6", "-q", data, "ll"], cwd=self.dir, check=True)
        verdict = self.json("certify", data, "ll")
        ours = self.json("train", data, "m", "--loss", "multiclass-hinge", "--bias", "none", "--tol", "1e-7")
        self.assertIs(verdict["certified"], True)
        self.assertLessEqual(ours["dual"], verdict["primal"] * (1 + 1e-12))
        self.assertAlmostEqual(ours["primal"] / verdict["primal"], 1.0, delta=1e-5)


if __name__ == "__main__":
    unittest.main()
