"""kddcup99-10pct, two thirds of whose rows are copies: with equal rows merged and with all of them, the optimum is the same."""

import unittest

import problems

problems.require_environment()
DATA = "kddcup99-10pct"


class EqualRows(unittest.TestCase):
    def test_the_optimum_is_the_same(self):
        if problems.data_file(DATA) is None:
            self.skipTest(f"FENCHEL_DATA holds no {DATA}.svm or {DATA}.svm.zst")
        problems.DATASETS.setdefault(DATA, problems.CLASSIFICATION)
        for loss, bias in [("hinge", "free"), ("squared-hinge", "none"), ("logistic", "free")]:
            problem = problems.Problem(DATA, loss, "l2", bias, 1e-4)
            answers = []
            for rows in ("auto", "separate"):
                done, model = problems.train(problem, 1e-6, "--solver", "newton", "--equal-rows", rows)
                self.assertEqual(done.code, 0, f"{problem} {rows}: {done.stderr}")
                self.assertIs(problems.certify(problem, model).json["certified"], True)
                answers.append(done.json)
                print(f"  {problem} {rows}: {done.json['passes']:.0f} passes, {done.json['seconds']['solve']:.2f} s", flush=True)
            merged, separate = answers
            self.assertEqual(merged["distinct_rows"], 145415)
            self.assertNotIn("distinct_rows", separate)
            self.assertLessEqual(abs(merged["primal"] - separate["primal"]), merged["gap"] + separate["gap"])
            self.assertLess(merged["passes"], separate["passes"])


if __name__ == "__main__":
    unittest.main()
