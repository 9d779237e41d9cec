"""--standardize from the command line: whatever form the data are in, and whatever was there before."""

import random
import unittest

from support import CliTest

ROWS = 60


def number_lines(numbers):
    return "".join(f"{number!r}\n" for number in numbers)


class Standardize(CliTest):
    def data(self, classes=(-1, 1)):
        """Columns of unlike spread; the third is 5.5 but for one row, the fourth is rare."""
        draw = random.Random(7)
        lines = []
        for i in range(ROWS):
            x = [draw.gauss(100, 3), draw.gauss(0, 0.01), 0 if i == 4 else 5.5, draw.choice([0, 0, 0, 1])]
            label = classes[min(int((x[0] - 96) / 8 * len(classes)), len(classes) - 1) if x[0] > 96 else 0]
            lines.append(f"{label} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(x) if v != 0) + "\n")
        return self.write("d.svm", "".join(lines))

    def certified_everywhere(self, model="m"):
        """By rows, by rows with their columns, densely and as coordinates."""
        self.assertTrue(self.json("certify", "d.svm", model)["certified"])
        for options, path, labels in ((["--columns"], "d.fbin", []), ([], "d.npy", ["--labels", "d.labels.npy"]),
                                      ([], "d.mtx", ["--labels", "d.labels.txt"])):
            self.ok("convert", *options, "d.svm", path)
            self.assertTrue(self.json("certify", *labels, path, model)["certified"], path)

    def test_certified_in_every_form(self):
        self.data()
        weights = {"equal": [1] * ROWS, "odd": [0.1] * ROWS, "unequal": [0.3 + i % 7 for i in range(ROWS)],
                   "zero": [float(i % 3) for i in range(ROWS)], "tiny": [1e-100 if i == 4 else 1 for i in range(ROWS)],
                   "light": [1e-13 if i == 4 else 1 for i in range(ROWS)]}
        self.write("factors", "1\n0\n1\n2\n")
        for name, numbers in weights.items():
            self.write("weights", number_lines(numbers))
            for options in (["--loss", "squared-hinge"], ["--loss", "logistic", "--penalty", "l1", "--lambda", "0.01"],
                            ["--loss", "logistic", "--penalty-factors", "factors"]):
                with self.subTest(name, options=options):
                    done = self.run_cli("train", "d.svm", "m", "--standardize", "--weights", "weights", *options,
                                        "--max-passes", "300", "--json")
                    self.assertIn(done.returncode, (0, 4), done.stderr)
                    self.certified_everywhere()

    def test_one_against_the_rest(self):
        self.data(classes=(1, 2, 3))
        report = self.json("train", "d.svm", "m", "--standardize", "--loss", "logistic")
        self.assertEqual(len(report["per_class"]), 3)
        self.certified_everywhere()

    def test_single_precision(self):
        self.data()
        report = self.json("train", "d.svm", "m", "--standardize", "--loss", "logistic", "--precision", "f32")
        self.assertEqual(report["precision"], "f32")
        self.certified_everywhere()

    def test_warm_start_from_other_scales(self):
        self.data()
        self.write("weights", number_lines(1.0 + i % 5 * (i > 30) for i in range(ROWS)))
        for solver in ("sdca", "fista"):
            options = ["--loss", "logistic", "--solver", solver, "--tol", "1e-6"]
            self.run_cli("train", "d.svm", "plain", *options, "--max-passes", "100")  # as far as that goes
            self.json("train", "d.svm", "other", *options, "--standardize", "--weights", "weights")
            cold = self.json("train", "d.svm", "m", *options, "--standardize")
            for start in ("plain", "other"):
                warm = self.json("train", "d.svm", "w", *options, "--standardize", "--warm-start", start)
                self.assertLessEqual(abs(warm["primal"] - cold["primal"]), warm["gap"] + cold["gap"])
                self.certified_everywhere("w")

    def test_deviations_whose_squares_are_no_doubles(self):
        self.write("d.svm", "1 1:1 2:1e-155\n-1 1:2\n1 1:4\n")
        self.refused(3, "train", "d.svm", "m", "--standardize", says=["feature 2", "1e100"])


if __name__ == "__main__":
    unittest.main()
