"""Help, versions, and the table of what is supported."""

import json
import unittest

from support import SOURCE, CliTest

COMMANDS = ["train", "predict", "certify", "export", "convert", "generate", "info", "solvers"]
LOSSES = ["multiclass-hinge", "smooth-multiclass-hinge", "soft-max-of-hinge", "softmax", "hinge", "squared-hinge",
          "smooth-hinge", "logistic", "squared", "absolute", "huber",
          "epsilon-insensitive", "squared-epsilon-insensitive", "quantile"]
FITTING = ("--loss --penalty --lambda --C --bias --solver --tol --abs-tol --max-passes --time-limit --threads "
           "--seed --warm-start --weights --class-weight --penalty-factors --precision --trace --json --quiet "
           "--verbose").split()


class Help(CliTest):
    def test_lists_every_command(self):
        text = self.ok("--help")
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} ")
        self.assertIn("lambda Omega(w)", text)

    def test_every_command_has_help_and_version(self):
        for command in COMMANDS:
            self.assertIn(f"fenchel {command}", self.ok(command, "--help"))
            self.assertRegex(self.ok(command, "--version"), r"^fenchel \d+\.\d+\.\d+\n$")
        self.assertRegex(self.ok("--version"), r"^fenchel \d+\.\d+\.\d+\n$")

    def test_train_explains_options_with_formulas(self):
        text = self.ok("train", "--help")
        for option in FITTING:
            self.assertRegex(text, rf"(?m)^  {option}\b", option)
        for loss in LOSSES:
            self.assertRegex(text, rf"(?m)^  {loss} +\S", loss)
        for piece in ["max(0, 1 - m)^2", "log(1 + exp(-m))", "||w||_1", "lambda Omega(w)", "--gamma 1"]:
            self.assertIn(piece, text)

    def test_defaults_that_depend(self):
        flat = lambda command: " ".join(self.ok(command, "--help").split())
        self.assertIn("(default free)", flat("train"))
        self.assertIn("(default free; for a LIBLINEAR file what it says itself", flat("certify"))
        self.assertIn("(-1 is the last)", flat("train"))
        self.assertIn("(default: the column called label, target, y or class, else the first)", flat("train"))

    def test_data_options_are_everywhere(self):
        for command in ["train", "predict", "certify", "info", "convert"]:
            text = self.ok(command, "--help")
            for option in "--format --zero-based --label --labels --drop --positive --precision".split():
                self.assertRegex(text, rf"(?m)^  {option}\b", (command, option))


class Solvers(CliTest):
    def test_table_is_the_golden_one(self):
        golden = SOURCE / "tests" / "golden" / "solvers.txt"
        self.assertEqual(self.ok("solvers"), golden.read_text())

    def test_json_says_the_same(self):
        table = {entry["name"]: entry for entry in json.loads(self.ok("solvers", "--json"))["solvers"]}
        self.assertEqual(
            set(table),
            {"sdca", "accelerated-sdca", "fista", "newton", "pdhg", "interior-point", "agm-inf", "agm-1", "pragam", "bmrm",
             "bmrm-ls", "pegasos"},
        )
        supports = {name: {s["loss"]: s["penalties"] for s in entry["supports"]} for name, entry in table.items()}
        self.assertEqual(set(supports["sdca"]), set(LOSSES))
        of_one_score = {loss: supports["sdca"][loss] for loss in supports["accelerated-sdca"]}
        self.assertEqual(of_one_score, supports["accelerated-sdca"])
        self.assertEqual(supports["sdca"]["hinge"], ["l2", "l1", "elastic-net"])
        self.assertNotIn("hinge", supports["fista"])
        self.assertEqual(supports["newton"], dict.fromkeys([*of_one_score, "multiclass-hinge", "smooth-multiclass-hinge", "soft-max-of-hinge", "softmax"], ["l2"]))
        self.assertEqual(supports["bmrm"], dict.fromkeys(LOSSES, ["l2", "elastic-net"]))
        self.assertEqual(supports["bmrm-ls"], supports["bmrm"])
        self.assertEqual(supports["pegasos"]["hinge"], ["l2"])
        self.assertNotIn("squared", supports["pegasos"])
        constraints = ["l1-ball", "l2-ball", "elastic-net-ball", "simplex"]
        self.assertEqual(supports["fista"]["logistic"], ["l2", "l1", "elastic-net", "none", *constraints])
        self.assertEqual(supports["pdhg"], dict.fromkeys(of_one_score, ["l2", "l1", "elastic-net", "none", *constraints]))
        self.assertEqual(supports["interior-point"]["hinge"], ["l1", "none"])
        self.assertEqual(table["sdca"]["bias"], ["none", "free", "regularized"])


if __name__ == "__main__":
    unittest.main()
