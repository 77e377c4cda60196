"""dgcheck against proofs that are written and evaluated here, without a line of dualgap."""

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

import dgcheck
import numpy as np
import pytest

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
    "softmax": {},
    "multiclass-hinge": {"gamma": 0.8},
}
SIGNED = ("hinge", "smoothed-hinge", "squared-hinge", "logistic")
CLASSES = ("softmax", "multiclass-hinge")


# A problem is a dict: X, y (as in the data), coded, loss, l1, l2, lam, intercept, scaling, K, codes,
# arrays (name: array), repairs (flat index: fraction), claims. It is evaluated from its definition.


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
    if name in SIGNED and not (0 <= y * a and (y * a <= 1 or name == "squared-hinge")):
        return INF
    if name == "logistic":
        return xlogx(y * a) + xlogx(1 - y * a)
    if name == "poisson":
        return xlogx(y - a) - (y - a) if a <= y else INF
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
    return P <= primal + TINY and D >= dual - TINY and P - D <= gap + TINY


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
    elif name == "poisson":
        y = np.floor(rng.exponential(2, size=n))
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
        elif name == "poisson":
            flat = [y - 2 * v for v, y in zip(flat, problem["coded"])]
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
