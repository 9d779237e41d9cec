"""Our numbers against those of scikit-learn, NumPy and SciPy, on all real data that time allows: what `convert` writes
is, bit for bit, what their readers make of the same files. The binary form is read here by its description alone."""

import os
import struct
import subprocess
import sys
import tempfile
import time
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

SECONDS = 40  # then the larger files are left out
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
        begin, compared = time.monotonic(), 0
        for path in sorted(Path(DATA).glob("*.svm.zst"), key=lambda path: path.stat().st_size):
            if time.monotonic() - begin > SECONDS:
                print(f"{compared} files compared; left out from {path.name} on", file=sys.stderr)
                break
            text = self.dir / path.stem
            subprocess.run(["zstd", "-dqf", path, "-o", text], check=True)
            with self.subTest(path.name):
                self.compare(path, text)
            compared += 1
            text.unlink()
        self.assertGreater(compared, 0)

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
