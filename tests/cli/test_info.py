"""fenchel info on data: what it says, what it suggests, what it checks."""

import unittest

from support import CliTest, SMALL


class Info(CliTest):
    def test_rows_columns_and_labels(self):
        self.write("d.svm", "1 1:3 3:7 4:4\n2 3:7\n1 1:3 3:7 4:4\n2 3:7 6:2\n")
        info = self.json("info", "d.svm")
        self.assertEqual((info["format"], info["rows"], info["features"], info["nonzeros"]), ("svmlight", 4, 6, 9))
        self.assertEqual((info["empty_rows"], info["duplicate_rows"]), (0, 1))
        self.assertEqual((info["empty_columns"], info["first_empty_columns"]), (2, [2, 5]))  # as the file counts them
        self.assertEqual((info["constant_columns"], info["first_constant_columns"]), (1, [3]))
        self.assertEqual(info["duplicate_columns"], 0)
        self.assertEqual(info["labels"], {"distinct": 2, "smallest": 1, "largest": 2, "most_frequent": {"1": 2, "2": 2}})
        self.assertEqual(info["row_nonzeros"], {"smallest": 1, "mean": 2.25, "largest": 3})
        self.assertEqual(info["values"], {"smallest": 2, "largest": 7})
        self.assertGreater(info["fit_memory_bytes"], info["memory_bytes"])
        self.assertNotIn("suggestions", info)
        self.assertNotIn("compression", info)
        self.assertNotIn("verified", info)

    def test_columns_from_0(self):
        self.write("d.svm", "1 0:3 3:7\n2 3:8\n")
        self.assertEqual(self.json("info", "d.svm")["first_empty_columns"], [1, 2])

    def test_suggestions(self):
        self.write("d.svm", "".join(f"{1 if i else 2} 1:1 2:5000\n" for i in range(12)))
        flags = [item["flag"] for item in self.json("info", "d.svm")["suggestions"]]
        self.assertEqual(flags, ["--class-weight balanced", "--standardize"])
        self.write("r.svm", "".join(f"{i / 7} 1:1\n" for i in range(12)))
        info = self.json("info", "r.svm")
        self.assertEqual([item["flag"] for item in info["suggestions"]], ["--loss squared"])
        self.assertEqual(len(info["labels"]["quartiles"]), 3)
        self.assertIn("look like a regression", self.ok("info", "r.svm"))

    def test_the_same_in_every_format(self):
        self.write("d.svm", SMALL)
        expected = self.json("info", "d.svm")
        for name, format in [("d.fbin", "fenchel-binary"), ("d.fbin.zst", "fenchel-binary"), ("d.svm.gz", "svmlight")]:
            self.ok("convert", "d.svm", name, "--quiet")
            info = self.json("info", name, "--verify")
            self.assertEqual(info["format"], format)
            self.assertEqual(info.get("compression"), {"zst": "zstd", ".gz": "gzip"}.get(name[-3:]))
            self.assertTrue(info["verified"])
            for key in set(expected) - {"path", "format", "bytes"}:
                self.assertEqual(info[key], expected[key], key)

    def test_sections_and_column_form(self):
        self.write("d.svm", SMALL)
        self.ok("convert", "d.svm", "d.fbin", "--columns", "--quiet")
        info = self.json("info", "d.fbin", "--verify")
        names = [section["section"] for section in info["sections"]]
        self.assertEqual(names[0], "targets")
        self.assertEqual(names[-1], "column checksums")
        last = info["sections"][-1]
        self.assertEqual(last["offset"] + last["bytes"], (self.dir / "d.fbin").stat().st_size)

    def test_damage_between_sections_is_found_by_verify_alone(self):
        self.write("d.svm", SMALL)
        self.ok("convert", "d.svm", "d.fbin", "--quiet")
        content = bytearray((self.dir / "d.fbin").read_bytes())
        content[2 * 4096 - 1] = 1
        self.write("d.fbin", bytes(content))
        self.json("info", "d.fbin")
        self.refused(3, "info", "d.fbin", "--verify", says="between two sections")

    def test_truncated_and_foreign_files(self):
        self.write("d.svm", SMALL)
        self.ok("convert", "d.svm", "d.fbin", "--quiet")
        content = (self.dir / "d.fbin").read_bytes()
        self.write("d.fbin", content[:-1])
        for command in ["info", "train"]:
            self.refused(3, command, "d.fbin", says=["d.fbin: is truncated", "copy it again"])
        self.write("d.fbin", content[:12] + b"\2" + content[13:])
        self.refused(3, "info", "d.fbin", says=["version 2", "newer fenchel"])
        self.write("d.fbin", content[:8] + b"\1\2\3\4" + content[12:])
        self.refused(3, "info", "d.fbin", says="other byte order")

    def test_zero_based_contradicts_the_file(self):
        self.write("d.svm", SMALL)
        self.ok("convert", "d.svm", "d.fbin", "--quiet")
        self.refused(2, "info", "d.fbin", "--zero-based", says="--zero-based")


if __name__ == "__main__":
    unittest.main()
