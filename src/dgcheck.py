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
import re
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
LOSSES = {"squared": "gamma", "huber": "delta", "quantile": "q", "poisson": "", **SIGNS, **CLASSES}
LOSSES |= {"epsilon-insensitive": "epsilon", "squared-epsilon-insensitive": "epsilon gamma"}
FLAT = ("hinge", "epsilon-insensitive", "quantile", "poisson")  # φ* is not strongly convex
TYPES = dict(zip(("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"), "fdbhiqBHIQ?"))
is_number = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*").fullmatch
PACKERS = {b"\x1f\x8b": "gzip", b"BZ": "bz2", b"\xfd7": "lzma"}


class StopError(Exception):
    """Ends the check: a reason and a verdict."""


def need(condition: Any, reason: str, verdict: str = "REFUSED") -> None:
    if not condition:
        raise StopError(reason, verdict)


def fields(value: Any, names: str) -> list[Any]:
    need(set(value) == set(names.split()), f"the keys are not exactly {names}", BAD)
    return [value[name] for name in names.split()]


def real(text: str) -> Fraction:
    """A finite float, as float.hex writes it"""
    value = float.fromhex(text)
    need(value.hex() == text and math.isfinite(value), f"{text!a:.50} is no finite float", BAD)
    return Fraction(value)


def dec(q: Fraction | float) -> decimal.Decimal:
    return DIGITS.divide(*map(decimal.Decimal, q.as_integer_ratio()))


def enclose(d: decimal.Decimal, slack: int = 1 << BITS - GOOD) -> Pair:
    """d within 2^-140 of itself and slack 2^-512; its true error is below 1e-44"""
    n, q = d.as_integer_ratio()
    middle = (n << BITS) // q
    error = (abs(middle) >> GOOD) + slack + 2
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
        self.name, *values = fields(stated, f"name {LOSSES[stated['name']]}")
        self.given = given = dict(zip(LOSSES[self.name].split(), map(real, values)))
        self.gamma, self.delta = (given.get(k, Fraction(1)) for k in ("gamma", "delta"))
        self.epsilon, self.q = (given.get(k, ZERO) for k in ("epsilon", "q"))
        good = self.gamma > 0 and self.delta > 0 and self.epsilon >= 0 and 0 <= self.q <= 1
        need(good, "the loss needs gamma > 0, delta > 0, epsilon >= 0, 0 <= q <= 1")
        moduli = {"logistic": Fraction(4), "softmax": Fraction(2), **dict.fromkeys(FLAT, ZERO)}
        self.modulus = moduli.get(self.name, self.gamma)

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
        low: Any = -INF
        name, v, what, high = self.name, a[0], "a", -low
        if name in CLASSES:
            good = a[y] <= 1 and all(k == y or v <= 0 for k, v in enumerate(a))
            need(good, f"{where}: an -a of another class is below 0, or their sum exceeds 1")
            if name == "softmax":
                return entropy(side, *(1 - v if k == y else -v for k, v in enumerate(a)))
            return self.gamma / 2 * sum(v * v for v in a) - a[y]
        if name in SIGNS:
            what, v, y, low, high = "y·a", y * v, 1, 0, INF if name == "squared-hinge" else 1
        elif name == "poisson":
            what, v, low = "y - a", y - v, 0
        elif name in ("quantile", "huber", "epsilon-insensitive"):
            low = self.q - 1 if name == "quantile" else -self.delta
            high = self.q if name == "quantile" else self.delta
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


def integers(values: Any) -> tuple[list[int], int]:
    """Integers, and the denominator that makes them the values"""
    ratios = [v.as_integer_ratio() for v in values]
    common = math.lcm(*{q for _, q in ratios})
    return [n * (common // q) for n, q in ratios], common


def digest(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()


def little(code: str, *values: Any) -> bytes:
    return struct.pack(f"<{len(values)}{code}", *values)


class Archive(zipfile.ZipFile):
    """A ZIP of NPY arrays. Nothing is expanded before its size is known to be right."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.members = {m.filename: m for m in self.infolist()}
        good = all(m.compress_type in (0, 8) and not m.flag_bits & 1 for m in self.infolist())
        need(good and len(self.members) == len(self.infolist()), "not a plain ZIP archive", BAD)
        size = sum(m.file_size for m in self.infolist())
        need(size <= LIMIT + 32 * os.path.getsize(path), f"{size} bytes, once expanded", BAD)

    def load(self, name: str, wanted: Any = None) -> tuple[str, Any, bytes, Any]:
        """dtype, shape and bytes of an array, and its numbers in C's order"""
        need(name in self.members, f"there is no member {name}", BAD)
        with self.open(name) as file:
            head = file.read(10)
            head += file.read(2) if head[6:7] > b"\1" else b""
            length = int.from_bytes(head[8:], "little")
            need(head[:6] == b"\x93NUMPY" and length <= 4096, f"{name} is no NPY array", BAD)
            header = ast.literal_eval(file.read(length).decode("latin-1").strip())
            dtype, fortran, shape = fields(header, "descr fortran_order shape")
            need(wanted in (None, shape), f"{name}: its shape is not {wanted}", BAD)
            need(dtype[1:] in TYPES or dtype[1] in "SU", f"{name}: dtype {dtype!a:.50}", BAD)
            size = math.prod(shape) * int(dtype[2:]) * (4 if dtype[1] == "U" else 1)
            claimed = self.members[name].file_size - len(head) - length
            need(size == claimed, f"{name}: its shape needs {size} bytes, it has {claimed}", BAD)
            content = file.read(size + 1)
        need(len(content) == size, f"{name} is truncated", BAD)
        if dtype[1] in "SU":
            return dtype, shape, content, None
        form = f"{dtype[0].replace('|', '=')}{math.prod(shape)}{TYPES[dtype[1:]]}"
        flat = array("d", struct.unpack(form, content))
        if fortran and len(shape) > 1:
            flat = array("d", itertools.chain(*(flat[i :: shape[0]] for i in range(shape[0]))))
        return dtype, shape, content, flat


class Data:
    """X as rows of nonzeros, and y; products with X are exact."""

    def __init__(self, path: str, n: int, p: int, target: str, zero_based: bool) -> None:
        self.n, self.p, self.starts, self.columns = n, p, array("q", [0]), array("q")
        self.values, self.y, self.y_columns, self.base = array("d"), list[Any](), 1, 0
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
            if self.base and not zero_based:
                self.columns = array("q", [j - 1 for j in self.columns])
        self.text = isinstance(self.y[0], str)
        x, self.unit = integers(self.values)
        self.powers = {1: x}
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
        self.base = 1
        for line in lines:
            label, *tokens = line.partition("#")[0].split() or [""]
            pairs = [token.split(":") for token in tokens if token[:4] != "qid:"]
            columns = [int(j) for j, _ in pairs]
            self.base = min(self.base, *columns[:1], 1)
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
            flat, p = archive.load("X.npy", (self.n, self.p))[3], self.p
            yield from (("", range(p), flat[i * p : i * p + p]) for i in range(self.n))
        else:
            need(archive.load("format.npy")[2].replace(b"\0", b"") == b"csr", "X is not CSR", BAD)
            parts = (archive.load(f"{name}.npy")[3] for name in ("indptr", "indices", "data"))
            starts, columns, values = parts
            for i, j in itertools.pairwise(map(int, starts)):
                row = sorted(zip(map(int, columns[i:j]), values[i:j]))
                yield "", [k for k, _ in row], [v for _, v in row]

    def npz_targets(self, archive: Archive) -> None:
        dtype, shape, content, flat = archive.load("y.npy")
        self.y, self.y_columns = [v + 0.0 for v in flat or ()], math.prod(shape[1:])
        if dtype[1] == "U":
            code, size = "utf-32-le" if dtype[0] == "<" else "utf-32-be", 4 * int(dtype[2:])
            parts = [content[i : i + size] for i in range(0, len(content), size)]
            self.y = [part.decode(code).rstrip("\0") for part in parts]
        if "sample_weight.npy" in archive.members:
            self.weights = archive.load("sample_weight.npy", (self.n,))[3].tolist()

    def digests(self) -> tuple[str, str]:
        """of X and of y"""
        ints = little("q", self.n, self.p, *self.starts, *self.columns)
        x = digest(b"dualgap-matrix-1\n", ints, little("d", *self.values))
        if self.text:
            texts = (little("q", len(t.encode())) + t.encode() for t in self.y)
            return x, digest(b"dualgap-text-1\n", little("q", self.n), *texts)
        sizes = little("q", self.n, self.y_columns)
        return x, digest(b"dualgap-numbers-1\n", sizes, little("d", *self.y))

    def rows(self, power: int) -> Iterator[tuple[Any, list[int]]]:
        if power not in self.powers:
            self.powers[power] = [v**power for v in self.powers[1]]
        pairs, x = itertools.pairwise(self.starts), self.powers[power]
        return ((self.columns[i:j], x[i:j]) for i, j in pairs)

    def times(self, w: Any, power: int = 1) -> list[Fraction]:
        """Σ_j x_ij w_j for each sample, or with the squares of x"""
        v, unit = integers(w)
        unit *= self.unit**power
        sums = (sum(map(mul, x, map(v.__getitem__, js))) for js, x in self.rows(power))
        return [Fraction(total, unit) for total in sums]

    def transposed(self, c: Any, power: int = 1) -> list[Fraction]:
        """Σ_i c_i x_ij for each feature, or with the squares of x"""
        (v, unit), u = integers(c), [0] * self.p
        for factor, (js, x) in zip(v, self.rows(power)):
            for j, x_ij in zip(js, x) if factor else ():
                u[j] += factor * x_ij
        return [Fraction(total, unit * self.unit**power) for total in u]


class Problem:
    """A problem of the file: what is stated, and the checks of what is claimed."""

    def __init__(self, number: int, stated: Any, facts: Any, archive: Archive, data: Data) -> None:
        names = "seal statement claims repairs arrays"
        seal, statement, claims, repairs, arrays = fields(stated, names)
        sealed = {k: stated[k] for k in names.split()[1:]} | {"data": facts}
        text = json.dumps(sealed, sort_keys=True, separators=(",", ":")).encode()
        reason = "the seal does not match: statement, claims or repairs were changed"
        need(digest(text) == seal, reason)
        names = "loss penalty lam intercept scaling classes targets"
        loss, penalty, lam, self.intercept, scaling, K, targets = fields(statement, names)
        self.loss, self.data, self.K, n, p = Loss(loss), data, K, data.n, data.p
        self.l1, self.l2 = map(real, fields(penalty, "l1 l2"))
        self.lam, self.kappa = real(lam), real(scaling)
        self.free, self.penalised = (self.intercept == kind for kind in ("free", "penalised"))
        good = self.free or self.penalised or self.intercept == "none"
        need(good and type(K) is int, "unknown intercept or classes", BAD)
        good = self.lam > 0 and self.kappa > 0 and self.l1 >= 0 and self.l2 >= 0
        need(good, "lam and scaling must be above 0, l1 and l2 not below")
        need(K > 1 if self.loss.name in CLASSES else K == 1, "wrong number of classes")
        self.claims = fields(claims, "primal dual gap intercept_radius")
        wide, self.arrays = (K,) if K > 1 else (), dict[str, Any]()
        shapes = {"w": (p, *wide), "b": (K,), "a": (n, *wide), "zeros": (p, *wide)}
        shapes |= dict.fromkeys(("weights", "labels"), (n,))
        shapes |= dict.fromkeys(("penalty_weights", "low", "high", "centre"), (p,))
        need({"w", "b", "a"} <= set(arrays), "w, b or a is missing", BAD)
        self.digests = {name: f"SHA-256 {sha!a:.70}" for name, sha in arrays.items()}
        for name, sha in arrays.items():
            dtype, _, content, values = archive.load(f"{number}/{name}.npy", shapes[name])
            form = "|i1" if name in ("zeros", "labels") else "<f8"
            need(dtype == form, f"{name}: dtype {dtype}, not {form}", BAD)
            need(digest(content) == sha, f"{name}: SHA-256 differs from the header's")
            most = INF if name in ("penalty_weights", "low", "high") else sys.float_info.max
            need(all(abs(v) <= most for v in values), f"{name} has entries that are not finite")
            self.arrays[name] = values.tolist()
        self.s = list(map(Fraction, self.arrays.get("weights", [1.0] * n)))
        self.S, theirs = sum(self.s), data.weights or self.arrays.get("weights") or [1.0]
        need(min(self.s) >= 0 and self.S, "weights are negative, or all 0")
        good = theirs == self.arrays.get("weights", [theirs[0]] * len(theirs))
        need(good, "weights: they are not the sample_weight of the data")
        self.omega = self.arrays.get("penalty_weights", [1.0] * p)
        need(min(self.omega, default=0) >= 0, "penalty_weights are negative")
        self.low, self.high = self.arrays.get("low", [-INF] * p), self.arrays.get("high", [INF] * p)
        self.read_targets(*fields(targets, "column codes"))
        self.read_a(repairs)

    def read_targets(self, column: int, codes: Any) -> None:
        data, name, self.codes = self.data, self.loss.name, codes
        need(type(column) is int and 0 <= column < data.y_columns, "there is no such y", BAD)
        y: list[Any] = data.y[column :: data.y_columns]
        if codes is not None:
            table = {k if data.text else float(real(k)): real(v) for k, v in codes}
            need(len(table) == len(codes) and set(y) <= set(table), "not one code for each label")
            y = [table[v] for v in y]
        need(not isinstance(y[0], str) and all(map(math.isfinite, y)), "y are not finite numbers")
        exact = {v: int(v) if v == int(v) else Fraction(v) for v in set(y)}
        good = set(y) <= {-1, 1} if name in SIGNS else name != "poisson" or min(y) >= 0
        good = set(y) <= set(range(self.K)) if name in CLASSES else good
        need(good, f"a y is not allowed for {name}")
        self.y = [exact[v] for v in y]

    def read_a(self, repairs: Any) -> None:
        K, fixed, common = self.K, set(), 1
        self.a = a = list(map(Fraction, self.arrays["a"]))
        for index, above, below in repairs:
            top, bottom = int(above, 16), int(below, 16)
            good = (hex(top), hex(bottom)) == (above, below) and bottom > 0 and index not in fixed
            need(good and type(index) is int and 0 <= index < len(a), "a repair is malformed", BAD)
            a[index], common = Fraction(top, bottom), math.lcm(common, bottom)
            need(common.bit_length() < 1 << 17, "repairs have too large a denominator", BAD)
            fixed.add(index)
        for i, y in enumerate(self.y if K > 1 else ()):
            a[i * K + y] -= sum(a[i * K : i * K + K])

    def describe(self) -> Iterator[str]:
        words = "".join(f", {k} = {float(v)!r}" for k, v in self.loss.given.items())
        sizes = f"{self.data.n} samples, {self.data.p} features, {self.K} class(es)"
        yield f"loss {self.loss.name}{words}; {sizes}; codes of y: {self.codes!a:.200}"
        lam, l1, l2, kappa = (repr(float(v)) for v in (self.lam, self.l1, self.l2, self.kappa))
        scaled = f" (scaling {kappa})" if self.penalised else ""
        yield f"lambda = {lam}; penalty l1 = {l1}, l2 = {l2}; intercept: {self.intercept}{scaled}"
        for name in ("weights", "penalty_weights", "low", "high"):
            if name in self.digests or name == "weights":
                yield f"{name}: {self.digests.get(name, '1 for each sample')}"

    def check(self) -> Iterator[str]:
        yield from self.describe()
        self.bound()
        zeros, labels = self.zeros(), self.labels()
        primal, dual, gap = map(float.fromhex, self.claims[:3])
        short = float(decimal.Context(2, rounding=decimal.ROUND_CEILING).plus(dec(gap)))
        more = f"; {zeros} zeros and {labels} signs of every optimum" if zeros or labels else ""
        told = f"objective <= {primal!r}, no model below {dual!r}"
        yield f"VERIFIED gap <= {short:.1e} ({told}){more}"

    def bound(self) -> None:
        """P(w, b), rounded up, and D(a), rounded down"""
        K, s, lam, data = self.K, self.s, self.lam, self.data
        factors = {
            v: (Fraction(v) * self.l1, Fraction(v) * self.l2) for v in {1.0, *self.omega} - {INF}
        }
        self.u, self.z, P, D = list[Any](), list[Any](), ZERO, ZERO
        for k in range(K):
            b, w = Fraction(self.arrays["b"][k]), self.arrays["w"][k::K]
            need(b == 0 or self.intercept != "none", "b is not 0, but there is no intercept")
            self.z.append([v + b for v in data.times(w)])
            c = [v * a for v, a in zip(s, self.a[k::K])]
            total = sum(c, ZERO)
            need(not self.free or not total, f"Σ s a = {dec(total):.20g}, not 0 (free intercept)")
            self.u.append([v / (lam * self.S) for v in data.transposed(c)])
            parts = list(zip(w, self.u[k], self.omega, self.low, self.high))
            if self.penalised:
                parts.append((b / self.kappa, total * self.kappa / (lam * self.S), 1.0, -INF, INF))
            for j, (w_j, u_j, omega, low, high) in enumerate(parts):
                good = low <= w_j <= high and (omega < INF or w_j == 0)
                need(good, f"P is infinite: coefficient {j} is out of bounds")
                if omega < INF and (w_j or u_j or not low <= 0 <= high):
                    (l1, l2), v = factors[omega], Fraction(w_j)
                    worst = penalty_conjugate(u_j, l1, l2, low, high)
                    need(worst < INF, f"D(a) is infinite: for feature {j}, Σ s a x is too large")
                    P, D = P + lam * (l1 * abs(v) + l2 * v * v / 2), D - lam * worst
        self.conjugates = [
            weight and self.loss.conjugate(self.a[i * K : i * K + K], self.y[i], f"sample {i}")
            for i, weight in enumerate(s)
        ]
        values = (
            self.loss.value(zs, y)[1] if v else 0 for zs, y, v in zip(zip(*self.z), self.y, s)
        )
        P += sum(map(mul, s, values)) / self.S
        D -= sum(map(mul, s, self.conjugates)) / self.S
        primal, dual, gap = map(real, self.claims[:3])
        self.gap = P - D
        checks = (P, primal, "P(w, b) <= claimed primal"), (dual, D, "claimed dual <= D(a)")
        for left, right, words in (*checks, (P - D, gap, "P(w, b) - D(a) <= claimed gap")):
            by = f"{dec(left):.20g} > {dec(right):.20g}, by {dec(left - right):.3g}"
            need(left <= right, f"{words} does not hold: {by}")

    def zeros(self) -> int:
        claims, free = self.arrays.get("zeros", []), self.free
        need(set(claims) <= {0, 1}, "zeros: not 0 and 1")
        need(self.loss.modulus or not any(claims), "zeros: the conjugate is not strongly convex")
        means = self.data.transposed(self.s) if any(claims) and free else [ZERO] * self.data.p
        squares = self.data.transposed(self.s, 2) if any(claims) else []
        for j, k in (divmod(i, self.K) for i, claim in enumerate(claims) if claim):
            omega, low, high, u = self.omega[j], self.low[j], self.high[j], self.u[k][j]
            if omega < INF and not low == high == 0:
                variance = squares[j] / self.S - (means[j] / self.S) ** 2
                radius2 = 2 * self.gap * variance / (self.loss.modulus * self.lam**2)
                edge = Fraction(omega) * self.l1
                above = high == 0 or (edge > u and (edge - u) ** 2 > radius2)
                below = low == 0 or (edge > -u and (edge + u) ** 2 > radius2)
                good = low <= 0 <= high and above and below
                need(good, f"zeros: coefficient {j} of class {k} is not proven")
        return int(sum(claims))

    def distances(self, factors: list[Fraction]) -> list[Fraction]:
        """Σ_j (x_ij − m_j)² f_j for each sample, with m the centre"""
        m = list(map(Fraction, self.arrays.get("centre", [0.0] * self.data.p)))
        cross = self.data.times([v * f for v, f in zip(m, factors)])
        start = sum(v * v * f for v, f in zip(m, factors))
        return [start + x - 2 * v for x, v in zip(self.data.times(factors, 2), cross)]

    def radii(self) -> list[Any]:
        """Upper bounds of r_i"""
        still = (v == INF or a == b for v, a, b in zip(self.omega, self.low, self.high))
        moduli = [INF if held else Fraction(v) * self.l2 for held, v in zip(still, self.omega)]
        large = 1 << BITS + math.ceil(max((v for v in moduli if v < INF), default=1)).bit_length()
        inverse = [Fraction(math.ceil(large / v), large) if 0 < v < INF else ZERO for v in moduli]
        far = self.distances([Fraction(v == 0) for v in moduli])  # not 0 where r_i is infinite
        more = 0 if not self.penalised else self.kappa**2 / self.l2 if self.l2 else INF
        squares = (2 * self.gap / self.lam * (v + more) for v in self.distances(inverse))
        return [
            INF
            if wild or v == INF
            else Fraction(math.isqrt(math.floor(v * 4**BITS)) + 1, 1 << BITS)
            for v, wild in zip(squares, far)
        ]

    def labels(self) -> int:
        claims, radius = self.arrays.get("labels", []), self.claims[3]
        need(set(claims) <= {-1, 0, 1}, "labels: not -1, 0 and 1")
        need(self.free or (radius is None and "centre" not in self.arrays), "no free intercept")
        if radius is None and not any(claims):
            return 0
        need(self.K == 1 and (radius or not self.free), "labels: several classes, or no radius")
        t, r, z = real(radius) if radius else ZERO, self.radii(), self.z[0]
        need(t >= 0, "intercept_radius is below 0")
        for sign in (1, -1) if self.free else ():
            total = ZERO
            for i, (weight, y, a) in enumerate(zip(self.s, self.y, self.a)):
                if weight and r[i] < t:
                    end = z[i] + sign * (t - r[i])
                    rise = self.loss.value((end,), y)[0] + a * end
                    if rise >= self.loss.value((z[i],), y)[1] + a * z[i]:
                        total += weight * max(rise + self.loss.conjugate([a], y, "", 0), ZERO)
            need(total > self.gap * self.S, "intercept_radius is not proven")
        for i, claim in enumerate(claims):
            need(not claim or int(claim) * z[i] > r[i] + t, f"labels: sample {i} is not proven")
        return int(sum(map(abs, claims)))


def check(path: str, proof: str, target: str = "", zero_based: bool = False) -> Iterator[str]:
    """Lines to print; StopError (or another error of a damaged file) ends them."""
    with Archive(proof) as archive:
        need(archive.getinfo("header.json").file_size < 1 << 26, "header.json is too large", BAD)
        header = json.loads(archive.read("header.json"))
        kind, version, _, facts, problems = fields(header, "format version producer data problems")
        need((kind, repr(version)) == ("dualgap-proof", "1"), "not a proof of version 1", BAD)
        hints = facts.pop("hints", {})
        n, p, *digests = fields(facts, "samples features X y")
        names = [f"{k}/{name}.npy" for k, one in enumerate(problems) for name in one["arrays"]]
        need(sorted(archive.members) == sorted([*names, "header.json"]), "wrong members", BAD)
        need(type(n) is int and type(p) is int and n > 0 <= p and problems, "no problem", BAD)
        column, zero = target or str(hints.get("target") or ""), hints.get("zero_based") is True
        data = Data(path, n, p, column, zero_based or zero)
        for name, found, told in zip("Xy", data.digests(), digests):
            need(found == told, f"{name}: SHA-256 of the data differs from the header's")
        for number, one in enumerate(problems):
            try:
                yield from Problem(number, one, facts, archive, data).check()
            except StopError as stop:
                raise StopError(f"problem {number}: {stop.args[0]}", stop.args[1]) from None


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
