"""Bad input: the right exit code, one clear sentence, no partial file, nothing lost."""

import os
import unittest

from support import SMALL, CliTest

# what is wrong: content of the data file, and words the sentence must have
DATA = {
    "empty file": ("", ["bad.svm"]),
    "blank lines only": ("\n\n# nothing\n", ["bad.svm"]),
    "one class": ("1 1:1\n1 1:2\n", ["two classes"]),
    "missing value": ("1 1:1\n-1 1:\n", ["bad.svm:2:6:"]),
    "no colon": ("1 1:1\n-1 2\n", ["bad.svm:2:4:"]),
    "nan": ("1 1:nan\n-1 1:1\n", ["bad.svm:1:5:", "nan"]),
    "infinity": ("1 1:inf\n-1 1:1\n", ["bad.svm:1:5:"]),
    "value overflows": ("1 1:1e999\n-1 1:1\n", ["bad.svm:1:5:", "overflow"]),
    "descending": ("1 1:1\n-1 2:1 1:1\n", ["bad.svm:2:8:", "ascend"]),
    "repeated": ("1 1:1\n-1 2:1 2:1\n", ["bad.svm:2:8:", "twice"]),
    "index overflows": ("1 1:1\n-1 99999999999999999999:1\n", ["bad.svm:2:4:", "large"]),
    "index overflows 32 bits": ("1 1:1\n-1 4294967297:1\n", ["bad.svm:2:4:", "large"]),
    "no label": ("1:1 2:1\n", ["bad.svm:1:1:", "label"]),
    "multi-label": ("1,2 1:1\n", ["bad.svm:1:1:", "--positive"]),
    "fractional class": ("1.5 1:1\n-1 1:2\n", ["1.5", "squared"]),
    "binary garbage": (bytes(range(256)) * 8, ["bad.svm"]),
    "text": ("this is not data\n", ["bad.svm:1:1:"]),
}

USAGE = {
    "unknown loss": (["--loss", "hinges"], ["hinges", "hinge"]),
    "unknown penalty": (["--penalty", "l3"], ["l2", "elastic-net"]),
    "later penalty": (["--penalty", "group-lasso"], ["not part of this version"]),
    "unknown solver": (["--solver", "sgd"], ["sdca", "fista"]),
    "later solver": (["--solver", "frank-wolfe"], ["not part of this version"]),
    "unable solver": (["--solver", "fista"], ["smooth", "sdca"]),
    "nobody can": (["--penalty", "none", "--loss", "multiclass-hinge"], ["penalty on every feature"]),
    "lambda with a constraint": (["--penalty", "l1-ball", "--lambda", "1"], ["--lambda", "--radius"]),
    "C with a constraint": (["--penalty", "simplex", "--C", "1", "--radius", "2"], ["--C", "--radius"]),
    "standardized constraint": (["--penalty", "l2-ball", "--standardize"], ["--standardize"]),
    "constraint on all classes": (["--penalty", "l2-ball", "--loss", "softmax"], ["all classes"]),
    "radius of zero": (["--penalty", "l1-ball", "--radius", "0"], ["--radius"]),
    "radius without a constraint": (["--radius", "1"], ["--radius", "l1-ball"]),
    "solver without constraints": (["--penalty", "l1-ball", "--solver", "sdca"], ["constraint", "pdhg"]),
    "row order for another solver": (["--loss", "logistic", "--solver", "fista", "--row-order", "shuffled"],
                                     ["--row-order", "sdca, accelerated-sdca", "not for fista"]),
    "unknown row order": (["--row-order", "sorted"], ["auto", "shuffled", "runs", "windows"]),
    "negative lambda": (["--lambda", "-1"], ["--lambda", ">= 0"]),
    "lambda nan": (["--lambda", "nan"], ["--lambda"]),
    "C zero": (["--C", "0"], ["--C", "> 0"]),
    "lambda and C": (["--lambda", "1", "--C", "1"], ["--lambda", "--C"]),
    "l1 and lambda": (["--l1", "1", "--lambda", "1"], ["--l1", "--lambda"]),
    "l2 and penalty": (["--l2", "1", "--penalty", "l2"], ["--l2", "--penalty"]),
    "gamma without its loss": (["--gamma", "1"], ["--gamma", "smooth-hinge"]),
    "gamma out of range": (["--loss", "smooth-hinge", "--gamma", "0"], ["--gamma", "> 0"]),
    "tau out of range": (["--loss", "quantile", "--tau", "1"], ["--tau"]),
    "l1-ratio out of range": (["--penalty", "elastic-net", "--l1-ratio", "1.5"], ["--l1-ratio"]),
    "l1-ratio without its penalty": (["--l1-ratio", "0.5"], ["--l1-ratio", "elastic-net"]),
    "unknown bias": (["--bias", "yes"], ["free", "regularized"]),
    "bias value without bias": (["--bias-value", "2"], ["regularized"]),
    "negative tolerance": (["--tol", "-1"], ["--tol"]),
    "no passes": (["--max-passes", "0"], ["--max-passes"]),
    "no time": (["--time-limit", "0"], ["--time-limit"]),
    "no threads": (["--threads", "0"], ["--threads"]),
    "seed is no number": (["--seed", "x"], ["--seed"]),
    "unknown precision": (["--precision", "f16"], ["f64", "f32"]),
    "unknown format": (["--format", "arff"], ["svmlight"]),
    "quiet and verbose": (["--quiet", "--verbose"], ["--quiet", "--verbose"]),
    "class weight of no class": (["--class-weight", "7:1"], ["class 7"]),
    "class weight malformed": (["--class-weight", "1"], ["LABEL:WEIGHT"]),
    "class weight for regression": (["--loss", "squared", "--class-weight", "balanced"], ["--class-weight"]),
    "unknown option": (["--lamda", "1"], ["--lamda", "did you mean --lambda"]),
    "later option": (["--groups", "g"], ["not part of this version"]),
    "option without value": (["--tol"], ["--tol"]),
    "option twice": (["--tol", "1", "--tol", "2"], ["--tol"]),
    "an argument too many": (["x", "y"], ["y"]),
}


class BadData(CliTest):
    def test_train_and_info(self):
        self.ok("train", self.small(), "model")
        for what, (content, says) in DATA.items():
            with self.subTest(what):
                self.write("bad.svm", content)
                before = self.files()
                self.refused(3, "train", "bad.svm", "model", "--json", says=says)
                self.refused(3, "train", "bad.svm", "new", says=says)
                self.assertEqual(self.files(), before)

    def test_predict_and_certify(self):
        self.ok("train", self.small(), "model")
        self.write("out", "kept\n")
        for what in ["empty file", "nan", "repeated", "binary garbage"]:
            with self.subTest(what):
                self.write("bad.svm", DATA[what][0])
                self.refused(3, "predict", "bad.svm", "model", "out", says=DATA[what][1])
                self.refused(3, "certify", "bad.svm", "model", says=DATA[what][1])
                self.assertEqual((self.dir / "out").read_text(), "kept\n")

    def test_index_zero_for_a_one_based_model(self):
        self.ok("train", self.small(), "model")
        self.write("zero.svm", "1 0:1 2:1\n")
        for command in ["predict", "certify"]:
            self.refused(3, command, "zero.svm", "model", says=["zero.svm:1:3:", "index 0"])

    def test_unreadable(self):
        self.refused(3, "train", "absent.svm", "m", says="absent.svm")
        self.refused(3, "train", self.dir, "m", says="directory")
        self.refused(3, "predict", self.small(), "absent", says="absent")
        self.refused(3, "info", "absent", says="absent")
        self.refused(3, "train", "small.svm", "m", "--weights", "absent", says="absent")

    def test_weights(self):
        self.small()
        for content in ["1\n2\n", "1\n" * 23 + "-1\n", "1\n" * 23 + "x\n", "0\n" * 24, ""]:
            self.write("weights", content)
            self.refused(3, "train", "small.svm", "m", "--weights", "weights")
        self.assertFalse((self.dir / "m").exists())

    def test_overflow_is_never_certified(self):
        self.write("huge.svm", "1 1:1e300 2:1e300\n-1 1:-1e300 2:3e300\n")
        done = self.run_cli("train", "huge.svm", "m", "--loss", "squared", "--json")
        self.assertIn(done.returncode, (0, 1, 4), done.stderr)
        if done.returncode == 1:
            self.assertEqual(done.stdout, "")
            self.assertFalse((self.dir / "m").exists())


class BadModel(CliTest):
    def test_corrupt_and_truncated(self):
        self.ok("train", self.small(), "model")
        good = (self.dir / "model").read_bytes()
        middle = len(good) // 2
        bad = {
            "empty": b"",
            "truncated": good[:-9],
            "half": good[:middle],
            "a byte changed": good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1:],
            "the last byte changed": good[:-1] + bytes([good[-1] ^ 1]),
            "something behind": good + b"x",
            "newer version": good[:8] + bytes([good[8] + 1]) + good[9:],
            "garbage": bytes(range(256)),
            "data": SMALL.encode(),
        }
        for what, content in bad.items():
            with self.subTest(what):
                self.write("broken", content)
                self.refused(3, "predict", "small.svm", "broken", "out", says="broken")
                self.refused(3, "certify", "small.svm", "broken", says="broken")
                self.refused(3, "export", "broken", "out", "--format", "csv", says="broken")
                self.assertFalse((self.dir / "out").exists())


class BadUsage(CliTest):
    def test_train(self):
        self.small()
        before = self.files()
        for what, (options, says) in USAGE.items():
            with self.subTest(what):
                self.refused(2, "train", "small.svm", "model", *options, says=says)
                self.assertEqual(self.files(), before)

    def test_commands(self):
        self.refused(2, says="command")
        self.refused(2, "trian", "x", says=["trian", "train"])
        for later in ["path", "cv", "bench"]:
            self.refused(2, later, "x", says=["not part of this version", "train"])
        self.refused(2, "train", says="DATA")
        self.ok("train", self.small(), "model")
        self.refused(2, "predict", "small.svm", "model", "--json", says="OUT")
        self.refused(2, "predict", "small.svm", "model", "--scores", "--probabilities", says="--scores")
        self.refused(2, "predict", "small.svm", "model", "out", "--probabilities", says="logistic")
        self.refused(2, "predict", "small.svm", "model", "--model-format", "svm", says="liblinear")
        self.refused(2, "certify", "small.svm", "model", "--loss", "hinge", says="--loss")
        self.refused(2, "export", "model", "out", says="--format")
        self.refused(2, "export", "model", "out", "--format", "xml", says="liblinear")
        self.refused(2, "generate", "out", "--task", "ranking", says="regression")
        self.refused(2, "generate", "out", "--density", "2", says="--density")
        self.assertFalse((self.dir / "out").exists())


class CannotWrite(CliTest):
    def test_missing_directory(self):
        self.refused(1, "train", self.small(), "no/model", says="no/model")
        self.refused(1, "generate", "no/data", says="no/data")
        self.ok("train", "small.svm", "model")
        self.refused(1, "predict", "small.svm", "model", "no/out", says="no/out")
        self.refused(1, "export", "model", "no/out", "--format", "json", says="no/out")

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_full_disk(self):
        self.refused(1, "train", self.small(), "/dev/full", says="/dev/full")
        self.refused(1, "generate", "/dev/full", says="/dev/full")
        self.ok("train", "small.svm", "model")
        self.refused(1, "predict", "small.svm", "model", "/dev/full", says="/dev/full")
        self.refused(1, "export", "model", "/dev/full", "--format", "json", says="/dev/full")
        self.assertEqual(set(self.files()), {"small.svm", "model"})

    def test_directory_in_the_way(self):
        (self.dir / "model").mkdir()
        self.refused(1, "train", self.small(), "model", says="directory")


if __name__ == "__main__":
    unittest.main()
