"""Our numbers against those of scikit-learn, NumPy and SciPy: what `convert` writes is, bit for bit, what their readers make
of the same files. The binary form is read here by its description alone.

All files of FENCHEL_DATA are compared. Up to 10 MB of text: every value, label and query id with scikit-learn's reader, in
both precisions. Larger ones, for which that reader takes too long: the number of rows and of values, every label,
and the values of a random sample of 3000 lines with Python's own parse of them. Up to 1 MB: MatrixMarket, npy and csv, too."""

import os
import random
import re
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

try:
    import numpy as np
    import scipy.io
    import scipy.sparse
    from sklearn.datasets import load_svmlight_file
except ImportError as error:
    raise unittest.SkipTest(f"needs {error.name}") from error

CLI = os.environ.get("FENCHEL_CLI")
DATA = os.environ.get("FENCHEL_DATA")
if not CLI or not os.access(CLI, os.X_OK):
    raise unittest.SkipTest("FENCHEL_CLI does not name an executable")
if not DATA or not Path(DATA).is_dir():
    raise unittest.SkipTest("FENCHEL_DATA does not name a directory")

LARGE = 10e6  # bytes of text for scikit-learn's reader
SAMPLE = 3000  # lines of files that are larger
SMALL = 1e6  # bytes of text for the peers' slower readers


def convert(*args):
    subprocess.run([CLI, "convert", "--quiet", *map(str, args)], check=True, timeout=120)


def read_binary(path):
    """Sparse rows, labels and query ids of a .fbin file."""
    content = path.read_bytes()
    rows, columns = struct.unpack_from("<QQ", content, 32)
    flags, count = struct.unpack_from("<II", content, 80)
    sections = {}
    for k in range(count):
        kind, _, offset, size = struct.unpack_from("<IIQQ", content, 88 + 24 * k)
        sections[kind] = content[offset:offset + size]
    part = lambda kind, dtype: np.frombuffer(sections.get(kind, b""), dtype).copy()
    values = part(6, "<f4" if flags & 2 else "<f8")
    matrix = scipy.sparse.csr_matrix((values, part(5, "<u4").astype("i8"), part(4, "<u8").astype("i8")), (rows, columns))
    return matrix, part(1, "<f8"), part(2, "<i8")


def same(ours, theirs):
    """Bit for bit, zeros that a file spells out aside."""
    ours, theirs = scipy.sparse.csr_matrix(ours), scipy.sparse.csr_matrix(theirs)
    for matrix in (ours, theirs):
        matrix.sort_indices()
        matrix.eliminate_zeros()
    return (ours.shape == theirs.shape and np.array_equal(ours.indptr, theirs.indptr)
            and np.array_equal(ours.indices, theirs.indices)
            and np.array_equal(ours.data.astype("f8").view("u8"), theirs.data.astype("f8").view("u8")))


class ReadersTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="fenchel-")
        self.addCleanup(holder.cleanup)
        self.dir = Path(holder.name)

    def test_real_data(self):
        paths = sorted(Path(DATA).glob("*.svm.zst"))
        for path in paths:
            text = self.dir / path.stem
            subprocess.run(["zstd", "-dqf", path, "-o", text], check=True)
            with self.subTest(path.name):
                (self.compare if text.stat().st_size <= LARGE else self.compare_sample)(path, text)
            text.unlink()
        if not paths:
            self.skipTest("FENCHEL_DATA holds no *.svm.zst")

    def compare(self, compressed, text):
        X, y, queries = load_svmlight_file(str(text), query_id=True)
        binary = self.dir / "a.fbin"
        convert(compressed, binary)  # decompressed on the way
        ours, labels, our_queries = read_binary(binary)
        self.assertTrue(same(ours, X), "values")
        self.assertTrue(np.array_equal(labels, y), "labels")
        self.assertTrue(np.array_equal(our_queries, queries), "query ids")
        convert(text, binary, "--precision", "f32")
        self.assertTrue(same(read_binary(binary)[0], X.astype("f4")), "values in single precision")
        if text.stat().st_size <= SMALL and len(queries) == 0:
            self.compare_other_formats(text, X, y)

    def compare_sample(self, compressed, text):
        binary = self.dir / "a.fbin"
        convert(compressed, binary)
        ours, labels, _ = read_binary(binary)
        convert(text, binary, "--precision", "f32")
        single = read_binary(binary)[0]
        content = text.read_bytes()
        self.assertNotIn(b"#", content, "comments are not understood here")
        lines = content.splitlines()
        self.assertEqual(ours.shape[0], len(lines), "rows")
        zeros = len(re.findall(rb":[+-]?0(?:\.0*)?(?=\s)", content))
        self.assertEqual(np.count_nonzero(ours.data), content.count(b":") - zeros, "values")
        self.assertTrue(np.array_equal(labels, [float(line.split(None, 1)[0]) for line in lines]), "labels")
        base = 0 if re.search(rb"\s0:", content) else 1
        for i in [0, len(lines) - 1, *random.Random(1).sample(range(len(lines)), min(SAMPLE, len(lines)))]:
            entries = [entry.split(b":") for entry in lines[i].split()[1:]]
            values = np.array([float(value) for _, value in entries])
            columns = np.array([int(index) - base for index, _ in entries])[values != 0]
            for matrix, expected in ((ours, values[values != 0]), (single, values[values != 0].astype("f4"))):
                row = slice(matrix.indptr[i], matrix.indptr[i + 1])
                self.assertTrue(np.array_equal(matrix.indices[row], columns), f"columns of line {i + 1}")
                self.assertTrue(np.array_equal(matrix.data[row], expected), f"values of line {i + 1}")

    def compare_other_formats(self, text, X, y):
        convert(text, self.dir / "a.mtx")
        self.assertTrue(same(scipy.io.mmread(str(self.dir / "a.mtx")), X), "mtx")
        self.assertTrue(np.array_equal(np.loadtxt(self.dir / "a.labels.txt", ndmin=1), y), "labels of mtx")
        convert(text, self.dir / "a.npy")
        self.assertTrue(np.array_equal(np.load(self.dir / "a.npy"), X.toarray()), "npy")
        self.assertTrue(np.array_equal(np.load(self.dir / "a.labels.npy"), y), "labels of npy")
        convert(text, self.dir / "a.csv")
        table = np.loadtxt(self.dir / "a.csv", delimiter=",", skiprows=1, ndmin=2)
        self.assertTrue(np.array_equal(table, np.column_stack([y, X.toarray()])), "csv")

    def back(self, path, *options):
        """What we make of a file, as scikit-learn reads our svmlight."""
        out = self.dir / "back.svm"
        convert(path, out, *options)
        return load_svmlight_file(str(out))

    def test_what_numpy_writes(self):
        random = np.random.default_rng(1)
        X = random.normal(size=(200, 7))
        X[:, 3] = np.round(X[:, 3])
        y = random.integers(-3, 3, 200)
        np.save(self.dir / "y.npy", y)
        forms = {"f8": X, "big": X.astype(">f8"), "fortran": np.asfortranarray(X), "f4": X.astype("f4"),
                 "slice": X[::3, ::-1], "i8": np.round(100 * X).astype("i8"), "u1": (X > 0).astype("u1"),
                 "bool": X > 0, "i2big": np.round(9 * X).astype(">i2", order="F")}
        for name, array in forms.items():
            with self.subTest(name):
                np.save(self.dir / "x.npy", array)
                np.save(self.dir / "y.npy", y[:len(array)])
                Z, labels = self.back(self.dir / "x.npy", "--labels", self.dir / "y.npy")
                self.assertTrue(same(Z, array.astype("f8")))
                self.assertTrue(np.array_equal(labels, y[:len(array)]))

    def test_what_scipy_writes(self):
        random = np.random.default_rng(2)
        X = scipy.sparse.random(150, 150, 0.05, random_state=3, format="coo")
        X.data = random.normal(size=X.nnz)
        square = (X + X.T).tocoo()
        cases = {"general": (X, {"symmetry": "general"}), "symmetric": (square, {"symmetry": "symmetric"}),
                 "skew": ((X - X.T).tocoo(), {"symmetry": "skew-symmetric"}),
                 "integer": (scipy.sparse.coo_matrix(np.round(9 * X.toarray()).astype("i4")), {}),
                 "pattern": (X, {"field": "pattern"}), "array": (X.toarray(), {}),
                 "symmetric array": (square.toarray(), {"symmetry": "symmetric"})}
        np.savetxt(self.dir / "y.txt", np.arange(150.0))
        for name, (matrix, options) in cases.items():
            with self.subTest(name):
                path = self.dir / "x.mtx"
                scipy.io.mmwrite(str(path), matrix, precision=17, **options)
                Z, labels = self.back(path, "--labels", self.dir / "y.txt")
                self.assertTrue(same(Z, scipy.io.mmread(str(path))))
                self.assertTrue(np.array_equal(labels, np.arange(150.0)))


if __name__ == "__main__":
    unittest.main()
