"""Constraints in place of a penalty: exactly satisfied, stored, re-checked."""

import json
import unittest
from fractions import Fraction

from support import CliTest

SETS = {
    "l1-ball": lambda w, r: sum(map(abs, w)) <= r,
    "l2-ball": lambda w, r: sum(x * x for x in w) <= r * r,
    "elastic-net-ball": lambda w, r: sum(abs(x) / 2 + x * x / 4 for x in w) <= r,  # rho = 1/2
    "simplex": lambda w, r: sum(w) == r and min(w) >= 0,
}


class Constraints(CliTest):
    def weights(self, model):
        self.ok("export", model, "w.json", "--format", "json")
        found = json.loads((self.dir / "w.json").read_text())["weights"]
        values = found["values"] if isinstance(found, dict) else found
        return [Fraction(x) for x in values]  # exact

    def test_every_set_with_every_kind_of_loss(self):
        data = self.small()
        for name, inside in SETS.items():
            for loss in ["hinge", "logistic", "absolute"]:
                for bias in ["none", "free"]:
                    with self.subTest(f"{name} {loss} {bias}"):
                        report = self.json("train", data, "m", "--penalty", name, "--radius", "0.3", "--loss", loss,
                                           "--bias", bias, "--tol", "1e-5")
                        self.assertEqual((report["status"], report["penalty"], report["radius"]),
                                         ("optimal", name, 0.3))
                        self.assertEqual(report["lambda"], 0)
                        self.assertTrue(inside(self.weights("m"), Fraction(0.3)))
                        self.assertIs(self.json("certify", data, "m")["certified"], True)
                        self.ok("predict", data, "m", "labels")

    def test_text_and_info_say_what_is_solved(self):
        text = self.ok("train", self.small(), "m", "--penalty", "l1-ball", "--radius", "0.3")
        self.assertIn("constraint ||w||_1 <= r, radius = 0.3", text)
        self.assertIn("l1-ball", self.ok("info", "m"))

    def test_weights_of_other_tools_have_to_be_inside(self):
        data = self.small()
        flags = ["--model-format", "weights", "--loss", "logistic", "--penalty", "l1-ball", "--bias", "none"]
        self.write("w", "0.25\n0\n0\n-0.25\n")
        report = self.json("certify", data, "w", *flags, "--radius", "0.6")
        self.assertGreaterEqual(report["gap"], 0)
        self.refused(3, "certify", data, "w", *flags, "--radius", "0.4", says=["constraint"])

    def test_one_versus_rest(self):
        self.ok("generate", "d", "--task", "multiclass", "--classes", "3", "--rows", "90", "--features", "6")
        report = self.json("train", "d", "m", "--loss", "logistic", "--penalty", "l2-ball", "--radius", "0.5")
        self.assertEqual(len(report["per_class"]), 3)
        self.assertIs(self.json("certify", "d", "m")["certified"], True)


if __name__ == "__main__":
    unittest.main()
