"""dgcheck DATA PROOF: checks a proof file of dualgap in exact arithmetic (docs/proof-format.md).
It shares no code with dualgap and needs the standard library only, so that this file can be copied and run alone.
Every float is a rational number: sums over the data are sums of integers; exp and log are enclosed.
Exit code 0: verified; 1: refused, since something does not hold; 2: unreadable."""
import argparse, ast, csv, decimal, hashlib, importlib, json, math, os, re, struct, sys, zipfile
from array import array
from fractions import Fraction
from itertools import accumulate, chain, compress, pairwise
from operator import ge, gt, le, lt, mul, sub

INF, ZERO, ONE, BITS, GOOD, LIMIT, BAD = math.inf, Fraction(0), Fraction(1), 512, 140, 1 << 30, "UNREADABLE"
DIGITS = decimal.Context(50, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
SIGNS, CLASSES = ("hinge", "smoothed-hinge", "squared-hinge", "logistic"), ("ordinal", "softmax", "multiclass-hinge")
LOSSES = dict.fromkeys(("hinge", "logistic", "poisson", "softmax", "ordinal"), "") | {"huber": "delta", "quantile": "q"}
LOSSES |= dict.fromkeys(("squared", "smoothed-hinge", "squared-hinge", "multiclass-hinge"), "gamma")  # their parameters
LOSSES |= {"epsilon-insensitive": "epsilon", "squared-epsilon-insensitive": "epsilon gamma"}
LOSSES |= {"gamma": "", "tweedie": "power", "negative-binomial": "theta", "one-class": "nu"}
MEANS = ("poisson", "gamma", "tweedie", "negative-binomial")  # the logarithm is their link, and y >= 0
TYPES = dict(zip(("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"), "fdbhiqBHIQ?"))
is_number = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*").fullmatch

class StopError(Exception): """Ends the check: a reason and a verdict."""
def need(condition, reason, verdict="REFUSED"):
    if not condition: raise StopError(reason, verdict)
def fields(value, names):
    need(set(value) == set(names.split()), f"the keys are not exactly {names}", BAD)
    return [value[name] for name in names.split()]
def unique(pairs):
    need(len(dict(pairs)) == len(pairs), "a key of the header, or a repair, occurs twice", BAD)
    return dict(pairs)
def real(text):  # a finite float, as float.hex writes it
    value = float.fromhex(text)
    need(value.hex() == text and math.isfinite(value), f"{text!a:.50} is no finite float", BAD)
    return Fraction(value)
def digest(*parts):  # SHA-256 of bytes and of little-endian numbers
    packed = (v if isinstance(v, bytes) else struct.pack(f"<{len(v[1])}{v[0]}", *v[1]) for v in parts)
    return hashlib.sha256(b"".join(packed)).hexdigest()
def integers(values):  # integers, and the denominator that makes them the values
    ratios = [v.as_integer_ratio() for v in values]
    common = math.lcm(*{q for _, q in ratios})
    return [n * (common // q) for n, q in ratios], common
def dec(q): return DIGITS.divide(*map(decimal.Decimal, q.as_integer_ratio()))
def enclose(d, slack=1 << BITS - GOOD):
    """Two numbers around d, within 2^-140 of itself and slack 2^-512; the true error of d is below 1e-44"""
    n, q = d.as_integer_ratio()
    middle = (n << BITS) // q
    error = (abs(middle) >> GOOD) + slack + 2
    return Fraction(middle - error, 1 << BITS), Fraction(middle + error, 1 << BITS)
def exp(z):
    need(z <= 10000, "P(w, b) is too large: it has exp(z) with z > 10000")
    low, high = enclose(DIGITS.exp(dec(max(z, Fraction(-10000)))), 0) if z else (ONE, ONE)
    return (max(low, ZERO) if z > -10000 else ZERO), high
def log(q):  # two numbers around log q; log 1 = 0 is exact
    return (ZERO, ZERO) if q == 1 else enclose(DIGITS.ln(dec(q)))
def log1p(low, high):  # two numbers around log(1 + x), low <= x <= high
    if high < Fraction(1, 1 << 70): return low - low * low, high  # x − x² <= log(1 + x) <= x
    bottom, above = log(1 + low)
    return bottom, above + high - low  # the slope of log(1 + x) is at most 1
def entropy(side, *shares):  # Σ s log s, rounded down (side 0) or up (1)
    return sum((s * log(s)[side] for s in shares if s > 0), ZERO)
def most(u, l1, l2, low, high):  # the most of u v − l1 |v| − l2 v²/2 for low <= v <= high; infinite if there is no most
    excess = max(abs(u) - l1, ZERO)
    size = excess / l2 if l2 else INF if excess else ZERO
    v = min(max(size if u > 0 else -size, low), high)
    return INF if abs(v) == INF else u * (v := Fraction(v)) - (l1 and l1 * abs(v)) - (l2 and l2 * v * v / 2)
def root(q):  # an upper bound of √q, within 2^-512
    return Fraction(math.isqrt(math.floor(q * 4**BITS)) + 1, 1 << BITS) if q else ZERO

class Group:
    """edge ‖w‖ + Σ l1_j |w_j| + l2 ‖w‖²/2 for coefficients w of a group, all >= 0 if it is positive"""
    def __init__(self, edge, l1, l2, positive): self.edge, self.l1, self.l2, self.positive = edge, l1, l2, positive

    def value(self, w):  # rounded up
        need(not self.positive or min(w) >= 0, "P is infinite: a coefficient of a group is below 0")
        square = sum(v * v for v in w)
        return self.edge * root(square) + sum(map(mul, self.l1, map(abs, w))) + self.l2 * square / 2
    def excess(self, u, room):  # the sum of squares of what l1 leaves of u, moved by up to room
        return sum(max((v if self.positive else abs(v)) + r - edge, 0) ** 2 for v, r, edge in zip(u, room, self.l1))
    def conjugate(self, u):  # rounded up; infinite outside of the domain
        left = self.excess(u, [0] * len(u))
        if left <= self.edge**2: return ZERO
        return (root(left) - self.edge) ** 2 / (2 * self.l2) if self.l2 else INF

class Loss:
    """φ and φ*, for z and a with an entry for each class; those of signs depend on yz and ya alone.
    All without exp and classes have φ*(−a) = ε|a| + γa²/2 − ya for low <= a <= high; φ is the conjugate of that."""
    def __init__(self, stated):
        self.name, *values = fields(stated, f"name {LOSSES[stated['name']]}")
        self.given = given = dict(zip(LOSSES[self.name].split(), map(real, values)))
        zero = ("epsilon", "q", "gamma" if self.name == "multiclass-hinge" else "")
        good = all(v > 0 or (v == 0 and k in zero) for k, v in given.items())
        good = good and max(given.get("q", 0), given.get("nu", 0)) <= 1
        need(good, "the loss needs gamma > 0, delta > 0, theta > 0, 0 < nu <= 1, epsilon >= 0, 0 <= q <= 1")
        need(1 < given.get("power", Fraction(3, 2)) < 2, "the loss needs 1 < power < 2")
        self.gamma, self.epsilon = given.get("gamma", Fraction(self.name == "huber")), given.get("epsilon", ZERO)
        self.modulus = {"logistic": 4, "softmax": 2}.get(self.name, self.gamma)  # of strong convexity of φ*
        wide = INF if self.name in MEANS or "squared" in self.name else ONE
        self.high = given.get("q", given.get("delta", 1 - given["nu"] if "nu" in given else wide))
        self.low = 0 if self.name in (*SIGNS, *MEANS) else self.high - 1 if {*given} & {"q", "nu"} else -self.high

    def value(self, zs, y):  # two numbers around φ(z; y)
        z, y = (y * zs[0], 1) if self.name in SIGNS else (zs[0], y)
        if self.name == "poisson": return tuple(v - y * z for v in exp(z))
        if self.name == "gamma": return tuple(y * v + z for v in exp(-z))
        if self.name == "tweedie":
            rate, left = self.given["power"] - 1, 2 - self.given["power"]
            falls = exp(-rate * z) if y else (ZERO, ZERO)
            return tuple(y * v / rate + u / left for v, u in zip(falls, exp(left * z)))
        if self.name == "negative-binomial":
            theta, top = self.given["theta"], z > 0  # y log(1 + θe^-z) + θ log(1 + e^z/θ)
            small = log1p(*(v * theta if top else v / theta for v in exp(-abs(z))))
            large = [v + abs(z) + (-u if top else u) for v, u in zip(small, log(theta)[:: -1 if top else 1])]
            return tuple(y * (v if top else u) + theta * (u if top else v) for v, u in zip(small, large))
        if self.name in ("softmax", "logistic"):  # log Σ exp(z_k) − z_y; the classes of logistic have z and 0
            *others, top = sorted(zs if self.name == "softmax" else (z, ZERO))
            low, high = (sum(ends, ZERO) for ends in zip(*(exp(v - top) for v in others)))
            start = top - (zs[y] if self.name == "softmax" else z)
            return tuple(start + v for v in log1p(low, high))
        exact = most(y - z, self.epsilon, self.gamma, self.low, self.high)
        if self.name == "multiclass-hinge":  # an upper bound for every τ, and equal for this one
            d = [self.gamma if k == y else v - zs[y] + 1 for k, v in enumerate(zs)]
            if not self.gamma: return max(d), max(d)
            tau = max((some - self.gamma) / m for m, some in enumerate(accumulate(sorted(d, reverse=True)), 1))
            exact = tau + sum(max(v - tau, 0) ** 2 for v in d) / (2 * self.gamma) - self.gamma / 2
        return exact, exact

    def conjugate(self, a, y, where, side=1):
        """φ*(−a; y), rounded down (side 0) or up (1); refused outside of the domain"""
        if self.name in CLASSES:
            shares = [(k == y) - v for k, v in enumerate(a)]
            need(min(shares) >= 0, f"{where}: an -a of another class is below 0, or their sum exceeds 1")
            return entropy(side, *shares) if self.name == "softmax" else self.gamma / 2 * sum(v * v for v in a) - a[y]
        what, v, y = ("y·a", y * a[0], 1) if self.name in SIGNS else ("a", a[0], y)
        what, v = ("1 + a", 1 + v) if self.name == "gamma" else ("y - a", y - v) if self.name in MEANS else (what, v)
        if self.name == "tweedie" and y: v = ZERO  # a may be any number
        if self.name == "negative-binomial": self.high = y + self.given["theta"]
        if not self.low <= v <= self.high:
            limit = f"exceeds {dec(self.high):.20g}" if v > self.high else f"is below {dec(self.low):.20g}"
            raise StopError(f"{where}: {what} = {dec(v):.20g} {limit}", "REFUSED")
        if self.name == "gamma": return v and v * (log(v / y)[side] - 1)
        if self.name == "negative-binomial":
            shift = a[0] * log(self.given["theta"])[(a[0] < 0) == side]
            return sum(s and s * log(s / self.high)[side] for s in (v, self.high - v)) - shift
        if self.name == "tweedie": return self.tweedie(a[0], y, side)
        if self.name in ("logistic", "poisson"):
            return entropy(side, v) - v if self.name == "poisson" else entropy(side, v, 1 - v)
        return self.epsilon * abs(v) - v * y + (self.gamma and self.gamma * v * v / 2)

    def tweedie(self, a, y, side):
        """The conjugate is the least sum, over t >= 0 and v = t - a >= 0, of those of the terms of φ at -t and v, and
        the most of -a z - φ(z). So any t bounds it from above, and any z from below; both are best at φ'(z) = -a."""
        rate, left = self.given["power"] - 1, 2 - self.given["power"]
        low, high = -4000.0, 4000.0
        for _ in range(70):
            z = (low + high) / 2
            rise, fall = (math.exp(min(v, 700.0)) for v in (float(left) * z, -float(rate) * z))
            low, high = (z, high) if rise - float(y) * fall < -float(a) else (low, z)
        if y and not side: return -a * Fraction(z) - self.value((Fraction(z),), y)[1]
        t = a + Fraction(rise) if a > 0 else y * Fraction(fall)
        v = t - a
        return (t and t * (log(t / y)[side] - 1)) / rate + (v and v * (log(v)[side] - 1)) / left

class Archive(zipfile.ZipFile):
    """A ZIP of NPY arrays. Nothing is expanded before its size is known to be right."""
    def __init__(self, path):
        super().__init__(path)
        good = all(m.compress_type in (0, 8) and not m.flag_bits & 1 for m in self.infolist())
        need(good and len(set(self.namelist())) == len(self.infolist()), "not a plain ZIP archive", BAD)
        size = sum(m.file_size for m in self.infolist())
        need(size <= LIMIT + 32 * os.path.getsize(path), f"{size} bytes, once expanded", BAD)

    def load(self, name, wanted=None):  # dtype, shape and bytes of an array, and its numbers or texts in C's order
        with self.open(name) as file:
            head = file.read(10)
            length = int.from_bytes(head[8:], "little")
            need(head[:8] == b"\x93NUMPY\1\0" and length <= 4096, f"{name} is no NPY array of version 1", BAD)
            header = ast.literal_eval(file.read(length).decode("latin-1").strip())
            dtype, fortran, shape = fields(header, "descr fortran_order shape")
            need(wanted in (None, shape), f"{name}: its shape is not {wanted}", BAD)
            need(dtype[1:] in TYPES or dtype[1] in "SU", f"{name}: dtype {dtype!a:.50}", BAD)
            width, count = int(dtype[2:]) * (4 if dtype[1] == "U" else 1), math.prod(shape)
            need(self.getinfo(name).file_size == 10 + length + count * width, f"{name}: its size is wrong", BAD)
            content = file.read(count * width)
        if dtype[1] in "SU":
            code = "utf-8" if dtype[1] == "S" else "utf-32-le" if dtype[0] == "<" else "utf-32-be"
            texts = [str(content[i : i + width], code).rstrip("\0") for i in range(0, len(content), width)]
            return dtype, shape, content, texts
        flat = array("d", struct.unpack(f"{dtype[0].replace('|', '=')}{count}{TYPES[dtype[1:]]}", content))
        if fortran and len(shape) > 1: flat = array("d", chain(*(flat[i :: shape[0]] for i in range(shape[0]))))
        return dtype, shape, content, flat

def npz_rows(archive, n, p):  # labels, weights (if there are any), columns and values of each sample
    (_, shape, _, y), names = archive.load("y.npy"), archive.namelist()
    s, k = archive.load("sample_weight.npy", (n,))[3] if "sample_weight.npy" in names else [], math.prod(shape[1:])
    need(len(y) == n * k, f"the data have not {n} samples, as the proof has")
    if "X.npy" in names:
        flat = archive.load("X.npy", (n, p))[3]
        rows = ((range(p), flat[i * p : i * p + p]) for i in range(n))
    else:
        need(archive.load("format.npy")[3] == ["csr"], "X is not CSR", BAD)
        starts, columns, values = (archive.load(f"{name}.npy")[3] for name in ("indptr", "indices", "data"))
        pairs = (sorted(zip(map(int, columns[i:j]), values[i:j])) for i, j in pairwise(map(int, starts)))
        rows = (([j for j, _ in row], [v for _, v in row]) for row in pairs)
    yield from ((y[i * k : i * k + k], s[i : i + 1], *row) for i, row in enumerate(rows))

def text_rows(lines, name, target, features, base):  # the same; names of columns, and their numbers from 1, are texts
    first = next(lines, "")
    if ".csv" not in name.lower() and (":" in first or not re.search("[,;\t]", first)):  # LIBSVM
        for line in filter(None, (line.partition("#")[0].strip() for line in chain([first], lines))):
            label, *rest = (re.sub(r"\sqid:\S*", "", line) if "qid:" in line else line).split(None, 1)
            parts = rest[0].replace(":", " : ").split() if rest else []
            need(parts[1::3] == [":"] * len(parts[::3]), f"{line!a:.70}: not pairs column:value", BAD)
            yield [label], [], [int(j) - base for j in parts[::3]], list(map(float, parts[2::3]))
        return
    rows = csv.reader(chain([first], lines), delimiter=max(",;\t", key=first.count), strict=True)
    head = next(rows)
    numbers = [str(j) for j in range(1, len(head) + 1)]
    called = (target or numbers[-1], *features)
    # Without a header, columns are called by their numbers, and those of X have numbers in the first line.
    bare = set(called) <= set(numbers)
    bare = bare and all(is_number(head[int(k) - 1]) for k in features or numbers if k != called[0])
    need(set(called) <= {*head, *numbers}, f"no such column: one of {called!a:.90}; see --target", BAD)
    at, *chosen = ((numbers if bare or name not in head else head).index(name) for name in called)
    chosen = chosen or [j for j in range(len(head)) if j != at]
    for row in filter(None, chain([head] if bare else [], rows)):
        need(len(row) == len(head), f"{row!a:.70}: not {len(head)} fields", BAD)
        yield [row[at]], [], range(len(chosen)), [float(row[j]) for j in chosen]

class Data:
    """X as rows of nonzeros, y and their digests; products with X are exact."""
    def __init__(self, path, n, p, target, features, base):
        self.n, self.p, self.y, self.weights, rows, least = n, p, [], [], [], 0
        self.named = f"X: {len(features) or 'all other'} columns, y: {target!a}, " if target or features else "y: "
        with open(path, "rb") as file: magic = file.read(2)
        packer = importlib.import_module({b"\x1f\x8b": "gzip", b"BZ": "bz2", b"\xfd7": "lzma"}.get(magic, "builtins"))
        with Archive(path) if magic == b"PK" else packer.open(path, "rt", encoding="utf-8-sig", newline="") as file:
            texts = magic != b"PK" and text_rows(file, os.path.basename(path), target, features, base)
            for labels, weights, columns, values in texts or npz_rows(file, n, p):
                least = min(least, *columns[:1], 0)
                good = least >= -1 and len(columns) == len(values) and all(map(lt, columns, columns[1:]))
                need(good, f"sample {len(rows)}: columns are not ascending", BAD)
                if not all(values): columns, values = list(compress(columns, values)), list(filter(None, values))
                rows.append((array("q", columns), array("d", values)))
                self.y += labels
                self.weights += weights
        if least == -1: rows = [(array("q", [j + 1 for j in columns]), values) for columns, values in rows]  # LIBSVM
        if texts and all(map(is_number, self.y)): self.y = list(map(float, self.y))
        self.text, self.y_columns = isinstance(self.y[0], str), len(labels)
        columns, values = (array(code, b"".join(row[k] for row in rows)) for k, code in enumerate("qd"))
        small, large = (end(map(abs, values), default=1.0) for end in (min, max))
        self.unit = 1 << max(0, 53 - math.frexp(small)[1])  # all are multiples of the last bit of the smallest
        exact = 1e-99 < small <= large < 1e99 and list(map(int, map(float(self.unit).__mul__, values)))  # fast
        x, self.unit = (exact, self.unit) if exact else integers(values)
        starts = list(accumulate((len(js) for js, _ in rows), initial=0))
        self.rows = [(js, x[i:j]) for (js, _), i, j in zip(rows, starts, starts[1:])]
        need(len(rows) == n and max(columns, default=-1) < p, f"the data have not {n} samples of at most {p} features")
        texts = chain(*((("q", [len(t)]), t) for t in map(str.encode, self.y if self.text else ())))
        numbers = ("q", (n, self.y_columns)), ("d", [v + 0.0 for v in self.y if not self.text])
        y = (b"dualgap-text-1\n", ("q", [n]), *texts) if self.text else (b"dualgap-numbers-1\n", *numbers)
        self.digests = digest(b"dualgap-matrix-1\n", ("q", (n, p, *starts)), ("q", columns), ("d", values)), digest(*y)

    def stacked(self, rows, K):  # rows (sample, threshold, _) of X, with -1 for each gap below the threshold
        other, given, extra = object.__new__(Data), self.rows, range(self.p, self.p + K - 2)
        stacked = [(array("q", [*given[i][0], *extra[:t]]), [*given[i][1], *[-self.unit] * t]) for i, t, _ in rows]
        vars(other).update(vars(self), rows=stacked, n=len(rows), p=self.p + K - 2)
        return other

    def times(self, w, power=1):  # Σ_j x_ij w_j for each sample, or with the squares of x
        v, unit = integers(w)
        rows = self.rows if power == 1 else ((js, map(mul, x, x)) for js, x in self.rows)
        return [Fraction(sum(map(mul, x, map(v.__getitem__, js))), unit * self.unit**power) for js, x in rows]
    def transposed(self, c, power=1):  # Σ_i c_i x_ij for each feature, or with the squares of x
        (v, unit), u = integers(c), [0] * self.p
        for factor, (js, x) in zip(v, self.rows):
            for j, x_ij in zip(js, x if power == 1 else map(mul, x, x)) if factor else ():
                u[j] += factor * x_ij
        return [Fraction(whole, unit * self.unit**power) for whole in u]
    def distances(self, m, factors):  # Σ_j (x_ij − m_j)² f_j for each sample
        start, cross = sum(v * v * f for v, f in zip(m, factors)), self.times(map(mul, m, factors))
        return [start + x - 2 * v for x, v in zip(self.times(factors, 2), cross)]

def check_problem(number, stated, facts, archive, data):
    """Lines to print. The numbers below are those of "What is checked" in docs/proof-format.md."""
    # 1. Seal, members, shapes, digests
    seal, statement, claims, repairs, told = fields(stated, "seal statement claims repairs arrays")
    sealed = {k: v for k, v in stated.items() if k != "seal"} | {"data": facts}
    good = digest(json.dumps(sealed, sort_keys=True, separators=(",", ":")).encode()) == seal
    need(good, "the seal does not match: statement, claims or repairs were changed")
    names = "loss penalty lam intercept scaling classes targets"
    loss, penalty, lam, intercept, kappa, K, targets = fields(statement, names)
    primal, dual, claimed, radius = fields(claims, "primal dual gap intercept_radius")
    need(intercept in ("none", "free", "penalised") and type(K) is int, "unknown intercept or classes", BAD)
    loss, n, p, free, penalised = Loss(loss), data.n, data.p, intercept == "free", intercept == "penalised"
    several, ordinal, gaps = K > 1 and loss.name not in (*CLASSES, *SIGNS), loss.name == "ordinal", []  # targets
    need(K > 1 if loss.name in CLASSES else K == 1 or several, "wrong number of classes")
    shapes = {"w": (p, K), "b": (K,), "a": (n, K), "zeros": (p, K), "weights": (n,), "labels": (n,), "offset": (n, K)}
    if ordinal: shapes |= {"w": (p,), "b": (K - 1,), "a": (n, 2), "offset": (n,)}
    shapes |= dict.fromkeys(("penalty_weights", "low", "high", "centre", "groups", "group_weights"), (p,))
    arrays = dict.fromkeys(("w", "b", "a"))  # these have to be there
    for name, sha in (arrays | told).items():
        shape = shapes[name] if K > 1 or name == "b" else shapes[name][:1]
        dtype, _, content, values = archive.load(f"{number}/{name}.npy", shape)
        need(dtype == ("|i1" if name in ("zeros", "labels") else "<f8"), f"{name}: dtype {dtype}", BAD)
        need(digest(content) == sha, f"{name}: SHA-256 differs from the header's")
        top = INF if name in ("penalty_weights", "low", "high") else sys.float_info.max
        need(all(abs(v) <= top for v in values), f"{name} has entries that are not finite")
        arrays[name] = values.tolist()
    defaults = {"weights": [1.0] * n, "penalty_weights": [1.0] * p, "low": [-INF] * p, "high": [INF] * p}
    arrays = defaults | {"labels": [0] * n, "centre": [0.0] * p, "zeros": [], "offset": [0.0] * n * K} | arrays
    # 2. Parameters, weights, targets, repairs of a
    grouped = "groups" in told
    parts = fields(penalty, "l1 l2 group") if grouped else [*fields(penalty, "l1 l2"), "0x0.0p+0"]
    lam, kappa, l1, l2, edge = map(real, (lam, kappa, *parts))
    need(min(lam, kappa) > 0 <= min(l1, l2, edge), "lam and scaling must be above 0, l1, l2 and group not below")
    omegas, lows, highs, zeros, labels = (arrays[k] for k in ("penalty_weights", "low", "high", "zeros", "labels"))
    s, S = list(map(Fraction, arrays["weights"])), sum(map(Fraction, arrays["weights"]))
    need(min(s) >= 0 < S and min(omegas, default=0) >= 0, "weights or penalty_weights are negative, or weights all 0")
    ours = arrays["weights"] if "weights" in told else data.weights[:1] * n
    need(data.weights in ([], ours), "weights: they are not the sample_weight of the data")
    column, codes = fields(targets, "column codes")
    need(type(column) is int and 0 <= column < data.y_columns, "there is no such y", BAD)
    need(not several or (data.y_columns == K and column == 0 and codes is None), "no target for each column of w", BAD)
    y, words, blind = data.y if several else data.y[column :: data.y_columns], "none", loss.name == "one-class"
    need(blind or facts["y"], "the file is about no y")
    if codes is not None:
        table = {k if data.text else float(real(k)): real(v) for k, v in codes}
        good = len(table) == len(codes) and {*table.values()} <= ({*range(K)} if K > 1 else {-1, 1})
        need(good and set(y) == set(table), "not one code, -1 or 1 or a class, for each label of y")
        words = (f"{k:.17g}" if not data.text else k if re.fullmatch(r"[\w .+-]+", k) else ascii(k) for k in table)
        words, y = ", ".join(f"{k} -> {float(v):g}" for k, v in zip(words, table.values())), [table[v] for v in y]
    y = [0.0] * n if blind else y
    need(not isinstance(y[0], str) and all(map(math.isfinite, y)), "y are not finite numbers")
    allowed = {-1, 1} if loss.name in SIGNS else set(range(K)) if loss.name in CLASSES else set(y)
    low = 5e-324 if loss.name == "gamma" else 0 if loss.name in MEANS else -INF
    need(set(y) <= allowed and min(y) >= low, f"a y is not allowed for {loss.name}")
    exact = {v: int(v) if v == int(v) else Fraction(v) for v in set(y)}
    y, a, common = [exact[v] for v in y], list(map(Fraction, arrays["a"])), 1
    for index, (above, below) in unique([(k, (above, below)) for k, above, below in repairs]).items():
        top, bottom = int(above[: 1 << 14], 16), int(below[: 1 << 14], 16)  # what is cut differs below
        good = (hex(top), hex(bottom)) == (above, below) and bottom > 0 and type(index) is int and 0 <= index < len(a)
        common = math.lcm(common, bottom)
        need(good and common.bit_length() < 1 << 17, "a repair is malformed, or all denominators are too large", BAD)
        a[index] = Fraction(top, bottom)
    for i, k in enumerate(y if K > 1 and not several and not ordinal else ()):
        a[i * K + k] -= sum(a[i * K : i * K + K])
    given = "".join(f", {k} = {float(v)!r}" for k, v in loss.given.items())
    yield f"loss {loss.name}{given}; {n} samples, {p} features, {K} class(es); {data.named}{column}; codes: {words}"
    scaled = f" (scaling {float(kappa)!r})" if penalised else ""
    yield f"lambda = {float(lam)!r}; penalty l1 = {float(l1)!r}, l2 = {float(l2)!r}; intercept: {intercept}{scaled}"
    for name in ("weights", *sorted({"penalty_weights", "low", "high", "groups", "group_weights", "offset"} & {*told})):
        yield f"{name}: " + (f"SHA-256 {told[name]}" if name in told else "1 for each sample")
    if ordinal:  # a row for each threshold next to a sample: is y above it? Its features are x and the gaps below
        need(K > 2 and free and radius is None and not {"zeros", "labels"} & {*told}, "more claims than gaps")
        rows = [(i, y[i] - k, k) for i in range(n) for k in (0, 1) if 0 <= y[i] - k < K - 1]
        ends = pairwise(map(Fraction, arrays["b"]))  # of gaps
        gaps = [(sum(compress(s, map(k.__eq__, y))), v - u) for k, (u, v) in enumerate(ends, 1)]
        need(all(min(each) > 0 for each in gaps), "the thresholds do not increase, or a class has no weight")
        arrays["w"], arrays["b"] = [*arrays["w"], *(gap for _, gap in gaps)], [-arrays["b"][0]]
        columns = zip(*((a[2 * i + k], s[i], 2 * k - 1, arrays["offset"][i]) for i, _, k in rows))
        a, s, y, arrays["offset"] = map(list, columns)
        data, n, S, K, loss = data.stacked(rows, K), len(rows), sum(s), 1, Loss({"name": "logistic"})
    # 3. to 6. P(w, b), rounded up, and D(a), rounded down
    us, zs, P, D = [], [], ZERO, ZERO
    far = [loss.given["nu"] * v / (lam * S) for v in data.transposed(s)] if blind else []  # the penalty is g(w − far)
    need(not (grouped and (blind or ordinal)), f"groups: not for {loss.name}")
    for k in range(K):
        b, w, c = Fraction(arrays["b"][k]), arrays["w"][k::K], list(map(mul, s, a[k::K]))
        total = sum(c)
        need(b == 0 or intercept != "none", "b is not 0, but there is no intercept")
        need(not free or not total, f"Σ s a = {dec(total):.20g}, not 0 (free intercept)")
        offset = list(map(Fraction, arrays["offset"][k::K]))  # φ(z + o) has the conjugate φ*(−a) + a·o
        zs.append([v + b + o for v, o in zip(data.times(w), offset)])
        D -= sum(map(mul, c, offset)) / S
        us.append([v / (lam * S) for v in data.transposed(c)])
        if blind: w, D = list(map(sub, map(Fraction, w), far)), D - lam * sum(map(mul, us[k], far))
        parts = [] if grouped else list(zip(w, us[k], omegas, lows, highs))
        parts += [(b / kappa, total * kappa / (lam * S), 1.0, -INF, INF)] if penalised else []
        for j, (v, u, omega, low, high) in enumerate(parts):
            need(low <= v <= high and (omega < INF or v == 0), f"P is infinite: coefficient {j} is out of bounds")
            if omega < INF and (v or u or not low <= 0 <= high):
                l1_j, l2_j, size = Fraction(omega) * l1, Fraction(omega) * l2, abs(Fraction(v))
                worst = most(u, l1_j, l2_j, low, high)
                need(worst < INF, f"D(a) is infinite: for feature {j}, Σ s a x is too large")
                P, D = P + lam * (l1_j * size + l2_j * size * size / 2), D - lam * worst
    for u, (weight, gap) in zip(us[0][p:], gaps):  # ψ(t) = −log(1 − e^−t), ψ*(−τ) = τ log τ − (1 + τ) log(1 + τ)
        tau, P = -u * lam * S / weight, P - weight * log(1 - exp(-gap)[1])[0] / S
        need(tau >= 0, "D(a) is infinite: for a gap between thresholds, Σ s a is too large")
        D -= weight * (entropy(1, tau) - entropy(0, 1 + tau)) / S
    blocks = dict.fromkeys(arrays["groups"]) if grouped else {}
    for label in blocks:  # a group has the coefficients of its features for all classes
        own = [j for j, other in enumerate(arrays["groups"]) if other == label]
        facts = {(arrays["group_weights"][j], lows[j], highs[j]) for j in own}
        gamma, low, high = facts.pop()
        need(not facts and 0 <= gamma < INF == high and low in (0, -INF), "groups: unequal facts of one, or bounds")
        need(max(omegas[j] for j in own) < INF and not penalised, "groups: infinite weight, or penalised intercept")
        each, gamma = [(k, j) for k in range(K) for j in own], Fraction(gamma)
        block = Group(gamma * edge, [Fraction(omegas[j]) * l1 for _, j in each], gamma * l2, low == 0)
        worst = block.conjugate([us[k][j] for k, j in each])
        need(worst < INF, f"D(a) is infinite: for the group of feature {own[0]}, Σ s a x is too large")
        P, D = P + lam * block.value([Fraction(arrays["w"][j * K + k]) for k, j in each]), D - lam * worst
        blocks[label] = block, each
    used = [i for i in range(n) if s[i]]
    terms = [(i, a[i * K : i * K + K], [z[i] for z in zs], y[i]) for i in used]
    if several: terms = [(i, [a[i * K + k]], [zs[k][i]], y[i * K + k]) for i in used for k in range(K)]
    D -= sum(s[i] * loss.conjugate(own, target, f"sample {i}") for i, own, _, target in terms) / S
    P += sum(s[i] * loss.value(at, target)[1] for i, _, at, target in terms) / S
    gap = P - D
    for left, right, words in ((P, real(primal), "P(w, b) <= claimed primal"), (real(dual), D, "claimed dual <= D(a)"),
                               (gap, real(claimed), "P(w, b) - D(a) <= claimed gap")):
        need(left <= right, f"{words} does not hold: {dec(left):.20g} > {dec(right):.20g}, by {dec(left - right):.3g}")
    # 7. Zeros: wherever u may be at an optimum, g* has the slope 0 alone
    need(set(zeros) <= {0, 1} and set(labels) <= {-1, 0, 1}, "zeros: not 0 and 1, or labels: not -1, 0 and 1")
    if any(zeros):
        need(loss.modulus, "zeros: the conjugate is not strongly convex")
        means, squares = data.transposed(s) if free else [ZERO] * p, data.transposed(s, 2)
        spread = [2 * gap * (v / S - (m / S) ** 2) / (loss.modulus * lam**2) for v, m in zip(squares, means)]
        for block, each in blocks.values():
            room = [root(spread[j]) for _, j in each] if any(zeros[j * K + k] for k, j in each) else []
            u, under = [us[k][j] for k, j in each], le if block.l2 else lt
            whole = bool(room) and under(block.excess(u, room), block.edge**2) and (block.edge or block.l2)
            for (k, j), *at in zip(each, u, room, block.l1):
                alone = at[2] and under(at[1] + (at[0] if block.positive else abs(at[0])), at[2])
                need(not zeros[j * K + k] or whole or alone, f"zeros: coefficient {j} of class {k} is not proven")
        for j, k in (divmod(i, K) for i, claim in enumerate(zeros) if claim and not grouped):
            omega, low, high, u = omegas[j], lows[j], highs[j], us[k][j]
            if omega < INF and not low == high == 0:
                radius2 = spread[j]
                edge, over = Fraction(omega) * l1, (ge if omega and l2 else gt)  # g* has no kinks if ωl2 > 0
                above = high == 0 or (over(edge, u) and over((edge - u) ** 2, radius2))
                below = low == 0 or (over(edge, -u) and over((edge + u) ** 2, radius2))
                need(low <= 0 <= high and above and below, f"zeros: coefficient {j} of class {k} is not proven")
    # 8. Labels, with upper bounds of r_i
    need(free or (radius is None and "centre" not in told), "no free intercept")
    if radius is not None or any(labels):
        t, z = real(radius) if radius else ZERO, zs[0]
        need(K == 1 and t >= 0 and (radius or not free), "labels: several classes, or no radius, or one below 0")
        omegas = arrays["group_weights"] if grouped else omegas
        moduli = [INF if v == INF or low == high else Fraction(v) * l2 for v, low, high in zip(omegas, lows, highs)]
        large = 1 << BITS + math.ceil(max((v for v in moduli if v < INF), default=1)).bit_length()
        inverse = [Fraction(math.ceil(large / v), large) if 0 < v < INF else ZERO for v in moduli]
        centre, far = list(map(Fraction, arrays["centre"])), [Fraction(v == 0) for v in moduli]
        far, near = (data.distances(centre, factors) for factors in (far, inverse))  # r_i is infinite unless far is 0
        more = 0 if not penalised else kappa**2 / l2 if l2 else INF
        scale = 2 * gap / lam * 4**BITS
        r = [INF if wild or more == INF else Fraction(math.isqrt(math.floor(scale * (v + more))) + 1, 1 << BITS)
             for v, wild in zip(near, far)]
        for sign in (1, -1) if free else ():
            total = ZERO
            for i in (i for i in range(n) if s[i] and r[i] < t):
                end = z[i] + sign * (t - r[i])
                rise = loss.value((end,), y[i])[0] + a[i] * end
                if rise >= loss.value((z[i],), y[i])[1] + a[i] * z[i]:
                    total += s[i] * max(rise + loss.conjugate([a[i]], y[i], "", 0), ZERO)
            need(total > gap * S, "intercept_radius is not proven")
        for i, claim in enumerate(labels):
            need(not claim or int(claim) * z[i] > r[i] + t, f"labels: sample {i} is not proven")
    counts = [int(sum(map(abs, v))) for v in (zeros, labels)]
    more = f"; {counts[0]} zeros and {counts[1]} signs of every optimum" if any(counts) else ""
    told = f"objective <= {float.fromhex(primal)!r}, no model below {float.fromhex(dual)!r}"
    short = float(decimal.Context(2, rounding=decimal.ROUND_CEILING).plus(dec(real(claimed))))
    yield f"VERIFIED gap <= {short:.1e} ({told}){more}"

def check(data, proof, target, zero_based):  # lines to print; StopError (or another error of a damaged file) ends them
    with Archive(proof) as archive:
        need(archive.getinfo("header.json").file_size < 1 << 26, "header.json is too large", BAD)
        header = json.loads(archive.read("header.json"), object_pairs_hook=unique)
        kind, version, _, facts, problems = fields(header, "format version producer data problems")
        need((kind, repr(version)) == ("dualgap-proof", "1"), "not a proof of version 1", BAD)
        hints = facts.pop("hints", {})
        n, p, *digests = fields(facts, "samples features X y")
        names = [f"{k}/{name}.npy" for k, one in enumerate(problems) for name in one["arrays"]]
        need(sorted(archive.namelist()) == sorted([*names, "header.json"]), "wrong members", BAD)
        need(type(n) is int and type(p) is int and n > 0 <= p and problems, "no problem", BAD)
        target, features = target or str(hints.get("target") or ""), list(map(str, hints.get("features") or ()))
        data = Data(data, n, p, target, features, not (zero_based or hints.get("zero_based") is True))
        for name, found, told in zip("Xy", data.digests, digests):
            need(found == told or told is None, f"{name}: SHA-256 of the data differs from the header's")
        for number, stated in enumerate(problems):
            try:
                yield from check_problem(number, stated, facts, archive, data)
            except StopError as stop:
                raise StopError(f"problem {number}: {stop.args[0]}", stop.args[1]) from None

def main(argv=None):
    parser = argparse.ArgumentParser("dgcheck", description="Checks a proof in exact arithmetic.")
    parser.add_argument("data", help="LIBSVM (also .gz, .bz2, .xz), CSV or NPZ")
    parser.add_argument("proof")
    parser.add_argument("--target", default="", help="CSV: name or number (from 1) of y's column")
    parser.add_argument("--zero-based", action="store_true", help="LIBSVM: columns count from 0")
    verdict, encoding = "", sys.stdout.encoding or "utf-8"
    def show(line): print(line.encode(encoding, "backslashreplace").decode(encoding), flush=True)
    try:
        for line in check(**vars(parser.parse_args(argv))): show(line)
    except Exception as error:
        other = (f"{type(error).__name__}: {str(error)[:300]}", BAD)
        reason, verdict = error.args if isinstance(error, StopError) else other
        show(f"{verdict}: {reason}")
    return ["", "REFUSED", BAD].index(verdict)

if __name__ == "__main__": sys.exit(main())
