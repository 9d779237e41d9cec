"""Files with many rows, with a very long row, and a text that becomes more than the memory that may be used."""

import resource
import subprocess
import unittest

from support import CLI, CliTest


class Large(CliTest):
    def test_two_million_rows(self):
        self.ok("generate", "--rows", 2_000_000, "--features", 8, "--density", "0.15", "--quiet", "rows.svm")
        told = self.json("info", "rows.svm")
        self.assertEqual((told["rows"], told["features"]), (2_000_000, 8))
        converted = self.json("convert", "rows.svm", "rows.fbin")
        self.assertEqual(converted["nonzeros"], told["nonzeros"])
        self.assertTrue(self.json("info", "rows.fbin", "--verify")["verified"])
        fit = self.json("train", "rows.fbin", "m", "--loss", "squared-hinge", "--tol", "1e-2")
        self.assertEqual((fit["status"], fit["rows"]), ("optimal", 2_000_000))

    def test_a_row_of_a_million_entries(self):
        row = " ".join(f"{j}:{j % 7}.5" for j in range(1, 1_000_001))
        self.write("wide.svm", f"-1 2:1\n1 {row}\n-1 1:1\n")
        told = self.json("info", "wide.svm")
        self.assertEqual((told["rows"], told["features"], told["nonzeros"]), (3, 1_000_000, 1_000_002))

    def test_text_that_becomes_more_than_memory(self):
        self.ok("generate", "--rows", 120_000, "--features", 300, "--density", "0.19", "--quiet", "large.svm")
        limit = 64 << 20
        done = subprocess.run([CLI, "convert", "--json", "large.svm", "large.fbin"], cwd=self.dir, capture_output=True,
                              text=True, timeout=120,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater((self.dir / "large.fbin").stat().st_size, limit)
        self.assertEqual(set(self.files()), {"large.svm", "large.fbin"})
        self.assertTrue(self.json("info", "large.fbin", "--verify")["verified"])


if __name__ == "__main__":
    unittest.main()
