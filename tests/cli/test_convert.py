"""fenchel convert, and data options of the other commands: formats by extension and by name, labels in files of their
own, what is refused, and that nothing is overwritten."""

import gzip
import struct
import unittest

from support import SMALL, CliTest

FORMATS = ["svm", "csv", "tsv", "npy", "mtx", "fbin"]
ROWS = "1 1:0.1 3:-2\n-1\n2.5 2:1e-30\n"
MTX = "%%MatrixMarket matrix coordinate real general\n"


class ConvertTest(CliTest):
    def labels_of(self, name):
        """The option that gives a file its labels back."""
        stem, extension = name.rsplit(".", 1)
        return {"npy": ["--labels", f"{stem}.labels.npy"], "mtx": ["--labels", f"{stem}.labels.txt"]}.get(extension, [])

    def test_there_and_back(self):
        self.small()
        self.ok("convert", "small.svm", "normal.svm", "--quiet")
        normal = (self.dir / "normal.svm").read_bytes()
        for first in FORMATS:
            self.ok("convert", "small.svm", f"a.{first}", "--quiet")
            for second in FORMATS:
                self.ok("convert", f"a.{first}", f"b.{second}", "--quiet", *self.labels_of(f"a.{first}"))
                self.ok("convert", f"b.{second}", "c.svm", "--quiet", *self.labels_of(f"b.{second}"))
                self.assertEqual((self.dir / "c.svm").read_bytes(), normal, (first, second))

    def test_models_do_not_depend_on_the_format(self):
        self.small()
        self.ok("train", "small.svm", "m", "--quiet", "--C", "0.5")
        for extension in FORMATS:
            name = f"a.{extension}"
            self.ok("convert", "small.svm", name, "--quiet")
            self.ok("certify", name, "m", "--quiet", *self.labels_of(name))

    def test_compressed(self):
        self.write("a.svm", ROWS)
        for extension, magic in {"gz": b"\x1f\x8b", "zst": b"\x28\xb5\x2f\xfd", "bz2": b"BZh", "xz": b"\xfd7zXZ"}.items():
            report = self.json("convert", "a.svm", f"b.svm.{extension}")
            content = (self.dir / f"b.svm.{extension}").read_bytes()
            self.assertTrue(content.startswith(magic))
            self.assertEqual(report["bytes"], len(content))
            self.assertEqual(self.ok("convert", f"b.svm.{extension}", "-", "--to", "svmlight", "--quiet"), ROWS)
        self.ok("convert", "a.svm", "plain", "--to", "svmlight", "--compress", "gzip", "--quiet")
        self.assertEqual(gzip.decompress((self.dir / "plain").read_bytes()).decode(), ROWS)

    def test_report(self):
        self.write("a.svm", ROWS)
        report = self.json("convert", "a.svm", "b.mtx")
        self.assertGreaterEqual(report.pop("seconds"), 0)
        self.assertEqual(report, {"rows": 3, "features": 3, "nonzeros": 3, "bytes": (self.dir / "b.mtx").stat().st_size,
                                  "in": "a.svm", "out": "b.mtx", "format": "mtx", "labels": "b.labels.txt"})
        done = self.run_cli("convert", "a.svm", "b.csv")
        self.assertEqual(done.stdout, "")
        self.assertIn("b.csv: csv, 3 rows, 3 features", done.stderr)
        self.assertEqual(self.run_cli("convert", "a.svm", "b.csv", "--quiet").stderr, "")

    def test_what_files_hold(self):
        self.write("a.svm", ROWS)
        self.ok("convert", "a.svm", "b.mtx", "--quiet")
        self.ok("convert", "a.svm", "b.npy", "--quiet")
        files = self.files()
        self.assertEqual(files["b.mtx"].decode(), MTX + "3 3 3\n1 1 0.1\n1 3 -2\n3 2 1e-30\n")
        self.assertEqual(files["b.labels.txt"], b"1\n-1\n2.5\n")
        self.assertEqual(files["b.npy"][-72:], struct.pack("<9d", 0.1, 0, -2, 0, 0, 0, 0, 1e-30, 0))
        self.assertEqual(files["b.labels.npy"][-24:], struct.pack("<3d", 1, -1, 2.5))
        self.ok("convert", "a.svm", "c.npy", "--precision", "f32", "--quiet", "--labels-out", "y.txt")
        self.assertEqual(self.files()["c.npy"][-36:], struct.pack("<9f", 0.1, 0, -2, 0, 0, 0, 0, 1e-30, 0))
        self.assertEqual(self.files()["y.txt"], b"1\n-1\n2.5\n")
        self.assertNotIn("c.labels.npy", self.files())

    def test_standard_input_and_output(self):
        self.assertEqual(self.ok("convert", "-", "-", "--to", "svmlight", "--quiet", stdin=ROWS), ROWS)
        out = self.ok("convert", "-", "-", "--to", "mtx", "--labels-out", "y", "--quiet", stdin=ROWS)
        self.assertTrue(out.startswith(MTX))
        self.assertEqual(self.files(), {"y": b"1\n-1\n2.5\n"})
        for args, words in [(["-"], "--to"), (["-", "--to", "mtx"], "--labels-out"),
                            (["-", "--to", "csv", "--json"], "--json")]:
            self.refused(2, "convert", "-", *args, says=words, stdin=ROWS)

    def test_threads_change_nothing(self):
        self.ok("generate", "a.svm", "--rows", "5000", "--features", "300", "--quiet")
        for extension in ["svm", "csv", "npy", "mtx", "fbin"]:
            written = []
            for threads in [1, 2]:
                self.ok("convert", "a.svm", f"b.{extension}", "--threads", threads, "--quiet")
                written.append((self.dir / f"b.{extension}").read_bytes())
            self.assertEqual(written[0], written[1], extension)

    def test_generate_writes_every_format(self):
        self.ok("generate", "a.svm", "--quiet")
        for extension in FORMATS[1:] + ["svm.gz"]:
            name = f"b.{extension}"
            self.ok("generate", name, "--quiet")
            self.ok("convert", name, "c.svm", "--quiet", *self.labels_of(name))
            self.assertEqual((self.dir / "c.svm").read_bytes(), (self.dir / "a.svm").read_bytes(), extension)
        self.assertEqual(self.ok("generate", "-", "--quiet"), (self.dir / "a.svm").read_text())

    def test_wrong_command_lines(self):
        self.write("a.svm", ROWS)
        before = self.files()
        for args, words in [
            (["b.xyz"], ["--to", ".fbin"]),
            (["b"], ["--to"]),
            (["b.csv", "--to", "arff"], ["arff", "svmlight"]),
            (["b.csv", "--compress", "zip"], ["zip", "zstd"]),
            (["b.csv", "--columns"], ["--columns", "fenchel-binary", "csv"]),
            (["b.csv", "--labels-out", "y"], ["--labels-out", "csv"]),
            (["b.mtx", "--labels-out", "-"], ["--labels-out"]),
            (["b.csv", "--format", "arff"], ["--format", "arff"]),
            (["b.csv", "--label", "1"], ["--label", "svmlight"]),
            (["b.csv", "--drop", "1"], ["--drop", "svmlight"]),
            (["b.csv", "--drop", "1,,2"], ["--drop", "A,B"]),
            (["b.csv", "--positive", "x"], ["--positive"]),
            (["b.csv", "--precision", "f16"], ["--precision"]),
            (["a.svm"], ["a.svm", "overwritten"]),
            (["./a.svm"], ["overwritten"]),
            (["b.mtx", "--labels-out", "a.svm"], ["a.svm", "overwritten"]),
            (["b.mtx", "--labels-out", "b.mtx"], ["b.mtx", "overwritten"]),
            (["b.labels.txt", "--to", "mtx", "--labels-out", "./a.svm"], ["overwritten"]),
        ]:
            self.refused(2, "convert", "a.svm", *args, says=words)
        self.refused(2, "convert", "a.svm", says="OUT")
        self.assertEqual(self.files(), before)

    def test_what_a_format_cannot_hold(self):
        self.write("q.svm", "1 qid:3 1:1\n")
        for extension in ["csv", "tsv", "npy", "mtx"]:
            self.refused(2, "convert", "q.svm", f"b.{extension}", says="qid")
        self.write("a.mtx", MTX + "1 1 1\n1 1 2\n")
        self.refused(2, "convert", "a.mtx", "b.svm", says=["svmlight", "--labels"])
        self.write("wide.svm", "1 2000000000:1\n")
        for extension in ["csv", "npy"]:
            self.refused(2, "convert", "wide.svm", f"b.{extension}", says=["mtx", ".fbin"])
        self.assertEqual(set(self.files()), {"q.svm", "a.mtx", "wide.svm"})
        self.ok("convert", "q.svm", "b.fbin", "--quiet")
        self.assertEqual(self.ok("convert", "b.fbin", "-", "--to", "svmlight", "--quiet"), "1 qid:3 1:1\n")

    def test_bad_input_leaves_nothing(self):
        self.write("a.svm", "1 1:1\n1 2:x\n")
        self.write("old.csv", "kept")
        self.refused(3, "convert", "a.svm", "old.csv", says="a.svm:2:5: ")
        self.refused(3, "convert", "none.svm", "b.csv", says="none.svm")
        self.refused(1, "convert", self.small(), "no/b.csv", says="no/b.csv")
        self.refused(1, "convert", "small.svm", "/dev/full", "--to", "svmlight", says="/dev/full")
        self.assertEqual(self.files()["old.csv"], b"kept")
        self.assertEqual(set(self.files()), {"a.svm", "old.csv", "small.svm"})


class DataOptionsTest(CliTest):
    def test_models_are_no_data(self):
        self.ok("train", self.small(), "m", "--quiet")
        self.refused(3, "train", "m", says=["m: is a model of fenchel"])
        self.refused(3, "convert", "m", "a.csv", says=["m: is a model of fenchel"])

    def test_labels_are_needed_to_learn(self):
        self.write("a.mtx", MTX + "2 1 1\n1 1 2\n")
        self.ok("train", self.small(), "m", "--quiet")
        for command in [["train", "a.mtx"], ["certify", "a.mtx", "m"]]:
            self.refused(3, *command, says=["a.mtx: has no labels", "--labels", "--label"])
        self.write("y", "1\n-1\n")
        self.ok("train", "a.mtx", "n", "--labels", "y", "--quiet")
        self.refused(3, "train", "a.mtx", "n", "--labels", self.write("z", "1\n"), says=["1 labels", "2 rows"])
        self.refused(2, "train", "a.mtx", "y", "--labels", "y", says="overwritten")

    def test_prediction_without_labels(self):
        self.ok("train", self.small(), "m", "--quiet")
        self.ok("convert", "small.svm", "a.npy", "--quiet")
        expected = self.ok("predict", "small.svm", "m")
        done = self.run_cli("predict", "a.npy", "m")
        self.assertEqual(done.stdout, expected)
        self.assertIn("24 rows, without labels", done.stderr)
        report = self.json("predict", "a.npy", "m", "out")
        self.assertEqual(report["rows"], 24)
        self.assertNotIn("accuracy", report)
        with_labels = self.json("predict", "a.npy", "m", "out", "--labels", "a.labels.npy")
        self.assertEqual(with_labels["accuracy"], self.json("predict", "small.svm", "m", "out")["accuracy"])
        self.assertEqual(with_labels["certified"], report["certified"])

    def test_info_without_labels(self):
        self.write("a.mtx", MTX + "2 1 1\n1 1 2\n")
        self.assertEqual(self.json("info", "a.mtx")["rows"], 2)

    def test_positive(self):
        self.write("a.svm", "3 1:1\n2 1:2\n3 1:5\n")
        out = self.ok("convert", "a.svm", "-", "--to", "svmlight", "--positive", "3", "--quiet")
        self.assertEqual(out, "1 1:1\n-1 1:2\n1 1:5\n")
        self.write("m.svm", "3,7 1:1\n2 1:2\n7 1:5\n")
        self.refused(3, "convert", "m.svm", "-", "--to", "svmlight", says=["m.svm:1:1: ", "--positive"])
        out = self.ok("convert", "m.svm", "-", "--to", "svmlight", "--positive", "7", "--quiet")
        self.assertEqual(out, "1 1:1\n-1 1:2\n1 1:5\n")

    def test_tables(self):
        self.write("a.csv", "id,y,x\n7,1,0.5\n8,-1,2\n")
        out = self.ok("convert", "a.csv", "-", "--to", "svmlight", "--label", "y", "--drop", "id", "--quiet")
        self.assertEqual(out, "1 1:0.5\n-1 1:2\n")
        out = self.ok("convert", "a.csv", "-", "--to", "svmlight", "--label", "2", "--drop", "1", "--quiet")
        self.assertEqual(out, "1 1:0.5\n-1 1:2\n")

    def test_guesses_are_shown(self):
        self.write("a.csv", "3,0.5\n-1,2\n")
        done = self.run_cli("convert", "a.csv", "b.svm")
        self.assertRegex(done.stderr, r"\Afenchel: note: [^\n]*--label[^\n]*\n")
        self.assertEqual(self.run_cli("convert", "a.csv", "b.svm", "--quiet").stderr, "")
        self.assertRegex(self.run_cli("info", "a.csv").stderr, r"\Afenchel: note: ")
        self.assertRegex(self.run_cli("train", "a.csv", "m", "--json").stderr, r"\Afenchel: note: ")

    def test_zero_based_belongs_to_svmlight(self):
        self.write("a.mtx", MTX + "1 1 1\n1 1 2\n")
        self.refused(2, "convert", "a.mtx", "b.npy", "--zero-based", says=["--zero-based", "mtx"])
        # A model of zero-based data says nothing about other formats.
        self.ok("train", self.write("z.svm", SMALL.replace(" 1:", " 0:")), "m", "--quiet")
        self.ok("predict", "a.mtx", "m", "--quiet")


if __name__ == "__main__":
    unittest.main()
