"""rcv1-binary under hinge and a weak penalty: an average of late weights certifies the optimum in far fewer passes."""

import unittest

import problems

problems.require_environment()
DATA = "rcv1-binary"


class Averages(unittest.TestCase):
    def test_far_fewer_passes(self):
        if problems.data_file(DATA) is None:
            self.skipTest(f"FENCHEL_DATA holds no {DATA}.svm or {DATA}.svm.zst")
        problem = problems.Problem(DATA, "hinge", "l2", "none", 5e-6)
        answers = {}
        for iterate in ("auto", "last"):
            done, model = problems.train(problem, 1e-3, "--solver", "sdca", "--momentum", "off", "--iterate", iterate)
            self.assertEqual(done.code, 0, f"{iterate}: {done.stderr}")
            self.assertIs(problems.certify(problem, model).json["certified"], True)
            answers[iterate] = done.json
            print(f"  {problem} {iterate}: {done.json['passes']:.0f} passes", flush=True)
        automatic, last = answers["auto"], answers["last"]
        self.assertLessEqual(abs(automatic["primal"] - last["primal"]), automatic["gap"] + last["gap"])
        self.assertLess(automatic["passes"], 0.7 * last["passes"])


if __name__ == "__main__":
    unittest.main()
