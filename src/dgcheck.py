"""dgcheck DATA PROOF: checks a proof file of dualgap in exact arithmetic (docs/proof-format.md).

It shares no code with dualgap and needs the standard library only, so that this file can be copied
and run alone. Every float is a rational number: sums over the data are sums of integers; exp and
log are enclosed. Exit code 0: verified; 1: refused, since something does not hold; 2: unreadable.
"""

from __future__ import annotations

import argparse
import ast
import csv
import decimal
import hashlib
import importlib
import itertools
import json
import math
import os
import struct
import sys
import zipfile
from array import array
from collections.abc import Iterator
from fractions import Fraction
from operator import mul
from typing import Any

Pair = tuple[Fraction, Fraction]  # a number lies between the two
INF, ZERO, BITS, GOOD, LIMIT, BAD = math.inf, Fraction(0), 512, 140, 1 << 30, "UNREADABLE"
DIGITS = decimal.Context(50, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
SIGNS = {"hinge": "", "smoothed-hinge": "gamma", "squared-hinge": "gamma", "logistic": ""}
CLASSES = {"softmax": "", "multiclass-hinge": "gamma"}
NUMBERS = {"squared": "gamma", "huber": "delta", "quantile": "q", "poisson": ""}
NUMBERS |= {"epsilon-insensitive": "epsilon", "squared-epsilon-insensitive": "epsilon gamma"}
LOSSES = SIGNS | CLASSES | NUMBERS  # by what y is; with the names of their parameters
FLAT = ("hinge", "epsilon-insensitive", "quantile", "poisson")  # φ* is not strongly convex
TYPES = dict(zip(("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"), "fdbhiqBHIQ?"))
CSR = ("indptr", "indices", "data")
PACKERS = {b"\x1f\x8b": "gzip", b"BZ": "bz2", b"\xfd7": "lzma"}


class StopError(Exception):
    """Ends the check: a reason and a verdict."""


def need(condition: Any, reason: str, verdict: str = "REFUSED") -> None:
    if not condition:
        raise StopError(reason, verdict)


def dec(q: Fraction | float) -> decimal.Decimal:
    return DIGITS.divide(*map(decimal.Decimal, q.as_integer_ratio()))


def enclose(d: decimal.Decimal, slack: int = 1 << BITS - GOOD) -> Pair:
    """d within 2^-140 of itself and slack 2^-512; its true error is below 1e-44"""
    n, q = d.as_integer_ratio()
    middle = (n << BITS) // q
    error = (abs(middle) >> GOOD) + slack + 1
    return Fraction(middle - error, 1 << BITS), Fraction(middle + error, 1 << BITS)


def exp(z: Fraction) -> Pair:
    need(z <= 10000, "P(w, b) is too large: it has exp(z) with z > 10000")
    low, high = enclose(DIGITS.exp(dec(max(z, Fraction(-10000)))), 0)
    return (max(low, ZERO) if z > -10000 else ZERO), high


def log1p(low: Fraction, high: Fraction, plus: Fraction) -> Pair:
    """plus + log(1 + x) for 0 <= low <= x <= high; the derivative is at most 1"""
    if high < Fraction(1, 1 << 70):
        return plus + low - low * low, plus + high
    bottom, top = enclose(DIGITS.ln(dec(1 + low)))
    return plus + bottom, plus + top + high - low


def entropy(side: int, *shares: Fraction) -> Fraction:
    """Σ s log s, rounded down (side 0) or up (1)"""
    return sum((s * enclose(DIGITS.ln(dec(s)))[side] for s in shares if s), ZERO)


class Loss:
    """φ and φ*; z and a have an entry for each class."""

    def __init__(self, stated: Any) -> None:
        self.name = name = stated["name"]
        need(name in LOSSES and {"name", *LOSSES[name].split()} == set(stated), "unknown loss", BAD)
        given = {k: real(stated[k]) for k in LOSSES[name].split()}
        self.gamma, self.delta = (given.get(k, Fraction(1)) for k in ("gamma", "delta"))
        self.epsilon, self.q = (given.get(k, ZERO) for k in ("epsilon", "q"))
        good = self.gamma > 0 and self.delta > 0 and self.epsilon >= 0 and 0 <= self.q <= 1
        need(good, "the loss needs gamma > 0, delta > 0, epsilon >= 0, 0 <= q <= 1")
        self.modulus = {"logistic": 4, "softmax": 2, **dict.fromkeys(FLAT, 0)}.get(name, self.gamma)
        self.words = ", ".join([name, *(f"{k} = {float(v)!r}" for k, v in given.items())])

    def value(self, zs: tuple[Fraction, ...], y: Any) -> Pair:
        name, z, gamma, delta = self.name, zs[0], self.gamma, self.delta
        if name == "poisson":
            low, high = exp(z)
            return low - y * z, high - y * z
        if name == "logistic":
            return log1p(*exp(-abs(z)), max(-y * z, ZERO))
        if name == "softmax":
            *others, top = sorted(zs)
            low, high = (sum(ends, ZERO) for ends in zip(*(exp(v - top) for v in others)))
            return log1p(low, high, top - zs[y])
        if name == "multiclass-hinge":  # an upper bound for every τ, and equal for this one
            d = [gamma if k == y else v - zs[y] + 1 for k, v in enumerate(zs)]
            sums = itertools.accumulate(sorted(d, reverse=True))
            tau = max((total - gamma) / m for m, total in enumerate(sums, 1))
            exact = tau + sum(max(v - tau, 0) ** 2 for v in d) / (2 * gamma) - gamma / 2
        elif name == "quantile":
            exact = max(self.q * (y - z), (self.q - 1) * (y - z))
        else:
            exact = max(1 - y * z if name in SIGNS else abs(y - z) - self.epsilon, ZERO)
            if name in ("huber", "smoothed-hinge") and exact > gamma * delta:
                exact = delta * (exact - gamma * delta / 2)
            elif name not in FLAT:
                exact = exact * exact / (2 * gamma)
        return exact, exact

    def conjugate(self, a: list[Fraction], y: Any, where: str, side: int = 1) -> Any:
        """φ*(−a; y), rounded down (side 0) or up (1); refused outside of the domain"""
        name, v, what = self.name, a[0], "a"
        low: Any = -INF
        high: Any = INF
        if name in CLASSES:
            good = a[y] <= 1 and all(k == y or v <= 0 for k, v in enumerate(a))
            need(good, f"{where}: an -a of another class is below 0, or their sum exceeds 1")
            if name == "softmax":
                return entropy(side, *(1 - v if k == y else -v for k, v in enumerate(a)))
            return self.gamma / 2 * sum(v * v for v in a) - a[y]
        if name in SIGNS:
            what, v, y, low, high = "y·a", y * v, 1, 0, INF if name == "squared-hinge" else 1
        elif name == "quantile":
            low, high = self.q - 1, self.q
        elif name in ("huber", "epsilon-insensitive"):
            low, high = -self.delta, self.delta
        elif name == "poisson":
            what, v, low = "y - a", y - v, 0
        if not low <= v <= high:
            limit = f"exceeds {dec(high):.20g}" if v > high else f"is below {dec(low):.20g}"
            need(False, f"{where}: {what} = {dec(v):.20g} {limit}")
        if name in ("logistic", "poisson"):
            return entropy(side, v) - v if name == "poisson" else entropy(side, v, 1 - v)
        exact = self.epsilon * abs(v) - v * y
        return exact if name in FLAT else exact + self.gamma * v * v / 2


def penalty_conjugate(u: Fraction, l1: Fraction, l2: Fraction, low: float, high: float) -> Any:
    """The most of u w − l1 |w| − l2 w²/2 for low <= w <= high; infinite if there is no most"""
    excess = max(abs(u) - l1, ZERO)
    size: Any = excess / l2 if l2 else INF if excess else 0
    w: Any = min(max(size if u > 0 else -size, low), high)
    return INF if abs(w) == INF else u * (w := Fraction(w)) - l1 * abs(w) - l2 * w * w / 2


def real(text: str) -> Fraction:
    """A finite float, as float.hex writes it"""
    value = float.fromhex(text)
    need(value.hex() == text and math.isfinite(value), f"{text!a:.50} is no finite float", BAD)
    return Fraction(value)


def integers(values: Any) -> tuple[list[int], int]:
    """Integers v and k such that the values are v / 2^k"""
    ratios = {v: v.as_integer_ratio() for v in set(values)}
    k = max((q for _, q in ratios.values()), default=1).bit_length() - 1
    scaled = {v: n << k + 1 - q.bit_length() for v, (n, q) in ratios.items()}
    return [scaled[v] for v in values], k


def digest(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()


def little(code: str, *values: Any) -> bytes:
    return struct.pack(f"<{len(values)}{code}", *values)


def is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


class Archive(zipfile.ZipFile):
    """A ZIP of NPY arrays. Nothing is expanded before its size is known to be right."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.members = {m.filename: m for m in self.infolist()}
        good = all(m.compress_type in (0, 8) and not m.flag_bits & 1 for m in self.infolist())
        need(good and len(self.members) == len(self.infolist()), "not a plain ZIP archive", BAD)
        size = sum(m.file_size for m in self.infolist())
        need(size <= LIMIT + 32 * os.path.getsize(path), f"{size} bytes, once expanded", BAD)

    def load(self, name: str, wanted: Any = None) -> tuple[str, bool, Any, bytes]:
        """dtype, whether in Fortran's order, shape and bytes"""
        need(name in self.members, f"there is no member {name}", BAD)
        with self.open(name) as file:
            head = file.read(10)
            head += file.read(2) if head[6:7] > b"\1" else b""
            length = int.from_bytes(head[8:], "little")
            need(head[:6] == b"\x93NUMPY" and length <= 4096, f"{name} is no NPY array", BAD)
            header = ast.literal_eval(file.read(length).decode("latin-1").strip())
            dtype, fortran, shape = header["descr"], header["fortran_order"], header["shape"]
            need(wanted in (None, shape), f"{name}: its shape is not {wanted}", BAD)
            need(dtype[1:] in TYPES or dtype[1] in "SU", f"{name}: dtype {dtype!a:.50}", BAD)
            size = math.prod(shape) * int(dtype[2:]) * (4 if dtype[1] == "U" else 1)
            claimed = self.members[name].file_size - len(head) - length
            need(size == claimed, f"{name}: its shape needs {size} bytes, it has {claimed}", BAD)
            content = file.read(size + 1)
        need(len(content) == size, f"{name} is truncated", BAD)
        return dtype, fortran, shape, content

    def numbers(self, name: str, wanted: Any = None) -> tuple[Any, array[float]]:
        """shape, and values in C's order"""
        dtype, fortran, shape, content = self.load(name, wanted)
        form = f"{dtype[0].replace('|', '=')}{math.prod(shape)}{TYPES[dtype[1:]]}"
        flat = array("d", struct.unpack(form, content))
        if fortran and len(shape) > 1:
            flat = array("d", itertools.chain(*(flat[i :: shape[0]] for i in range(shape[0]))))
        return shape, flat


class Data:
    """X as rows of nonzeros, and y; products with X are sums of integers."""

    def __init__(self, path: str, n: int, p: int, target: str, zero_based: bool) -> None:
        self.n, self.p, self.starts, self.columns = n, p, array("q", [0]), array("q")
        self.values, self.y, self.y_columns = array("d"), list[Any](), 1
        self.weights: Any = None
        with open(path, "rb") as file:
            magic = file.read(2)
        packer = importlib.import_module(PACKERS.get(magic, "builtins"))
        if magic == b"PK":
            with Archive(path) as archive:
                self.fill(self.npz_rows(archive))
                self.npz_targets(archive)
        else:
            with packer.open(path, "rt", encoding="utf-8-sig", newline="") as lines:
                first, name = next(lines, ""), os.path.basename(path).lower()
                separated = ":" not in first and any(c in first for c in ",;\t")
                rows = self.csv_rows if separated or ".csv" in name else self.libsvm_rows
                self.fill(rows(itertools.chain([first], lines), first, target))
            if all(map(is_number, self.y)):
                self.y = [float(v) + 0.0 for v in self.y]
            if rows == self.libsvm_rows and self.lowest and not zero_based:
                self.columns = array("q", [j - 1 for j in self.columns])
        self.text = isinstance(self.y[0], str)
        need(len(self.y) == n * self.y_columns, f"the data have not {n} samples, as the proof has")
        need(max(self.columns, default=-1) < p, f"the data have more than {p} features")

    def fill(self, rows: Iterator[tuple[str, Any, Any]]) -> None:
        for label, columns, values in rows:
            good = all(map(math.isfinite, values)) and list(columns) == sorted(set(columns))
            good = good and min(columns, default=0) >= 0 and len(columns) == len(values)
            need(good, f"sample {len(self.y)}: values not finite, or columns not ascending", BAD)
            self.columns.extend(itertools.compress(columns, values))
            self.values.extend(filter(None, values))
            self.starts.append(len(self.values))
            self.y.append(label)
            need(len(self.y) <= self.n, f"the data have more than {self.n} samples")

    def libsvm_rows(self, lines: Any, *_: str) -> Iterator[tuple[str, Any, Any]]:
        self.lowest = 1
        for line in lines:
            label, *tokens = line.partition("#")[0].split() or [""]
            pairs = [token.split(":") for token in tokens if token[:4] != "qid:"]
            columns = [int(j) for j, _ in pairs]
            self.lowest = min(self.lowest, *columns[:1], 1)
            if label:
                yield label, columns, [float(v) for _, v in pairs]

    def csv_rows(self, lines: Any, first: str, target: str) -> Iterator[tuple[str, Any, Any]]:
        rows: Any = csv.reader(lines, delimiter=max(",;\t", key=first.count), strict=True)
        names = next(rows)
        named = target in names and not all(map(is_number, names))
        good = named or not target or (target.isdecimal() and 0 < int(target) <= len(names))
        need(good, f"there is no column {target!a:.50}; see --target", BAD)
        at = names.index(target) if named else int(target or len(names)) - 1
        if not named and all(map(is_number, names[:at] + names[at + 1 :])):
            rows = itertools.chain([names[:]], rows)
        for row in filter(None, rows):
            need(len(row) == len(names), f"{row!a:.70}: not {len(names)} fields", BAD)
            yield row.pop(at), range(len(row)), list(map(float, row))

    def npz_rows(self, archive: Archive) -> Iterator[tuple[str, Any, Any]]:
        if "X.npy" in archive.members:
            flat, p = archive.numbers("X.npy", (self.n, self.p))[1], self.p
            yield from (("", range(p), flat[i * p : i * p + p]) for i in range(self.n))
        else:
            need(archive.load("format.npy")[3].replace(b"\0", b"") == b"csr", "X is not CSR", BAD)
            starts, columns, values = (archive.numbers(f"{k}.npy")[1] for k in CSR)
            for i, j in itertools.pairwise(map(int, starts)):
                row = sorted(zip(map(int, columns[i:j]), values[i:j]))
                yield "", [k for k, _ in row], [v for _, v in row]

    def npz_targets(self, archive: Archive) -> None:
        dtype, _, shape, content = archive.load("y.npy")
        if dtype[1] == "U":
            code, size = "utf-32-le" if dtype[0] == "<" else "utf-32-be", 4 * int(dtype[2:])
            parts = [content[i : i + size] for i in range(0, len(content), size)]
            self.y = [part.decode(code).rstrip("\0") for part in parts]
        else:
            self.y = [v + 0.0 for v in archive.numbers("y.npy")[1]]
            self.y_columns = math.prod(shape[1:])
        if "sample_weight.npy" in archive.members:
            self.weights = archive.numbers("sample_weight.npy", (self.n,))[1]

    def digests(self) -> tuple[str, str]:
        """of X and of y"""
        ints = little("q", self.n, self.p, *self.starts, *self.columns)
        x = digest(b"dualgap-matrix-1\n", ints, little("d", *self.values))
        if self.text:
            texts = (little("q", len(t.encode())) + t.encode() for t in self.y)
            return x, digest(b"dualgap-text-1\n", little("q", self.n), *texts)
        sizes = little("q", self.n, self.y_columns)
        return x, digest(b"dualgap-numbers-1\n", sizes, little("d", *self.y))

    def rows(self, x: list[int]) -> Iterator[tuple[Any, list[int]]]:
        ends = itertools.pairwise(self.starts)
        return ((self.columns[i:j], x[i:j]) for i, j in ends)

    def times(self, x: list[int], w: list[int]) -> list[int]:
        return [sum(map(mul, values, map(w.__getitem__, js))) for js, values in self.rows(x)]

    def transposed(self, x: list[int], c: list[int]) -> list[int]:
        u = [0] * self.p
        for factor, (js, values) in zip(c, self.rows(x)):
            for j, v in zip(js, values) if factor else ():
                u[j] += factor * v
        return u


class Problem:
    """A problem of the file: what is stated, and the checks of what is claimed."""

    def __init__(self, number: int, stated: Any, facts: Any, archive: Archive, data: Data) -> None:
        sealed = {k: stated[k] for k in ("statement", "claims", "repairs", "arrays")}
        text = json.dumps(sealed | {"data": facts}, sort_keys=True, separators=(",", ":"))
        good = digest(text.encode()) == stated["seal"]
        need(good, "the seal does not match: statement, claims, repairs or digests were changed")
        st, n, p, self.data, self.claims = (
            stated["statement"],
            data.n,
            data.p,
            data,
            stated["claims"],
        )
        self.loss, self.K, self.intercept = Loss(st["loss"]), st["classes"], st["intercept"]
        names = {"loss", "penalty", "lam", "intercept", "scaling", "classes", "targets"}
        good = set(st) == names and set(st["penalty"]) == {"l1", "l2"} and type(self.K) is int
        need(good and self.intercept in ("none", "free", "penalised"), "unknown statement", BAD)
        self.l1, self.l2 = real(st["penalty"]["l1"]), real(st["penalty"]["l2"])
        self.lam, self.kappa = real(st["lam"]), real(st["scaling"])
        good = self.lam > 0 and self.kappa > 0 and self.l1 >= 0 and self.l2 >= 0
        need(good, "lam and scaling must be above 0, l1 and l2 not below")
        need(self.K > 1 if self.loss.name in CLASSES else self.K == 1, "wrong number of classes")
        wide = (self.K,) if self.K > 1 else ()
        shapes = {"w": (p, *wide), "b": (self.K,), "a": (n, *wide), "zeros": (p, *wide)}
        shapes |= dict.fromkeys(("weights", "labels"), (n,))
        shapes |= dict.fromkeys(("penalty_weights", "low", "high", "centre"), (p,))
        self.arrays: dict[str, Any] = {}
        for name, sha in stated["arrays"].items():
            dtype, _, _, content = archive.load(f"{number}/{name}.npy", shapes[name])
            code, form = ("b", "|i1") if name in ("zeros", "labels") else ("d", "<f8")
            need(dtype == form, f"{name}: dtype {dtype}, not {form}", BAD)
            need(digest(content) == sha, f"{name}: SHA-256 differs from the header's")
            self.arrays[name] = values = [v for (v,) in struct.iter_unpack("<" + code, content)]
            wild = INF if name in ("penalty_weights", "low", "high") else sys.float_info.max
            need(all(abs(v) <= wild for v in values), f"{name} has entries that are not finite")
        self.repairs: dict[int, Fraction] = {}
        for index, above, below in stated["repairs"]:
            top, bottom = int(above, 16), int(below, 16)
            good = hex(top) == above and hex(bottom) == below and bottom > 0
            good = good and type(index) is int and 0 <= index < n * self.K
            need(good and index not in self.repairs, f"repair {index!a:.50} is malformed", BAD)
            self.repairs[index] = Fraction(top, bottom)
        self.s, self.ks = integers(self.arrays.get("weights", [1.0] * n))
        need(min(self.s) >= 0 and sum(self.s), "weights are negative, or all 0")
        kept = data.weights is None or list(data.weights) == self.arrays.get("weights")
        same = "weights" not in self.arrays and len(set(data.weights or [])) == 1
        need(kept or same, "weights: not the sample_weight of the data")
        self.omega = self.arrays.get("penalty_weights", [1.0] * p)
        self.low, self.high = self.arrays.get("low", [-INF] * p), self.arrays.get("high", [INF] * p)
        need(min(self.omega, default=0) >= 0, "penalty_weights are negative")
        self.y = self.coded(st["targets"])

    def coded(self, targets: Any) -> list[Any]:
        data, column, codes = self.data, targets["column"], targets["codes"]
        need(type(column) is int and 0 <= column < data.y_columns, "there is no such y", BAD)
        y: list[Any] = list(data.y[column :: data.y_columns])
        if codes is not None:
            table = {k if data.text else float(real(k)): real(v) for k, v in codes}
            need(len(table) == len(codes), "a label has two codes", BAD)
            need(set(y) <= set(table), "a label of the data has no code")
            y = [table[v] for v in y]
        need(codes is not None or not data.text, "text labels need codes")
        need(all(map(math.isfinite, y)), "y is not finite")
        exact = {v: Fraction(v) for v in set(y)}
        name, good = self.loss.name, set(exact)
        if name in SIGNS:
            need(good <= {-1, 1}, "labels are not coded -1 and 1")
        elif name in CLASSES:
            need(good <= set(range(self.K)), f"labels are not coded 0 to {self.K - 1}")
            return [int(v) for v in y]
        need(name != "poisson" or min(good) >= 0, "a y is below 0")
        return [exact[v] for v in y]

    def describe(self, codes: Any) -> Iterator[str]:
        n, p, held = self.data.n, self.data.p, self.arrays
        yield f"loss: {self.loss.words}; {n} samples, {p} features, {self.K} class(es)"
        l1, l2, lam, kappa = (float(v) for v in (self.l1, self.l2, self.lam, self.kappa))
        scaled = f" (scaling {kappa!r})" if self.intercept == "penalised" else ""
        yield f"lambda = {lam!r}, penalty l1 = {l1!r}, l2 = {l2!r}; intercept: {self.intercept}{scaled}"
        for name in ("weights", "penalty_weights", "low", "high"):
            if name in held:
                values = f"from {min(held[name])!r} to {max(held[name])!r}"
                yield f"{name}: {values}, SHA-256 {digest(little('d', *held[name]))}"
        yield f"codes: {codes!a:.200}" + ("" if "weights" in held else "; all samples weigh 1")

    def bound(self) -> None:
        """P(w, b), rounded up, and D(a), rounded down"""
        data, K, s, lam, repairs = self.data, self.K, self.s, self.lam, self.repairs
        self.x, self.kx = x, kx = integers(data.values)
        A, ka = integers([0.0 if i in repairs else v for i, v in enumerate(self.arrays["a"])])
        if self.loss.name in CLASSES:
            for i, y in enumerate(self.y):
                others = [i * K + k for k in range(K) if k != y]
                A[i * K + y] = -sum(A[k] for k in others)
                repairs[i * K + y] = -sum(repairs[k] for k in others if k in repairs) + ZERO
        common = math.lcm(*(q.denominator for q in repairs.values()))
        need(common < 1 << (1 << 20), "repairs have too large a common denominator", BAD)
        total, unit = Fraction(sum(s)), 1 / (lam * sum(s) * (common << ka))
        penalties, self.u, self.z = [ZERO, ZERO], [], []
        factors = {v: Fraction(v) for v in {1.0, *self.omega} if v < INF}
        for k in range(K):
            b = Fraction(self.arrays["b"][k])
            need(b == 0 or self.intercept != "none", "b is not 0, but there is no intercept")
            w, kw = integers(self.arrays["w"][k::K])
            self.z.append([Fraction(v, 1 << kx + kw) + b for v in data.times(x, w)])
            c = [v * a for v, a in zip(s, A[k::K])]
            fixes = [int(v * repairs.get(i * K + k, 0) * common) for i, v in enumerate(s)]
            sums = zip(data.transposed(x, c), data.transposed(x, fixes))
            self.u.append([((v * common) + (f << ka)) * unit / (1 << kx) for v, f in sums])
            shift = (sum(c) * common + (sum(fixes) << ka)) * unit
            if self.intercept == "free":
                value = dec(shift * lam * sum(s) / (1 << self.ks))
                need(shift == 0, f"Σ s a = {value:.20g}, not 0 (free intercept)")
            parts = list(zip(self.arrays["w"][k::K], self.u[k], self.omega, self.low, self.high))
            if self.intercept == "penalised":
                parts.append((b / self.kappa, shift * self.kappa, 1.0, -INF, INF))
            for j, (w_j, u_j, omega, low, high) in enumerate(parts):
                good = low <= w_j <= high and (omega < INF or w_j == 0)
                need(good, f"P is infinite: coefficient {j} is out of bounds")
                if omega < INF and (w_j or u_j or not low <= 0 <= high):
                    l1, l2, v = factors[omega] * self.l1, factors[omega] * self.l2, Fraction(w_j)
                    worst = penalty_conjugate(u_j, l1, l2, low, high)
                    need(worst < INF, f"D(a) is infinite: for feature {j}, Σ s a x is too large")
                    penalties[0] += l1 * abs(v) + l2 * v * v / 2
                    penalties[1] += worst
        self.a = [Fraction(v, 1 << ka) + repairs.get(i, 0) for i, v in enumerate(A)]
        losses = [ZERO, ZERO]
        for i, (weight, y) in enumerate(zip(s, self.y)):
            if weight:
                losses[0] += weight * self.loss.value(tuple(z[i] for z in self.z), y)[1]
                losses[1] += weight * self.loss.conjugate(
                    self.a[i * K : i * K + K], y, f"sample {i}"
                )
        self.primal = losses[0] / total + lam * penalties[0]
        self.dual = -losses[1] / total - lam * penalties[1]
        self.gap = self.primal - self.dual
        primal, dual, gap = (real(self.claims[k]) for k in ("primal", "dual", "gap"))
        for left, right, words in (
            (self.primal, primal, "P(w, b) <= claimed primal"),
            (dual, self.dual, "claimed dual <= D(a)"),
            (self.gap, gap, "P(w, b) - D(a) <= claimed gap"),
        ):
            if left > right:
                by = f"{dec(left):.20g} > {dec(right):.20g}, by {dec(left - right):.3g}"
                need(False, f"{words} does not hold: {by}")

    def zeros(self) -> int:
        claims, total = self.arrays.get("zeros", []), sum(self.s)
        if not any(claims):
            return 0
        need(self.loss.modulus, "zeros: the conjugate is not strongly convex")
        sums = self.data.transposed(self.x, self.s)
        squares = self.data.transposed([v * v for v in self.x], self.s)
        for at, claim in enumerate(claims):
            need(claim in (0, 1), f"zeros: {claim} is neither 0 nor 1")
            j, k = divmod(at, self.K)
            omega, low, high, u = self.omega[j], self.low[j], self.high[j], self.u[k][j]
            if not claim or omega == INF or low == high == 0:
                continue
            mean = Fraction(sums[j], total << self.kx) if self.intercept == "free" else ZERO
            variance = Fraction(squares[j], total << 2 * self.kx) - mean * mean
            radius2 = 2 * self.gap * variance / (self.loss.modulus * self.lam**2)
            edge = Fraction(omega) * self.l1
            above = high == 0 or (edge > u and (edge - u) ** 2 > radius2)
            below = low == 0 or (edge > -u and (edge + u) ** 2 > radius2)
            need(low <= 0 <= high and above and below, f"zeros: coefficient {at} is not proven")
        return sum(claims)

    def radii(self) -> list[Any]:
        """Upper bounds of r_i"""
        p, penalised = self.data.p, self.intercept == "penalised"
        need(self.K == 1, "labels: not for several classes")
        need(
            self.intercept == "free" or "centre" not in self.arrays,
            "centre: not without free intercept",
        )
        m, km = integers(self.arrays.get("centre", [0.0] * p))
        k = max(km, self.kx)
        x, m = [v << k - self.kx for v in self.x], [v << k - km for v in m]
        moduli = [Fraction(v) * self.l2 if v < INF else INF for v in self.omega]
        shift = BITS + math.ceil(max((v for v in moduli if v < INF), default=1)).bit_length()
        fixed = [v == INF or low == high for v, low, high in zip(moduli, self.low, self.high)]
        loose = [j for j in range(p) if moduli[j] == 0 and not fixed[j]]
        inverse = [
            0 if v == 0 or still else math.ceil((1 << shift) / v) for v, still in zip(moduli, fixed)
        ]
        start = sum(v * v * inverse[j] for j, v in enumerate(m))
        more = self.kappa**2 / self.l2 if penalised and self.l2 else ZERO
        radii: list[Any] = []
        for js, values in self.data.rows(x):
            total = start + sum(v * (v - 2 * m[j]) * inverse[j] for j, v in zip(js, values))
            row = dict(zip(js, values)) if loose else {}
            square = 2 * self.gap / self.lam * (Fraction(total, 1 << 2 * k + shift) + more)
            wild = (penalised and not self.l2) or any(row.get(j, 0) != m[j] for j in loose)
            root = math.isqrt(math.floor(square * (1 << 2 * BITS))) + 1
            radii.append(INF if wild else Fraction(root, 1 << BITS))
        return radii

    def labels(self) -> int:
        claims, radius = self.arrays.get("labels", []), self.claims["intercept_radius"]
        if radius is None and not any(claims):
            return 0
        need(
            (radius is None) == (self.intercept != "free"), "intercept_radius: for a free intercept"
        )
        t, r, z = real(radius) if radius else ZERO, self.radii(), self.z[0]
        need(t >= 0, "intercept_radius is below 0")
        for sign in (1, -1) if self.intercept == "free" else ():
            total = ZERO
            for i, (weight, y, a) in enumerate(zip(self.s, self.y, self.a)):
                if weight and r[i] < t:
                    end = z[i] + sign * (t - r[i])
                    rise = self.loss.value((end,), y)[0] + a * end
                    if rise >= self.loss.value((z[i],), y)[1] + a * z[i]:
                        total += weight * max(rise + self.loss.conjugate([a], y, "", 0), ZERO)
            need(total > self.gap * sum(self.s), "intercept_radius is not proven")
        for i, claim in enumerate(claims):
            need(claim in (-1, 0, 1), f"labels: {claim} is neither -1, 0 nor 1")
            need(
                not claim or claim * z[i] > r[i] + t, f"labels: the one of sample {i} is not proven"
            )
        return sum(map(abs, claims))


def check(path: str, proof: str, target: str = "", zero_based: bool = False) -> Iterator[str]:
    """Lines to print; StopError (or another error of a damaged file) ends them."""
    with Archive(proof) as archive:
        header = json.loads(archive.read("header.json"))
        good = header["format"] == "dualgap-proof" and repr(header["version"]) == "1"
        need(good, "not a proof of version 1", BAD)
        facts, hints = header["data"], header["data"].pop("hints", None) or {}
        n, p, problems = facts["samples"], facts["features"], header["problems"]
        names = [f"{k}/{name}.npy" for k, one in enumerate(problems) for name in one["arrays"]]
        need(sorted(archive.members) == sorted([*names, "header.json"]), "wrong members", BAD)
        need(type(n) is int and type(p) is int and n > 0 <= p and problems, "no problem", BAD)
        known = target or str(hints.get("target") or "")
        data = Data(path, n, p, known, zero_based or hints.get("zero_based") is True)
        for name, found in zip("Xy", data.digests()):
            need(found == facts[name], f"{name}: SHA-256 of the data differs from the header's")
        for number, one in enumerate(problems):
            problem = Problem(number, one, facts, archive, data)
            yield from problem.describe(one["statement"]["targets"]["codes"])
            problem.bound()
            zeros, labels = problem.zeros(), problem.labels()
            gap = decimal.Context(2, rounding=decimal.ROUND_CEILING).plus(
                dec(real(one["claims"]["gap"]))
            )
            primal, dual = (float.fromhex(one["claims"][k]) for k in ("primal", "dual"))
            yield f"VERIFIED gap <= {float(gap):.1e} (objective <= {primal!r}, no model below {dual!r})"
            if zeros or labels:
                yield f"VERIFIED at every optimum: {zeros} coefficients are 0, {labels} signs"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("dgcheck", description="Checks a proof in exact arithmetic.")
    parser.add_argument("data", help="LIBSVM (also .gz, .bz2, .xz), CSV or NPZ")
    parser.add_argument("proof")
    parser.add_argument("--target", default="", help="CSV: name or number (from 1) of y's column")
    parser.add_argument("--zero-based", action="store_true", help="LIBSVM: columns count from 0")
    parser.add_argument("--quiet", action="store_true", help="print the verdict only")
    options = parser.parse_args(argv)
    code, encoding, lines = 0, sys.stdout.encoding or "utf-8", []
    try:
        for line in check(options.data, options.proof, options.target, options.zero_based):
            lines += [line] if line.startswith("VERIFIED") or not options.quiet else []
    except StopError as stop:
        code, lines = 1 + (stop.args[1] == BAD), [*lines, f"{stop.args[1]}: {stop.args[0]}"]
    except Exception as error:
        code, lines = 2, [*lines, f"{BAD}: {type(error).__name__}: {str(error)[:300]}"]
    print("\n".join(lines).encode(encoding, "backslashreplace").decode(encoding))
    return code


if __name__ == "__main__":
    sys.exit(main())
