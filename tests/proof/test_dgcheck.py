"""dgcheck against proofs that are written and evaluated here, without a line of dualgap."""

import ast
import copy
import decimal
import gzip
import hashlib
import io
import itertools
import json
import math
import os
import pickle
import random
import shutil
import subprocess
import sys
import zipfile
from fractions import Fraction as Q

import numpy as np
import pytest

import dgcheck

INF = math.inf
CONTEXT = decimal.Context(90, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
TINY = Q(1, 10**70)  # the error of a function below, for the small numbers of these tests
PARAMETERS = {
    "squared": {"gamma": 0.75},
    "hinge": {},
    "smoothed-hinge": {"gamma": 0.5},
    "squared-hinge": {"gamma": 1.5},
    "logistic": {},
    "huber": {"delta": 0.625},
    "epsilon-insensitive": {"epsilon": 0.1},
    "squared-epsilon-insensitive": {"epsilon": 0.2, "gamma": 1.25},
    "quantile": {"q": 0.3},
    "poisson": {},
    "gamma": {},
    "tweedie": {"power": 1.3},
    "negative-binomial": {"theta": 1.7},
    "softmax": {},
    "multiclass-hinge": {"gamma": 0.8},
}
SIGNED = ("hinge", "smoothed-hinge", "squared-hinge", "logistic")
CLASSES = ("softmax", "multiclass-hinge")
MEANS = ("poisson", "gamma", "tweedie", "negative-binomial")


# A problem is a dict: X, y (as in the data), coded, codes, loss, l1, l2, lam, intercept, scaling,
# K, arrays (by name), repairs (flat index: fraction), claims. It is evaluated from its definition.


def log(q):
    d = CONTEXT.divide(decimal.Decimal(q.numerator), decimal.Decimal(q.denominator))
    return Q(CONTEXT.ln(d))


def exp(q):
    d = CONTEXT.divide(decimal.Decimal(q.numerator), decimal.Decimal(q.denominator))
    return Q(CONTEXT.exp(d))


def xlogx(q):
    return q * log(q) if q else Q(0)


def phi(loss, z, y):
    name, par = loss["name"], {k: Q(v) for k, v in loss.items() if k != "name"}
    if name == "softmax":
        return log(sum(exp(v - z[y]) for v in z))
    if name == "multiclass-hinge" and not par["gamma"]:
        return max(Q(0), *(v - z[y] + 1 for k, v in enumerate(z) if k != y))
    if name == "multiclass-hinge":
        best = None
        gain = [Q(0) if k == y else v - z[y] + 1 for k, v in enumerate(z)]
        for size in range(1, len(z) + 1):  # the maximiser on each face of the simplex
            for face in itertools.combinations(range(len(z)), size):
                free = [gain[k] + par["gamma"] * (k == y) for k in face]
                tau = (sum(free) - par["gamma"]) / size
                s = [(v - tau) / par["gamma"] for v in free]
                if min(s) >= 0:
                    point = dict(zip(face, s))
                    far = sum((point.get(k, 0) - (k == y)) ** 2 for k in range(len(z)))
                    here = sum(gain[k] * v for k, v in point.items()) - par["gamma"] / 2 * far
                    best = here if best is None else max(best, here)
        return best
    z, t = z[0], 1 - y * z[0]
    r = y - z
    if name == "logistic":
        return log(1 + exp(-y * z))
    if name == "poisson":
        return exp(z) - y * z
    if name == "gamma":
        return y * exp(-z) + z
    if name == "tweedie":
        p = par["power"]
        return y * exp((1 - p) * z) / (p - 1) + exp((2 - p) * z) / (2 - p)
    if name == "negative-binomial":
        theta = par["theta"]
        return y * log(1 + theta * exp(-z)) + theta * log(1 + exp(z) / theta)
    if name == "hinge":
        return max(t, Q(0))
    if name == "squared-hinge":
        return max(t, Q(0)) ** 2 / (2 * par["gamma"])
    if name == "smoothed-hinge":
        g = par["gamma"]
        return Q(0) if t <= 0 else t * t / (2 * g) if t <= g else t - g / 2
    if name == "squared":
        return r * r / (2 * par["gamma"])
    if name == "huber":
        d = par["delta"]
        return r * r / 2 if abs(r) <= d else d * abs(r) - d * d / 2
    if name == "quantile":
        return max(par["q"] * r, (par["q"] - 1) * r)
    over = max(abs(r) - par["epsilon"], Q(0))
    return over if name == "epsilon-insensitive" else over**2 / (2 * par["gamma"])


def conjugate(loss, a, y):
    """φ*(−a), infinite outside of its domain."""
    name, par = loss["name"], {k: Q(v) for k, v in loss.items() if k != "name"}
    if name in CLASSES:
        s = [-v for v in a]
        s[y] = 1 - sum(v for k, v in enumerate(s) if k != y)
        if min(s) < 0:
            return INF
        if name == "softmax":
            return sum(map(xlogx, s))
        far = sum((v - (k == y)) ** 2 for k, v in enumerate(s))
        return par["gamma"] / 2 * far - (1 - s[y])
    a = a[0]
    if name in SIGNED and not (y * a >= 0 and (y * a <= 1 or name == "squared-hinge")):
        return INF
    if name == "logistic":
        return xlogx(y * a) + xlogx(1 - y * a)
    if name == "poisson":
        return xlogx(y - a) - (y - a) if a <= y else INF
    if name == "gamma":
        return xlogx(1 + a) - (1 + a) * (1 + log(y)) if a >= -1 else INF
    if name == "negative-binomial":
        if not -par["theta"] <= a <= y:
            return INF
        entropy = xlogx(y - a) + xlogx(par["theta"] + a) - xlogx(y + par["theta"])
        return entropy - a * log(par["theta"])
    if name == "tweedie":
        p = par["power"]
        if y == 0:
            return (xlogx(-a) + a) / (2 - p) if a <= 0 else INF
        low, high = Q(-100), Q(100)  # of z, where the slope is −a: the errors left are squares
        for _ in range(130):
            z = (low + high) / 2
            low, high = (z, high) if exp((2 - p) * z) - y * exp((1 - p) * z) < -a else (low, z)
        return -a * z - phi(loss, [z], y)
    reach = {"huber": par.get("delta"), "epsilon-insensitive": 1}.get(name)
    if reach is not None and abs(a) > reach:
        return INF
    if name == "quantile" and not par["q"] - 1 <= a <= par["q"]:
        return INF
    curve = Q(1) if name == "huber" else par.get("gamma", Q(0))
    return curve * a * a / 2 - a * y + par.get("epsilon", 0) * abs(a)


def penalty(l1, l2, weight, low, high, w, u):
    """g(w) and g*(u)"""
    if weight == INF:
        return (Q(0) if w == 0 and low <= 0 <= high else INF), Q(0)
    l1, l2 = Q(l1) * Q(weight), Q(l2) * Q(weight)
    value = l1 * abs(w) + l2 / 2 * w * w if low <= w <= high else INF
    ends = [Q(v) for v in (low, high) if abs(v) < INF] + [Q(0)]
    if l2:
        ends += [(u - l1) / l2, (u + l1) / l2]
    elif (u > l1 and high == INF) or (u < -l1 and low == -INF):
        return value, INF
    return value, max(u * v - l1 * abs(v) - l2 / 2 * v * v for v in ends if low <= v <= high)


def evaluate(problem):
    """P and D, by their definitions; infinite where they are."""
    X, arrays, K, lam = problem["X"], problem["arrays"], problem["K"], Q(problem["lam"])
    n, p = X.shape
    x = [[Q(float(v)) for v in row] for row in X]
    s = [Q(float(v)) for v in arrays.get("weights", np.ones(n))]
    w = [[Q(float(v)) for v in row] for row in arrays["w"].reshape(p, K)]
    b = [Q(float(v)) for v in arrays["b"]]
    a = [Q(float(v)) for v in arrays["a"].ravel()]
    for index, value in problem["repairs"].items():
        a[index] = value
    a = [a[i * K : i * K + K] for i in range(n)]
    if problem["loss"]["name"] in CLASSES:
        for row, y in zip(a, problem["coded"]):
            row[y] = -sum(v for k, v in enumerate(row) if k != y)
    S = sum(s)
    if problem["intercept"] == "none" and any(b):
        return INF, -INF
    P = D = Q(0)
    for i in range(n):
        if s[i]:
            z = [sum(x[i][j] * w[j][k] for j in range(p)) + b[k] for k in range(K)]
            P += s[i] / S * phi(problem["loss"], z, problem["coded"][i])
            worst = conjugate(problem["loss"], a[i], problem["coded"][i])
            if worst == INF:
                return P, -INF
            D -= s[i] / S * worst
    weights = arrays.get("penalty_weights", np.ones(p))
    low, high = arrays.get("low", np.full(p, -INF)), arrays.get("high", np.full(p, INF))
    l1, l2, kappa = problem["l1"], problem["l2"], Q(problem["scaling"])
    for k in range(K):
        total = sum(s[i] * a[i][k] for i in range(n))
        if problem["intercept"] == "free" and total:
            return P, -INF
        terms = [
            penalty(
                l1, l2, float(weights[j]), float(low[j]), float(high[j]), w[j][k],
                sum(s[i] * a[i][k] * x[i][j] for i in range(n)) / (lam * S),
            )
            for j in range(p)
        ]  # fmt: skip
        if problem["intercept"] == "penalised":
            terms.append(penalty(l1, l2, 1.0, -INF, INF, b[k] / kappa, kappa * total / (lam * S)))
        for value, worst in terms:
            P, D = P + lam * value, D - lam * worst
    return P, D


def holds(problem):
    """Whether a proof is true: claims are far coarser than TINY."""
    P, D = evaluate(problem)
    primal, dual, gap = (Q(problem["claims"][k]) for k in ("primal", "dual", "gap"))
    if math.inf in (P, -D):
        return False
    return primal + TINY >= P and dual - TINY <= D and gap + TINY >= P - D


def up(q, steps=1):
    value = float(q)
    for _ in range(steps):
        value = math.nextafter(value, INF)
    return value


def claim(problem, steps=4):
    """Claims that are a few floats from the truth: above it, or below it for negative steps."""
    P, D = evaluate(problem)
    to = INF if steps > 0 else -INF
    problem["claims"] = {"primal": float(P), "dual": float(D), "gap": float(P - D)}
    for _ in range(abs(steps)):
        for key, sign in (("primal", 1), ("dual", -1), ("gap", 1)):
            problem["claims"][key] = math.nextafter(problem["claims"][key], sign * to)
    return problem


# ---------------------------------------------------------------- random true problems


def make(name, rng, intercept="none", l1=0.0, l2=1.0, weights=False, bounds=False, n=7, p=3):
    X = np.round(rng.normal(size=(n, p)), 3)
    X[rng.random((n, p)) < 0.3] = 0
    K = 3 if name in CLASSES else 1
    coded, codes, y = None, None, np.round(rng.normal(size=n), 2)
    if name in SIGNED:
        y = np.array([2.0, 5.0] * n)[:n]
        codes = [[2.0, -1.0], [5.0, 1.0]]
        coded = [-1 if v == 2 else 1 for v in y]
    elif name in CLASSES:
        y = np.array([0.0, 1.0, 2.0] * n)[:n]
        coded = [int(v) for v in y]
    elif name in MEANS:
        y = np.floor(rng.exponential(2, size=n)) + 0.25 * (name == "gamma")
    coded = [Q(float(v)) for v in y] if coded is None else coded
    arrays = {
        "w": rng.normal(size=(p, K) if K > 1 else p) * 0.5,
        "b": rng.normal(size=K) * (intercept != "none"),
    }
    if weights:
        arrays["weights"] = rng.integers(0, 3, size=n) / 2 + np.r_[0.3, np.zeros(n - 1)]
        arrays["weights"][: 2 * K] += 0.1
    if bounds:
        arrays["penalty_weights"] = np.r_[INF, 0.0, rng.random(p - 2) + 0.5]
        arrays["low"] = np.r_[-INF, -1.0, np.full(p - 2, -0.75)]
        arrays["high"] = np.r_[INF, 2.0, np.full(p - 2, INF)]
        w = arrays["w"].reshape(p, K)
        w[0] = 0
        w[1:] = np.maximum(w[1:], -0.7)
    problem = dict(
        X=X, y=y, coded=coded, codes=codes, loss={"name": name, **PARAMETERS[name]}, l1=l1, l2=l2,
        lam=0.37, intercept=intercept, scaling=1.5, K=K, arrays=arrays, repairs={},
    )  # fmt: skip
    dual_point(problem, rng)
    if not l2:  # make room for the largest u
        a = [problem["repairs"].get(i, Q(float(v))) for i, v in enumerate(arrays["a"].ravel())]
        s = arrays.get("weights", np.ones(n))
        A = np.array([float(v) for v in a]).reshape(n, K)
        if K > 1:
            for row, c in zip(A, coded):
                row[c] = -(row.sum() - row[c])
        u = np.vstack([X.T, 1.5 * np.ones(n)]) @ (s[:, None] * A) / (0.37 * s.sum())
        problem["l1"] = float(np.abs(u).max() * 2.5 + 0.1)
    return claim(problem)


def dual_point(problem, rng):
    name, n, K = problem["loss"]["name"], len(problem["y"]), problem["K"]
    s = [Q(float(v)) for v in problem["arrays"].get("weights", np.ones(n))]
    if K > 1:  # a = e_y − the share of each class: its sum over samples is 0
        share = [sum(v for v, c in zip(s, problem["coded"]) if c == k) / sum(s) for k in range(K)]
        a = [[(k == c) - share[k] for k in range(K)] for c in problem["coded"]]
        if problem["intercept"] != "free":
            a = [[v * Q(float(rng.random())) for v in row] for row in a]
        flat = [v for row in a for v in row]
    else:
        flat = [Q(float(v)) for v in rng.random(n) * 0.9]
        if name in SIGNED:
            flat = [v * y for v, y in zip(flat, problem["coded"])]
        elif name == "gamma":
            flat = [2 * v * (i % 2) - v for i, v in enumerate(flat)]
        elif name in MEANS:
            flat = [y - 2 * v for v, y in zip(flat, problem["coded"])]
            flat = [max(v, -1) if name == "negative-binomial" else v for v in flat]
        else:
            reach = {"huber": Q(0.625), "quantile": Q(0.3)}.get(name, Q(1))
            flat = [v * reach * (1 - 2 * (i % 2)) for i, v in enumerate(flat)]
        if problem["intercept"] == "free":  # shrink the positive or the negative ones
            above = sum(v * c for v, c in zip(s, flat) if c > 0)
            below = -sum(v * c for v, c in zip(s, flat) if c < 0)
            sign, ratio = (1, below / above) if above > below else (-1, above / below)
            flat = [v * ratio if v * sign > 0 else v for v in flat]
    problem["arrays"]["a"] = np.array([float(v) for v in flat])
    if K > 1:
        problem["arrays"]["a"] = problem["arrays"]["a"].reshape(n, K)
    if problem["intercept"] == "free":
        problem["repairs"] = {i: v for i, v in enumerate(flat) if Q(float(v)) != v}


# ---------------------------------------------------------------- writing


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).hexdigest()


def data_digests(X, y):
    counts = np.r_[0, np.cumsum((X != 0).sum(axis=1))]
    rows, columns = np.nonzero(X)
    ints = [np.array(v, dtype="<i8").tobytes() for v in (X.shape, counts, columns)]
    x = sha(b"dualgap-matrix-1\n", *ints, X[rows, columns].astype("<f8").tobytes())
    if isinstance(y[0], str):
        texts = [t.encode() for t in y]
        parts = [np.int64(len(t)).astype("<i8").tobytes() + t for t in texts]
        return x, sha(b"dualgap-text-1\n", np.int64(len(y)).astype("<i8").tobytes(), *parts)
    y = np.asarray(y, dtype="<f8")
    sizes = np.array([len(y), y.shape[1] if y.ndim > 1 else 1], dtype="<i8")
    return x, sha(b"dualgap-numbers-1\n", sizes.tobytes(), (y + 0.0).tobytes())


def hexed(value):
    if isinstance(value, dict):
        return {k: v if k == "name" else hexed(v) for k, v in value.items()}
    return float(value).hex()


def npy(values):
    file = io.BytesIO()
    np.lib.format.write_array(file, np.ascontiguousarray(values), version=(1, 0))
    return file.getvalue()


def seal(entry, data):
    body = {k: entry[k] for k in ("statement", "claims", "repairs", "arrays")}
    body["data"] = {k: data[k] for k in ("samples", "features", "X", "y")}
    return sha(json.dumps(body, sort_keys=True, separators=(",", ":")).encode())


def header_of(problem):
    n, p = problem["X"].shape
    x, y = data_digests(problem["X"], problem["y"])
    data = {"samples": n, "features": p, "X": x, "y": y, "hints": problem.get("hints", {})}
    codes = problem["codes"]
    if codes is not None:
        text = isinstance(codes[0][0], str)
        codes = [[k if text else hexed(k), hexed(v)] for k, v in codes]
    radius = problem["claims"].get("intercept_radius")
    entry = {
        "statement": {
            "loss": hexed(problem["loss"]),
            "penalty": hexed({"l1": problem["l1"], "l2": problem["l2"]}),
            "lam": hexed(problem["lam"]),
            "intercept": problem["intercept"],
            "scaling": hexed(problem["scaling"]),
            "classes": problem["K"],
            "targets": {"column": problem.get("column", 0), "codes": codes},
        },
        "claims": {
            **{k: hexed(problem["claims"][k]) for k in ("primal", "dual", "gap")},
            "intercept_radius": None if radius is None else hexed(radius),
        },
        "repairs": [
            [i, hex(v.numerator), hex(v.denominator)] for i, v in problem["repairs"].items()
        ],
        "arrays": {k: sha(v.tobytes()) for k, v in problem["arrays"].items()},
    }
    entry["seal"] = seal(entry, data)
    return {
        "format": "dualgap-proof", "version": 1, "producer": "a test", "data": data,
        "problems": [entry],
    }  # fmt: skip


def write_members(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in members.items():
            file.writestr(name, content)


def members_of(problem, header=None):
    header = header_of(problem) if header is None else header
    arrays = {f"0/{k}.npy": npy(v) for k, v in problem["arrays"].items()}
    return {"header.json": json.dumps(header), **arrays}


def libsvm(X, y, base=1):
    def value(v):
        return v if isinstance(v, str) else repr(float(v))

    rows = (
        " ".join([value(label), *(f"{j + base}:{float(v)!r}" for j, v in enumerate(row) if v)])
        for row, label in zip(X, y)
    )
    return "\n".join(rows) + "\n"


def write(folder, problem, header=None):
    data, proof = folder / "data.svm", folder / "proof.npz"
    data.write_text(libsvm(problem["X"], problem["y"]))
    write_members(proof, members_of(problem, header), zipfile.ZIP_STORED)
    return [str(data), str(proof)]


def run(arguments, capsys):
    code = dgcheck.main(arguments)
    out, err = capsys.readouterr()
    assert not err
    assert "Traceback" not in out
    words = {0: "VERIFIED", 1: "REFUSED: ", 2: "UNREADABLE: "}
    assert out.strip().splitlines()[-1].startswith(words[code]), out
    return code, out


# ---------------------------------------------------------------- what is true is verified

PENALTIES = {"l2": {}, "l1": {"l1": 1.0, "l2": 0.0}, "both": {"l1": 0.25, "l2": 0.5}}


@pytest.mark.parametrize("intercept", ["none", "free", "penalised"])
@pytest.mark.parametrize("kind", list(PENALTIES))
@pytest.mark.parametrize("name", list(PARAMETERS))
def test_true_claims_are_verified_and_slightly_better_ones_refused(
    name, kind, intercept, tmp_path, capsys
):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        weights, bounds = bool(seed), bool(seed) and kind != "l1"
        problem = make(name, rng, intercept, weights=weights, bounds=bounds, **PENALTIES[kind])
        code, out = run(write(tmp_path, problem), capsys)
        assert code == 0, out
        for key, sign in (("primal", -1), ("dual", 1), ("gap", -1)):
            better = copy.deepcopy(problem)
            better["claims"][key] = claim(better, -4)["claims"][key]
            for other in set(problem["claims"]) - {key}:
                better["claims"][other] = problem["claims"][other]
            assert sign * (better["claims"][key] - problem["claims"][key]) > 0
            code, out = run(write(tmp_path, better), capsys)
            assert code == 1
            assert f"claimed {key}" in out


def test_a_gap_of_nothing_needs_and_gets_all_digits(tmp_path, capsys):
    """At z = 0 and β = 1/2 logistic loss and its conjugate are log 2 and −log 2: the gap is 0."""
    X, y = np.zeros((2, 1)), np.array([-1.0, 1.0])
    arrays = {"w": np.zeros(1), "b": np.zeros(1), "a": y / 2}
    problem = dict(
        X=X, y=y, coded=[-1, 1], codes=None, loss={"name": "logistic"}, l1=0.0, l2=1.0, lam=1.0,
        intercept="none", scaling=1.0, K=1, arrays=arrays, repairs={},
    )  # fmt: skip
    problem["claims"] = {"primal": math.log(2), "dual": math.log(2), "gap": 1e-40}
    claims = problem["claims"]
    claims["primal"] = max(math.log(2), up(math.log(2)) if Q(math.log(2)) < log(Q(2)) else 0)
    claims["dual"] = math.nextafter(claims["primal"], 0)
    assert run(write(tmp_path, problem), capsys)[0] == 0
    claims["dual"] = claims["primal"]
    assert run(write(tmp_path, problem), capsys)[0] == 1


@pytest.mark.parametrize("name", ["logistic", "softmax"])
def test_the_logarithm_of_1_is_exactly_0(name, tmp_path, capsys):
    """D(0) = 0 for a free intercept and any penalty."""
    problem = make(name, np.random.default_rng(0), "free")
    problem["arrays"]["a"] *= 0
    problem["repairs"] = {}
    claim(problem)
    assert evaluate(problem)[1] == 0
    problem["claims"]["dual"] = 0.0
    assert run(write(tmp_path, problem), capsys)[0] == 0
    problem["claims"]["dual"] = 5e-324
    assert run(write(tmp_path, problem), capsys)[0] == 1


def test_the_exponential_of_0_is_exactly_1(tmp_path, capsys):
    """Poisson loss with z = 0 and a = y − 1 has the value 1 and the conjugate −1: no gap at all."""
    problem = make("poisson", np.random.default_rng(0))
    problem["X"] = np.zeros((7, 3))
    problem["arrays"] |= {"w": np.zeros(3), "a": problem["y"] - 1}
    problem["claims"] = {"primal": 1.0, "dual": 1.0, "gap": 0.0}
    assert evaluate(problem) == (1, 1)
    assert run(write(tmp_path, problem), capsys)[0] == 0
    problem["claims"]["primal"] = math.nextafter(1.0, 0)
    assert run(write(tmp_path, problem), capsys)[0] == 1


@pytest.mark.parametrize("kind", ["l2", "both"])
@pytest.mark.parametrize(("low", "high"), [(0.0, INF), (-INF, 0.0), (0.0, 1.0), (0.0, 0.0)])
def test_bounds_at_0_are_exact(low, high, kind, tmp_path, capsys):
    for seed, name in enumerate(["squared", "logistic", "hinge"]):
        problem = make(name, np.random.default_rng(seed), "free", **PENALTIES[kind])
        problem["arrays"]["w"] = np.clip(problem["arrays"]["w"], low, high)
        problem["arrays"] |= {"low": np.full(3, low), "high": np.full(3, high)}
        P, D = evaluate(problem)
        least = float(P - D)
        least = least if Q(least) >= P - D + TINY else up(least)
        problem["claims"] = {"primal": up(P, 2), "dual": -up(-D, 2), "gap": least}
        assert run(write(tmp_path, problem), capsys)[0] == 0
        problem["claims"]["gap"] = math.nextafter(least, 0)
        assert run(write(tmp_path, problem), capsys)[0] == 1


# ---------------------------------------------------------------- what is changed is not verified


def flip(values, rng):
    """One bit of one entry."""
    changed = np.array(values)
    flat = changed.reshape(-1).view(np.uint8)
    flat[rng.integers(len(flat))] ^= 1 << int(rng.integers(8))
    return changed


def nudge(value, rng):
    kind = rng.integers(3)
    if kind == 0:
        return math.nextafter(value, rng.choice([-INF, INF]))
    return value * (1 + 1e-9 * rng.normal()) if kind == 1 else value + 0.01 * rng.normal()


def mutate(problem, rng):
    """A change that matters to the file; returns what was changed."""
    arrays = problem["arrays"]
    what = rng.choice(["w", "b", "a", "X", "y", "lam", "l2", "loss", "name", "claims", "repairs"])
    if what in ("w", "b", "a"):
        name = rng.choice([what, *arrays])
        if rng.random() < 0.5:
            arrays[name] = flip(arrays[name], rng)
        else:
            arrays[name] = arrays[name].copy()
            at = rng.integers(arrays[name].size)
            arrays[name].flat[at] = nudge(float(arrays[name].flat[at]), rng)
        return name
    if what == "X":
        at = rng.integers(problem["X"].size)
        problem["X"] = problem["X"].copy()
        problem["X"].flat[at] = nudge(float(problem["X"].flat[at]), rng)
    elif what == "y":
        at = rng.integers(len(problem["y"]))
        problem["y"] = problem["y"].copy()
        problem["y"][at] = nudge(float(problem["y"][at]), rng)
        problem["coded"] = list(problem["coded"])
        kind = problem["loss"]["name"]
        problem["coded"][at] = None if kind in SIGNED + CLASSES else Q(float(problem["y"][at]))
    elif what in ("lam", "l2"):
        problem[what] = nudge(problem[what], rng)
    elif what == "loss" and len(problem["loss"]) > 1:
        key = rng.choice([k for k in problem["loss"] if k != "name"])
        problem["loss"][key] = nudge(problem["loss"][key], rng)
    elif what == "name":
        name = str(rng.choice([v for v in PARAMETERS if v != problem["loss"]["name"]]))
        problem["loss"] = {"name": name, **PARAMETERS[name]}
    elif what == "repairs" and problem["repairs"]:
        at = int(rng.choice(list(problem["repairs"])))
        problem["repairs"][at] += Q(int(rng.choice([-1, 1])), 10 ** int(rng.integers(1, 20)))
    else:
        key = str(rng.choice(list(problem["claims"])))
        problem["claims"][key] = nudge(problem["claims"][key], rng)
    return str(what)


def truth(problem):
    """Whether the changed problem is well-defined and its claims hold."""
    name, coded, arrays = problem["loss"]["name"], problem["coded"], problem["arrays"]
    numbers = [problem["lam"], *(v for k, v in problem["loss"].items() if k != "name")]
    finite = [arrays[k] for k in ("w", "b", "a", "weights") if k in arrays]
    if None in coded or min(numbers) <= 0 or problem["l2"] < 0:
        return False
    if not all(np.isfinite(v).all() for v in finite) or not np.isfinite(problem["X"]).all():
        return False
    if np.isnan(np.concatenate([v.ravel() for v in arrays.values()])).any():
        return False
    if (arrays.get("weights", np.ones(1)) < 0).any():
        return False
    if (arrays.get("penalty_weights", np.ones(1)) < 0).any():
        return False
    if (name in CLASSES) != (problem["K"] > 1) or problem["loss"].get("q", 0) > 1:
        return False
    if name in SIGNED and not set(coded) <= {-1, 1}:
        return False
    if name in MEANS and (min(coded) < 0 or (name == "gamma" and min(coded) == 0)):
        return False
    if not 1 < problem["loss"].get("power", 1.5) < 2:
        return False
    if max(float(np.abs(v).max()) for v in finite) > 1e6:
        return False  # its exp is beyond this file; the claims are small, so they cannot hold
    return holds(problem)


def different(problem, other):
    return json.dumps(header_of(problem)) != json.dumps(header_of(other))


@pytest.mark.parametrize("part", range(10))
def test_a_changed_proof_is_verified_only_if_it_is_true(part, tmp_path, capsys):
    rng = np.random.default_rng(part)
    verified = tried = 0
    while tried < 100:
        name = str(rng.choice(list(PARAMETERS)))
        intercept = str(rng.choice(["none", "free", "penalised"]))
        options = PENALTIES[str(rng.choice(["l2", "both"]))]
        weights, bounds = rng.random(2) < 0.3
        true = make(name, rng, intercept, weights=weights, bounds=bounds, n=6, **options)
        for _ in range(4):
            problem = copy.deepcopy(true)
            what = mutate(problem, rng)
            if not different(true, problem):
                continue
            tried += 1
            if tried % 2:  # digests and seal as they were
                header = header_of(true)
                if rng.random() < 0.5:  # the digests of what is stored, but the old seal
                    old = header["problems"][0]["seal"]
                    header = header_of(problem)
                    header["problems"][0]["seal"] = old
                elif what not in problem["arrays"] and what not in "Xy":
                    tried -= 1
                    continue  # nothing was changed outside of the header
                code, out = run(write(tmp_path, problem, header), capsys)
                assert code, (what, out)
            else:
                code, out = run(write(tmp_path, problem), capsys)
                assert (code == 0) == truth(problem), (what, out)
                verified += code == 0
    assert 0 < verified < 50


@pytest.mark.parametrize("key", ["X", "y", "seal", "samples", "features"])
def test_each_digest_and_count_is_compared(key, tmp_path, capsys):
    problem = make("huber", np.random.default_rng(0), "free")
    header = header_of(problem)
    entry = header["problems"][0]
    if key == "seal":
        entry["seal"] = entry["seal"][::-1]
    elif key in ("X", "y"):
        header["data"][key] = header["data"][key][::-1]
    else:
        header["data"][key] += 1
    if key != "seal":
        entry["seal"] = seal(entry, header["data"])
    code, out = run(write(tmp_path, problem, header), capsys)
    assert code
    assert ("SHA-256" in out) == (key in ("X", "y", "features"))


@pytest.mark.parametrize("intercept", ["none", "free", "penalised"])
def test_the_multiclass_hinge_may_have_kinks(intercept, tmp_path, capsys):
    problem = make("multiclass-hinge", np.random.default_rng(4), intercept)
    problem["loss"]["gamma"] = 0.0
    assert run(write(tmp_path, claim(problem)), capsys)[0] == 0
    assert run(write(tmp_path, claim(problem, -4)), capsys)[0] == 1


def test_words_of_a_refusal(tmp_path, capsys):
    problem = make("hinge", np.random.default_rng(1), "none")
    problem["arrays"]["a"][4] = -1.0000001  # label −1
    code, out = run(write(tmp_path, problem), capsys)
    assert code == 1
    assert "sample 4: y·a = 1.0000001" in out
    assert "exceeds 1" in out
    problem = make("squared", np.random.default_rng(1), "free")
    problem["repairs"][1] = problem["repairs"].get(1, Q(float(problem["arrays"]["a"][1]))) + Q(
        3, 1024
    )
    code, out = run(write(tmp_path, problem), capsys)
    assert "Σ s a = 0.0029296875, not 0" in out
    header = header_of(problem)
    header["problems"][0]["claims"]["gap"] = (1e-12).hex()
    code, out = run(write(tmp_path, problem, header), capsys)
    assert "the seal does not match" in out
    header = header_of(problem)
    problem["arrays"]["w"] = problem["arrays"]["w"] * 2
    code, out = run(write(tmp_path, problem, header), capsys)
    assert "w: SHA-256 differs" in out


def test_huge_scores_end_at_once(tmp_path, capsys):
    for name, w in itertools.product((*MEANS, "softmax", "logistic"), (1e6, -1e9, 1e300)):
        problem = make(name, np.random.default_rng(3), "none")
        problem["X"][:] = 1.0
        problem["arrays"]["w"] = np.zeros_like(problem["arrays"]["w"])
        problem["arrays"]["w"].flat[0] = w
        problem["claims"] = {"primal": 1e308, "dual": -1e308, "gap": 1e308}
        code, out = run(write(tmp_path, problem), capsys)
        if name in ("poisson", "tweedie") and w > 0:
            assert code == 1
            assert "too large" in out


def test_wide_ranges_are_exact(tmp_path, capsys):
    problem = make("squared", np.random.default_rng(3), "none")
    problem["X"][0] = [1e-150, 1e100, 5e-324]
    problem["arrays"]["w"] = np.array([1e150, 1e-100, 1e-300])
    claim(problem)
    assert run(write(tmp_path, problem), capsys)[0] == 0
    claim(problem, -4)
    assert run(write(tmp_path, problem), capsys)[0] == 1


# ---------------------------------------------------------------- damaged files


def test_truncated_and_flipped_files_are_never_verified_wrongly(tmp_path, capsys):
    problem = make("logistic", np.random.default_rng(5), "free")
    data, proof = write(tmp_path, problem)
    with open(proof, "rb") as file:
        content = file.read()
    rng = random.Random(5)
    for _ in range(100):
        with open(proof, "wb") as file:
            file.write(content[: rng.randrange(len(content))])
        assert run([data, proof], capsys)[0] == 2
    for _ in range(150):
        changed = bytearray(content)
        for _ in range(rng.choice([1, 1, 10])):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        with open(proof, "wb") as file:
            file.write(changed)
        code, _ = run([data, proof], capsys)
        if code == 0:  # bytes that mean nothing, such as dates; members are as they were
            with zipfile.ZipFile(proof) as a, zipfile.ZipFile(io.BytesIO(content)) as b:
                old, new = json.loads(b.read("header.json")), json.loads(a.read("header.json"))
                assert old["problems"] == new["problems"]
                assert all(a.read(k) == b.read(k) for k in b.namelist() if k != "header.json")


def npy_header(shape, descr="'<f8'", length=None):
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    length = len(text) if length is None else length
    return b"\x93NUMPY\x01\x00" + length.to_bytes(2, "little") + text.encode()


STATED = {
    "number": (("statement", "lam"), 0.5),
    "decimal": (("statement", "lam"), "0.5"),
    "nan": (("claims", "gap"), "nan"),
    "parameter": (("statement", "loss", "more"), "0x1.0p+0"),
    "repair": (("repairs",), [[0, "0x1", "-0x3"]]),
    "repair index": (("repairs",), [[10**9, "0x1", "0x3"]]),
    "repaired twice": (("repairs",), [[0, "0x0", "0x1"], [0, "0x0", "0x1"]]),
    "classes": (("statement", "classes"), 10**12),
}


def damage(members, header, kind):
    if kind in STATED:
        entry = header["problems"][0]
        *path, last = STATED[kind][0]
        for key in path:
            entry = entry[key]
        entry[last] = STATED[kind][1]
        return
    w = members["0/w.npy"]
    if kind == "missing":
        del members["0/a.npy"]
    elif kind == "more":
        members["0/readme.txt"] = b"hello"
    elif kind == "no header":
        del members["header.json"]
    elif kind == "pickle":
        members["0/w.npy"] = npy_header("(3,)", "'|O'") + pickle.dumps([1, 2, 3])
    elif kind == "structured":
        members["0/w.npy"] = npy_header("(3,)", "[('a', '<f8')]") + w[-24:]
    elif kind == "74 GiB":
        members["0/w.npy"] = npy_header("(10000000000,)") + w[-24:]
    elif kind == "float32":
        members["0/w.npy"] = npy_header("(3,)", "'<f4'") + w[-12:]
    elif kind == "shape":
        members["0/w.npy"] = npy_header("(-3, -1)") + w[-24:]
    elif kind == "code":
        members["0/w.npy"] = npy_header("(__import__('os').abort(),)") + w[-24:]
    elif kind == "nested":
        members["0/w.npy"] = npy_header("(" * 900 + ")" * 900) + w[-24:]
    elif kind == "long header":
        members["0/w.npy"] = npy_header("(3,)", length=65535) + w[-24:]
    elif kind == "deep":
        members["header.json"] = "[" * 200000
    elif kind == "not JSON":
        members["header.json"] = b"\xff\xfe{"
    elif kind == "list":
        members["header.json"] = "[1, 2]"
    elif kind == "version":
        header["version"] = 2
    elif kind == "format":
        header["format"] = "other"
    elif kind == "empty":
        header["problems"] = []
    elif kind == "samples":
        header["data"]["samples"] = 10**12


DAMAGES = [
    "missing", "more", "no header", "pickle", "structured", "74 GiB", "float32", "shape", "code",
    "nested", "long header", "deep", "not JSON", "list", "version", "format", "empty", "samples",
    *STATED,
]  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_structure_is_unreadable(kind, tmp_path, capsys):
    problem = make("huber", np.random.default_rng(0), "none")
    header = header_of(problem)
    members = members_of(problem, header)
    damage(members, header, kind)
    if kind not in ("deep", "not JSON", "list", "no header"):
        for entry in header["problems"]:  # sealed well, so that it is the damage that is found
            for name in entry["arrays"]:
                content = members.get(f"0/{name}.npy", b"")
                entry["arrays"][name] = sha(content[-8 * len(problem["arrays"][name]) :])
            entry["seal"] = seal(entry, header["data"])
        members["header.json"] = json.dumps(header)
    data, proof = write(tmp_path, problem)
    write_members(proof, members)
    code, out = run([data, proof], capsys)
    assert code == (1 if kind == "samples" else 2), out


@pytest.mark.parametrize("name", ["w", "b", "a"])
@pytest.mark.parametrize("value", [math.nan, INF, -INF])
def test_arrays_must_be_finite(name, value, tmp_path, capsys):
    problem = make("huber", np.random.default_rng(0), "penalised")
    problem["arrays"][name][0] = value
    code, out = run(write(tmp_path, problem), capsys)
    assert code == 1
    assert "not finite" in out


def test_bombs_are_not_expanded(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(dgcheck, "LIMIT", 1 << 20)
    problem = make("huber", np.random.default_rng(0), "none")
    data, proof = write(tmp_path, problem)
    members = members_of(problem)
    with zipfile.ZipFile(proof, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            if name == "0/a.npy":
                with file.open(name, "w") as member:
                    member.write(npy_header(f"({1 << 23},)"))
                    for _ in range(1 << 6):
                        member.write(bytes(1 << 20))
            else:
                file.writestr(name, content)
    assert os.path.getsize(proof) < 1 << 17
    code, out = run([data, proof], capsys)
    assert code == 2
    assert "expanded" in out
    with zipfile.ZipFile(proof, "w", zipfile.ZIP_DEFLATED) as file:  # small enough, but no header
        file.writestr("header.json", bytes(1 << 24))
    assert run([data, proof], capsys)[0] == 2


def test_files_that_are_no_proofs_or_no_data(tmp_path, capsys):
    problem = make("huber", np.random.default_rng(0), "none")
    data, proof = write(tmp_path, problem)
    assert run([data, data], capsys)[0] == 2
    assert run([proof, proof], capsys)[0] == 2
    assert run([data, str(tmp_path / "none")], capsys)[0] == 2
    assert run([str(tmp_path / "none"), proof], capsys)[0] == 2
    assert run([str(tmp_path), str(tmp_path)], capsys)[0] == 2
    bad = ("", "1 2", "1 1:2 1:3", "1 2:1 1:1", "1 1:nan", "1 1:inf", "1 1:x", "1 -1:2", "1 1:2:3")
    for text in (*bad, "1 1:2:3 4", "1 1:2 3", "1 1: 2:3", "1 :2"):
        (tmp_path / "bad.svm").write_text(text)
        assert run([str(tmp_path / "bad.svm"), proof], capsys)[0] == 2, text
    for text in ("a,b\n1", "1,2,3\n1,x,2", "a,b,c\n1,2,3\n1,,2", 'a,b\n"1'):
        (tmp_path / "bad.csv").write_text(text)
        assert run([str(tmp_path / "bad.csv"), proof], capsys)[0] == 2, text
    (tmp_path / "bad.gz").write_bytes(gzip.compress(b"1 1:2\n" * 100)[:-9])
    assert run([str(tmp_path / "bad.gz"), proof], capsys)[0]
    (tmp_path / "bytes.svm").write_bytes(b"\xff\xfe\x00")
    assert run([str(tmp_path / "bytes.svm"), proof], capsys)[0] == 2


# ---------------------------------------------------------------- data in other formats


def csr(X):
    rows, columns = np.nonzero(X)
    starts = np.r_[0, np.cumsum((X != 0).sum(axis=1))]
    return dict(
        data=X[rows, columns], indices=columns.astype("i4"), indptr=starts.astype("i4"),
        shape=np.array(X.shape), format=np.array(b"csr"),
    )  # fmt: skip


def spread(folder, X, y):
    """The same data in many files."""
    import bz2
    import lzma

    plain = libsvm(X, y)
    packers = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    files = {f"a.svm.{k}": [pack(plain.encode())] for k, pack in packers.items()}
    noted = (f"{line.replace(' ', ' qid:3 ', 1)} # 1:7" for line in plain.splitlines())
    files["comments.svm"] = ["\n\n".join(noted).encode()]
    zeros = (line if " 3:" in line else f"{line} 3:0" for line in plain.splitlines())
    files["zeros.svm"] = ["\n".join(zeros).encode()]
    files["zero.svm"] = [libsvm(X, y, base=0).encode(), "--zero-based"]
    text = [v if isinstance(v, str) else repr(float(v)) for v in y]
    for name, mark in (("a.csv", ","), ("b.txt", ";"), ("c.tsv", "\t")):
        rows = [mark.join([*map(repr, map(float, row)), label]) for row, label in zip(X, text)]
        files[name] = ["\n".join(rows).encode()]
        names = mark.join(["u", "v", "w", "target"])
        files["named-" + name] = ["\r\n".join([names, *rows]).encode()]
    rows = [",".join([label, *map(repr, map(float, row))]) for row, label in zip(X, text)]
    files["first.csv"] = ["\n".join(["t,u,v,w", *rows]).encode(), "--target", "t"]
    files["number.csv"] = ["\n".join(rows).encode(), "--target", "1"]
    paths = []
    for name, (content, *options) in files.items():
        (folder / name).write_bytes(content)
        paths.append([str(folder / name), *options])
    np.savez(folder / "dense.npz", X=X, y=np.array(y))
    np.savez_compressed(folder / "fortran.npz", X=np.asfortranarray(X), y=np.array(y))
    np.savez(folder / "csr.npz", y=np.array(y), **csr(X))
    swapped = np.array(y) if isinstance(y[0], str) else np.array(y).astype(">f8")
    np.savez(folder / "big.npz", X=X.astype(">f8"), y=swapped, sample_weight=np.full(len(y), 2.0))
    names = ("dense.npz", "fortran.npz", "csr.npz", "big.npz")
    return paths + [[str(folder / name)] for name in names]


@pytest.mark.parametrize("name", ["huber", "hinge"])
def test_formats_agree(name, tmp_path, capsys):
    problem = make(name, np.random.default_rng(0), "free")
    if name == "hinge":
        texts = {2.0: "malignant", 5.0: "bénin"}
        problem["y"] = [texts[float(v)] for v in problem["y"]]
        problem["codes"] = [["malignant", -1.0], ["bénin", 1.0]]
    proof = write(tmp_path, problem)[1]
    false = str(tmp_path / "false.npz")
    other = copy.deepcopy(problem)
    other["X"][2, 1] += 0.5
    write_members(false, members_of(other))
    for data, *options in spread(tmp_path, problem["X"], problem["y"]):
        code, out = run([data, proof, *options], capsys)
        assert code == 0, (data, out)
        code, out = run([data, false, *options], capsys)
        assert code == 1, (data, out)
        assert out.startswith("REFUSED: X: SHA-256")


def test_integers_and_small_floats_are_converted(tmp_path, capsys):
    problem = make("huber", np.random.default_rng(0), "none")
    problem["X"] = np.round(problem["X"] * 5)
    problem["y"] = np.round(problem["y"] * 3)
    problem["coded"] = [Q(float(v)) for v in problem["y"]]
    proof = write(tmp_path, claim(problem))[1]
    for kind in ("<i1", "<i2", ">i4", "<i8", "<f4", ">f4"):
        X, y = problem["X"].astype(kind), problem["y"].astype(kind)
        np.savez(tmp_path / "data.npz", X=X, y=y)
        assert run([str(tmp_path / "data.npz"), proof], capsys)[0] == 0


def test_weights_of_the_data_are_compared(tmp_path, capsys):
    problem = make("huber", np.random.default_rng(0), "none", weights=True)
    data, proof = str(tmp_path / "weighted.npz"), write(tmp_path, problem)[1]
    for weights, good in ((problem["arrays"]["weights"], True), (np.ones(7), False)):
        np.savez(data, X=problem["X"], y=problem["y"], sample_weight=weights)
        assert run([data, proof], capsys)[0] == (0 if good else 1)
    proof = write(tmp_path, make("huber", np.random.default_rng(0), "none"))[1]
    for weights, good in ((np.full(7, 3.5), True), (np.arange(7.0), False)):
        np.savez(data, X=problem["X"], y=problem["y"], sample_weight=weights)
        assert run([data, proof], capsys)[0] == (0 if good else 1)


def test_a_column_of_several_targets(tmp_path, capsys):
    problem = make("huber", np.random.default_rng(0), "none")
    first = problem["y"]
    for order in "CF":
        problem["y"] = np.asarray(np.c_[first + 1, first], order=order)
        problem["column"] = 1
        data, proof = str(tmp_path / "two.npz"), str(tmp_path / "proof.npz")
        np.savez(data, X=problem["X"], y=problem["y"])
        write_members(proof, members_of({**problem, "y": np.ascontiguousarray(problem["y"])}))
        assert run([data, proof], capsys)[0] == 0
    problem["column"] = 2
    write_members(proof, members_of({**problem, "y": np.ascontiguousarray(problem["y"])}))
    assert run([data, proof], capsys)[0] == 2


def test_hints_help_to_read_and_options_win(tmp_path, capsys):
    problem = make("huber", np.random.default_rng(0))
    X, y = problem["X"], problem["y"]
    rows = [",".join(map(repr, map(float, (row[0], label, *row[1:])))) for row, label in zip(X, y)]
    (tmp_path / "a.csv").write_text("\n".join(["u,t,v,w", *rows]))
    (tmp_path / "a.svm").write_text(libsvm(X, y, base=0))
    csv, svm = str(tmp_path / "a.csv"), str(tmp_path / "a.svm")
    for hints, code in (({"target": "t"}, 0), ({"target": 2}, 0), ({}, 1), ({"target": "u"}, 1)):
        proof = write(tmp_path, problem | {"hints": hints})[1]
        assert run([csv, proof], capsys)[0] == code
        assert run([csv, proof, "--target", "t"], capsys)[0] == 0
        assert run([csv, proof, "--target", "2"], capsys)[0] == 0
        assert run([csv, proof, "--target", "missing"], capsys)[0] == 2
        assert run([svm, proof], capsys)[0] == 0  # a column 0 occurs
    problem["X"] = np.c_[np.zeros(7), X[:, 1:]]  # no column 0 any more
    claim(problem)
    (tmp_path / "b.svm").write_text(libsvm(problem["X"], y, base=0))
    svm = str(tmp_path / "b.svm")
    for hints, code in (({"zero_based": True}, 0), ({"zero_based": False}, 1), ({}, 1)):
        proof = write(tmp_path, problem | {"hints": hints})[1]
        assert run([svm, proof], capsys)[0] == code
        assert run([svm, proof, "--zero-based"], capsys)[0] == 0


def test_hints_name_the_features(tmp_path, capsys):
    """Weights and dropped columns stand between those of X, which are in another order."""
    problem = make("huber", np.random.default_rng(0))
    X, y, csv = problem["X"], problem["y"], tmp_path / "a.csv"
    rows = [f"{c!r},{t!r},text,{a!r},2.5,{b!r}" for (a, b, c), t in zip(X.tolist(), y.tolist())]
    named = {"target": "t", "features": ["a", "b", "c"]}
    numbered = {"target": "2", "features": ["4", "6", "1"]}
    header = "c,t,note,a,weight,b"
    for lines, hints, code in (
        ([header, *rows], named, 0),
        ([header, *rows], numbered, 0),
        (rows, numbered, 0),
        (rows, numbered | {"target": 2, "features": [4, 6, 1]}, 0),
        ([header, *rows], named | {"features": ["b", "a", "c"]}, 1),
        ([header, *rows], named | {"features": ["a", "b"]}, 1),
        ([header, *rows], named | {"features": ["a", "b", "missing"]}, 2),
        ([header, *rows], named | {"features": ["a", "b", "note"]}, 2),
        ([header, *rows], {"target": "t"}, 2),
        (rows, named, 2),
        (rows, numbered | {"features": ["4", "6", "7"]}, 2),
        (["2,x,7,4,6,1", *rows], numbered, 1),  # one sample more
    ):
        csv.write_text("\n".join(lines))
        proof = write(tmp_path, problem | {"hints": hints})[1]
        got, out = run([str(csv), proof], capsys)
        assert got == code, (hints, out)
    for hints in ({}, {"features": None}, {"features": ["1", "2", "3"]}):  # the target is the last
        csv.write_text(
            "\n".join(f"{a!r};{b!r};{c!r};{t!r}" for (a, b, c), t in zip(X.tolist(), y.tolist()))
        )
        assert run([str(csv), write(tmp_path, problem | {"hints": hints})[1]], capsys)[0] == 0


def test_a_header_may_have_names_that_are_numbers(tmp_path, capsys):
    problem = make("huber", np.random.default_rng(0))
    X, y = problem["X"].tolist(), problem["y"].tolist()
    rows = [f"{a!r},{b!r},{c!r},{t!r}" for (a, b, c), t in zip(X, y)]
    (tmp_path / "a.csv").write_text("\n".join(["3,2,1,t", *rows]))
    hints = {"target": "t", "features": ["3", "2", "1"]}
    proof = write(tmp_path, problem | {"hints": hints})[1]
    assert run([str(tmp_path / "a.csv"), proof], capsys)[0] == 0


def test_keys_of_the_header_that_occur_twice(tmp_path, capsys):
    problem = make("huber", np.random.default_rng(0))
    data, proof = write(tmp_path, problem)
    text = json.dumps(header_of(problem))
    assert run([data, proof], capsys)[0] == 0
    lam = f'"lam": "{hexed(problem["lam"])}"'
    for old, new in (
        ('"version": 1', '"version": 2, "version": 1'),
        (lam, f'"lam": "0x1.0p+0", {lam}'),
    ):
        assert old in text
        members = members_of(problem) | {"header.json": text.replace(old, new)}
        write_members(proof, members)
        code, out = run([data, proof], capsys)
        assert code == 2
        assert "twice" in out


def test_codes_are_printed_for_people(tmp_path, capsys):
    problem = make("hinge", np.random.default_rng(0), "free")
    assert "codes: 2 -> -1, 5 -> 1\n" in run(write(tmp_path, problem), capsys)[1]
    texts = {2.0: "malignant", 5.0: "benign"}
    problem["y"] = [texts[float(v)] for v in problem["y"]]
    problem["codes"] = [["malignant", -1.0], ["benign", 1.0]]
    out = run(write(tmp_path, problem), capsys)[1]
    assert "codes: malignant -> -1, benign -> 1\n" in out
    for label in ("benign -> -1, malignant", "x\nVERIFIED gap <= 0", "\u202e", ""):
        odd = {**problem, "y": [label if v == "malignant" else v for v in problem["y"]]}
        odd["codes"] = [[label, -1.0], ["benign", 1.0]]
        _, proof = write(tmp_path, odd)
        np.savez(tmp_path / "odd.npz", X=odd["X"], y=odd["y"])
        code, out = run([str(tmp_path / "odd.npz"), proof], capsys)
        assert code == 0
        assert f"codes: {label!a} -> -1, benign -> 1\n" in out
        assert out.count("\nVERIFIED") == 1


def test_each_of_several_problems_is_checked(tmp_path, capsys):
    problems = [make("huber", np.random.default_rng(0), kind) for kind in ("none", "penalised")]
    assert (problems[0]["X"] == problems[1]["X"]).all()
    for false in (None, 0, 1):
        changed = copy.deepcopy(problems)
        if false is not None:
            changed[false]["claims"]["gap"] *= 0.999
        header = header_of(changed[0])
        header["problems"].append(header_of(changed[1])["problems"][0])
        members = members_of(changed[0], header)
        for name, content in members_of(changed[1]).items():
            if name != "header.json":
                members[name.replace("0/", "1/")] = content
        data, proof = write(tmp_path, problems[0])
        write_members(proof, members)
        code, out = run([data, proof], capsys)
        assert code == (false is not None)
        assert out.count("VERIFIED") == {None: 2, 0: 0, 1: 1}[false]
        assert (f"REFUSED: problem {false}: " in out) == (false is not None)


def test_a_forged_number_of_features_takes_no_memory(tmp_path, capsys):
    problem = make("huber", np.random.default_rng(0))
    header, p = header_of(problem), 10**11
    X, data = problem["X"], header["data"]
    rows, columns = np.nonzero(X)
    counts = np.r_[0, np.cumsum((X != 0).sum(axis=1))]
    ints = [np.array(v, dtype="<i8").tobytes() for v in ((7, p), counts, columns)]
    data |= {"features": p, "X": sha(b"dualgap-matrix-1\n", *ints, X[rows, columns].tobytes())}
    header["problems"][0]["seal"] = seal(header["problems"][0], data)
    code, out = run(write(tmp_path, problem, header), capsys)
    assert code == 2
    assert "w.npy: its shape" in out


def test_the_file_is_short_and_old_pythons_read_it():
    with open(dgcheck.__file__, encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert len(lines) <= 500
    assert max(map(len, lines)) <= 120
    ast.parse("\n".join(lines), feature_version=(3, 10))


def test_the_copied_file_runs_alone(tmp_path):
    problem = make("logistic", np.random.default_rng(0), "free", weights=True)
    paths = write(tmp_path, problem)
    shutil.copy(dgcheck.__file__, tmp_path / "copy.py")
    for encoding, sign in (("utf-8", "Σ"), ("ascii", "\\u03a3")):
        environment = {"PYTHONIOENCODING": encoding}
        command = [sys.executable, "-S", str(tmp_path / "copy.py"), *paths]
        good = subprocess.run(command, capture_output=True, env=environment, check=False)
        assert good.returncode == 0
        assert b"VERIFIED gap <= " in good.stdout
        assert sha(problem["arrays"]["weights"].tobytes()).encode() in good.stdout
        false = copy.deepcopy(problem)
        false["repairs"] = {}
        write(tmp_path, false)
        bad = subprocess.run(command, capture_output=True, env=environment, check=False)
        assert bad.returncode == 1
        assert (
            f"REFUSED: problem 0: {sign} s a = ".encode(encoding, "backslashreplace") in bad.stdout
        )
        assert not good.stderr + bad.stderr
        write(tmp_path, problem)
    alone = [sys.executable, "-I", "-S", str(tmp_path / "copy.py"), *paths]
    assert subprocess.run(alone, capture_output=True, check=False).returncode == 0


# ---------------------------------------------------------------- zeros and labels of every optimum


def optimum(X, y, l1, l2, lam, intercept, low=-INF):
    """w, b and residuals of an elastic net with squared loss, by coordinate descent."""
    n, p = X.shape
    w, b = np.zeros(p), 0.0
    for _ in range(3000):
        if intercept == "free":
            b = float(np.mean(y - X @ w))
        for j in range(p):
            rest = y - X @ w - b + X[:, j] * w[j]
            pull = X[:, j] @ rest / n
            size = max(abs(pull) - lam * l1, 0) / (X[:, j] @ X[:, j] / n + lam * l2)
            bound = low if j < 4 else -INF
            w[j] = max(math.copysign(size, pull), bound) if size else 0.0
    return w, b, y - X @ w - b


def elastic_net(intercept="none", l1=0.4, l2=0.5, low=None, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(8, 4)), 3)
    X[:, 3] *= 1e-3  # far inside
    y = np.round(X[:, 0] * 2 + rng.normal(size=8) * 0.1 + 1.5 * (intercept == "free"), 3)
    least = -INF if low is None else low
    if intercept == "penalised":  # a further feature whose value is the scaling, 1
        w, b, a = optimum(np.c_[X, np.ones(8)], y, l1, l2, 0.25, intercept, least)
        w, b = w[:4].copy(), float(w[4])
    else:
        w, b, a = optimum(X, y, l1, l2, 0.25, intercept, least)
    exact = [Q(float(v)) for v in a]
    repairs = {}
    if intercept == "free":
        repairs = {7: exact[7] - sum(exact)}
        a[7] = 0.0  # is not read
    elif l2 == 0:
        a *= 1 - 1e-12
    arrays = {"w": w, "b": np.array([b]), "a": a}
    if low is not None:
        arrays["low"] = np.full(4, low)
    problem = dict(
        X=X, y=y, codes=None, coded=[Q(float(v)) for v in y],
        loss={"name": "squared", "gamma": 1.0},
        l1=l1, l2=l2, lam=0.25, intercept=intercept, scaling=1.0, K=1, arrays=arrays,
        repairs=repairs,
    )  # fmt: skip
    claim(problem)
    assert problem["claims"]["gap"] < 1e-9
    return problem


@pytest.mark.parametrize("intercept", ["none", "free", "penalised"])
@pytest.mark.parametrize("low", [None, 0.0])
def test_zeros(intercept, low, tmp_path, capsys):
    problem = elastic_net(intercept, low=low)
    w = problem["arrays"]["w"]
    assert 0 < (w == 0).sum() < 4
    problem["arrays"]["zeros"] = (w == 0).astype("i1")
    code, out = run(write(tmp_path, problem), capsys)
    assert code == 0, out
    assert f"{(w == 0).sum()} zeros" in out
    for j in np.nonzero(w)[0]:
        problem["arrays"]["zeros"] = (np.arange(4) == j).astype("i1")
        code, out = run(write(tmp_path, problem), capsys)
        assert code == 1
        assert "zeros" in out
    problem["arrays"]["zeros"] = (w == 0).astype("i1") * 2
    assert run(write(tmp_path, problem), capsys)[0] == 1
    problem["arrays"]["zeros"] = (w == 0).astype("i1")
    problem["arrays"]["w"] = w + 0.3  # now the gap is too large to say anything
    assert run(write(tmp_path, claim(problem)), capsys)[0] == 1


def test_zeros_that_bounds_and_weights_give(tmp_path, capsys):
    problem = make("squared", np.random.default_rng(0), bounds=True)
    problem["arrays"]["zeros"] = np.array([1, 0, 0], dtype="i1")  # an infinite weight
    assert run(write(tmp_path, problem), capsys)[0] == 0
    problem["arrays"]["low"][1] = problem["arrays"]["high"][1] = problem["arrays"]["w"][1] = 0
    problem["arrays"]["zeros"][1] = 1  # no room
    assert run(write(tmp_path, claim(problem)), capsys)[0] == 0
    problem["arrays"]["zeros"][2] = 1
    assert run(write(tmp_path, problem), capsys)[0] == 1


def test_a_coefficient_with_a_positive_lower_bound_is_not_zero(tmp_path, capsys):
    """u lies strictly inside of [−l1, l1], but 0 is not allowed."""
    problem = elastic_net(l2=0.0, l1=50.0)
    problem["arrays"] |= {"low": np.full(4, 0.01), "w": np.full(4, 0.01)}
    assert run(write(tmp_path, claim(problem)), capsys)[0] == 0
    problem["arrays"]["zeros"] = np.array([0, 0, 0, 1], dtype="i1")
    assert run(write(tmp_path, problem), capsys)[0] == 1


def test_zeros_need_a_strongly_convex_conjugate(tmp_path, capsys):
    problem = make("hinge", np.random.default_rng(0), l1=100.0)
    assert run(write(tmp_path, problem), capsys)[0] == 0
    problem["arrays"]["zeros"] = np.ones(3, dtype="i1")
    code, out = run(write(tmp_path, problem), capsys)
    assert code == 1
    assert "strongly convex" in out


@pytest.mark.parametrize("name", CLASSES)
def test_zeros_of_classes(name, tmp_path, capsys):
    """With a large l1 no coefficient can be other than 0; with a small one that is not proven."""
    problem = make(name, np.random.default_rng(2), "free", l1=50.0)
    problem["arrays"]["w"] *= 0
    problem["arrays"]["zeros"] = np.ones((3, 3), dtype="i1")
    assert run(write(tmp_path, claim(problem)), capsys)[0] == 0
    problem["l1"] = 0.5
    assert run(write(tmp_path, claim(problem)), capsys)[0] == 1


def test_a_zero_is_proven_just_where_its_radius_ends(tmp_path, capsys):
    """One sample, x = 1, y = 0, w = 0, a = 1/4, λ = 1/2: P = 0, D = −1/32, u = 1/2 and ρ = 1/2."""
    arrays = {"w": np.zeros(1), "b": np.zeros(1), "a": np.array([0.25])}
    for l1, good in ((up(1.0), True), (1.0, False)):
        problem = dict(
            X=np.ones((1, 1)), y=np.zeros(1), coded=[Q(0)], codes=None, repairs={}, lam=0.5, l2=0.0,
            loss={"name": "squared", "gamma": 1.0}, l1=l1, intercept="none", scaling=1.0, K=1,
            arrays=arrays | {"zeros": np.ones(1, dtype="i1")},
        )  # fmt: skip
        assert evaluate(claim(problem)) == (0, Q(-1, 32))
        assert (run(write(tmp_path, problem), capsys)[0] == 0) == good


def test_a_strongly_convex_penalty_may_touch_the_end(tmp_path, capsys):
    """As above with l2 = 1: the slope of g* is 0 on the closed interval."""
    arrays = {"w": np.zeros(1), "b": np.zeros(1), "a": np.array([0.25])}
    below = math.nextafter(1.0, 0)
    for l1, l2, more, good in (
        (1.0, 1.0, {}, True),
        (below, 1.0, {}, False),
        (0.5, 1.0, {"penalty_weights": np.array([2.0])}, True),
        (1.0, 1.0, {"low": np.zeros(1)}, True),
        (below, 1.0, {"low": np.zeros(1)}, False),
        (0.5, 1.0, {"high": np.zeros(1)}, True),  # the lower end is 0
        (1.0, 0.0, {}, False),
        (1.0, 5e-324, {}, True),
    ):
        problem = dict(
            X=np.ones((1, 1)), y=np.zeros(1), coded=[Q(0)], codes=None, repairs={}, lam=0.5, l2=l2,
            loss={"name": "squared", "gamma": 1.0}, l1=l1, intercept="none", scaling=1.0, K=1,
            arrays=arrays | more | {"zeros": np.ones(1, dtype="i1")},
        )  # fmt: skip
        assert evaluate(claim(problem)) == (0, Q(-1, 32))
        assert (run(write(tmp_path, problem), capsys)[0] == 0) == good, (l1, l2, more)


@pytest.mark.parametrize("intercept", ["none", "free", "penalised"])
def test_a_column_of_zeros_has_no_coefficient(intercept, tmp_path, capsys):
    problem = make("squared", np.random.default_rng(0), intercept)
    problem["X"][:, 1] = 0
    problem["arrays"]["w"][1] = 0
    problem["arrays"]["zeros"] = np.array([0, 1, 0], dtype="i1")
    assert run(write(tmp_path, claim(problem)), capsys)[0] == 0
    problem["arrays"]["penalty_weights"] = np.array([1.0, 0.0, 1.0])  # any coefficient is as good
    assert run(write(tmp_path, claim(problem)), capsys)[0] == 1
    problem["arrays"]["penalty_weights"] = np.array([1.0, 5e-324, 1.0])
    assert run(write(tmp_path, claim(problem)), capsys)[0] == 0


def scores(problem):
    return problem["X"] @ problem["arrays"]["w"] + problem["arrays"]["b"][0]


@pytest.mark.parametrize("intercept", ["none", "free", "penalised"])
def test_labels(intercept, tmp_path, capsys):
    problem = elastic_net(intercept, l1=0.0)
    arrays, signs = problem["arrays"], np.sign(scores(problem)).astype("i1")
    arrays["labels"] = signs
    if intercept == "free":
        assert run(write(tmp_path, problem), capsys)[0] == 1  # no radius
        arrays["centre"] = problem["X"].mean(axis=0)
        problem["claims"]["intercept_radius"] = 1e-3
    code, out = run(write(tmp_path, problem), capsys)
    assert code == 0, out
    assert "8 signs" in out
    if intercept == "free":
        for radius in (0.0, 1e-25, -1e-3, 10.0):  # too small, or too large for the labels
            problem["claims"]["intercept_radius"] = radius
            code, out = run(write(tmp_path, problem), capsys)
            assert code == 1, radius
        problem["claims"]["intercept_radius"] = 1e-3
    for i in range(8):
        arrays["labels"] = np.where(np.arange(8) == i, -signs, 0).astype("i1")
        code, out = run(write(tmp_path, problem), capsys)
        assert code == 1
        assert f"sample {i}" in out
    arrays["labels"] = signs
    arrays["w"] = arrays["w"] + 0.7
    assert run(write(tmp_path, claim(problem) | {"claims": problem["claims"]}), capsys)[0] == 1


def slopes(name, z, y):
    """φ'(z)"""
    if name == "logistic":
        return -y / (1 + np.exp(y * z))
    if name == "smoothed-hinge":
        return -y * np.clip((1 - y * z) / 0.5, 0, 1)
    return np.clip(z - y, -0.625, 0.625) if name == "huber" else (z - y) / 0.75


def descend(name, X, y, w, b, fixed, intercept):
    """Gradient steps on P with l2 = 1, λ = 0.37; for b alone if w is fixed"""
    for _ in range(4000):
        slope = slopes(name, X @ w + b, y) / len(y)
        w = w if fixed else w - 0.1 * (X.T @ slope + 0.37 * w)
        if intercept != "none":
            b -= 0.1 * (slope.sum() + (0.37 * b / 1.5**2 if intercept == "penalised" else 0))
    return w, b


@pytest.mark.parametrize("intercept", ["none", "free", "penalised"])
@pytest.mark.parametrize("name", ["logistic", "smoothed-hinge", "huber", "squared"])
def test_verified_labels_are_those_of_the_optimum(name, intercept, tmp_path, capsys):
    """The nearer a model is to the optimum, the more labels are verified, and never a wrong one."""
    rng = np.random.default_rng(11)
    problem = make(name, rng, intercept, n=12)
    X, y = problem["X"], np.array([float(v) for v in problem["coded"]])
    best = descend(name, X, y, np.zeros(3), 0.0, False, intercept)
    right, counts = np.sign(X @ best[0] + best[1]), []
    for distance in (0.3, 0.03, 1e-6):
        w, b = descend(
            name, X, y, best[0] + distance * rng.normal(size=3), best[1], True, intercept
        )
        a = -slopes(name, X @ w + b, y)
        problem["arrays"] = {"w": w, "b": np.array([b]), "a": a}
        problem["repairs"] = {}
        if intercept == "free":
            at = int(np.argmin(np.abs(np.abs(a) - 0.3)))  # well inside of the domain
            exact = [Q(float(v)) for v in a]
            problem["repairs"] = {at: exact[at] - sum(exact)}
            problem["arrays"]["centre"] = X.mean(axis=0)
        claim(problem)
        gap = problem["claims"]["gap"]
        verified = 0
        for i, radius in itertools.product(
            range(12), (0.03, 0.3) if intercept == "free" else (None,)
        ):
            problem["claims"]["intercept_radius"] = radius
            for sign in (-1, 1):
                problem["arrays"]["labels"] = sign * (np.arange(12) == i).astype("i1")
                code, _ = run(write(tmp_path, problem), capsys)
                assert code or sign == right[i], gap
                verified += code == 0
        counts.append(verified)
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] >= 8


def test_labels_without_curvature(tmp_path, capsys):
    problem = elastic_net(l2=0.0, l1=0.1)
    problem["arrays"]["labels"] = np.zeros(8, dtype="i1")
    problem["arrays"]["labels"][0] = np.sign(scores(problem)[0])
    assert run(write(tmp_path, problem), capsys)[0] == 1
    problem = elastic_net("none", l1=0.0)
    problem["arrays"]["labels"] = np.sign(scores(problem)).astype("i1")
    problem["arrays"]["centre"] = np.zeros(4)
    assert run(write(tmp_path, problem), capsys)[0] == 1  # a centre without a free intercept
    del problem["arrays"]["centre"]
    problem["claims"]["intercept_radius"] = 1.0
    assert run(write(tmp_path, problem), capsys)[0] == 1


def test_other_recodings_are_refused(tmp_path, capsys):
    """Codes that are no signs state another y; those of labels that do not occur hide others."""
    problem = make("squared", np.random.default_rng(0), "free")
    labels = sorted({float(v) for v in problem["y"]})
    problem["codes"] = [[v, v] for v in labels]
    assert run(write(tmp_path, problem), capsys)[0] == 1
    problem = make("hinge", np.random.default_rng(0), "free")
    problem["codes"] = [*problem["codes"], [99.0, 1.0]]
    code, out = run(write(tmp_path, problem), capsys)
    assert code == 1
    assert "for each label of y" in out


def test_huge_numerators_are_unreadable(tmp_path, capsys):
    problem = make("squared", np.random.default_rng(0), "none")
    problem["repairs"] = {0: Q(1 << 4_000_000)}
    assert run(write(tmp_path, problem), capsys)[0] == 2
