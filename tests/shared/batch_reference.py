"""Methods on sets of samples in plain NumPy: dense, O(nd) an iteration, as in their papers."""

import numpy as np
import scipy.sparse as sp

from dualgap.samplings import Sets
from dualgap.samplings.base import checked_draw


def sparse_rows(n, d, seed=0, spread=1.0):
    """Rows of unequal norms; most features occur in every second row, the last few in one."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.5)
    X[:, -3:] = 0.0
    for j in range(d - 3, d):
        X[rng.integers(n), j] = 1.0 + rng.random()
    return X * np.exp(spread * rng.standard_normal((n, 1)))


def labels(X, seed=0):
    rng = np.random.default_rng(seed)
    score = X @ rng.standard_normal(X.shape[1]) + 0.1 * rng.standard_normal(len(X))
    return np.where(score > np.median(score), 1.0, -1.0)


def dense(problem):
    return problem.X.toarray() if sp.issparse(problem.X) else np.asarray(problem.X, dtype=float)


def draw_sets(sampling, known, iterations, rng):
    """Exactly so many sets, as the loop would draw them."""
    order, sizes = [], []
    while len(sizes) < iterations:
        missing = iterations - len(sizes)
        count = max(1, round(missing * (known.p.sum() if sampling.sets else 1.0)))
        drawn = checked_draw(sampling, known.weights, count, rng)
        order.append(drawn.order)
        sizes += [1] * len(drawn.order) if drawn.offsets is None else list(np.diff(drawn.offsets))
    offsets = np.concatenate([[0], np.cumsum(sizes[:iterations])])
    return Sets(np.concatenate(order)[: offsets[-1]], offsets)


def members(sets):
    return [sets.order[b:e] for b, e in zip(sets.offsets[:-1], sets.offsets[1:])]


# --- losses and penalties, all coordinates at once ------------------------------------------------


def soft(v, t):
    return np.sign(v) * np.maximum(np.abs(v) - t, 0.0)


class SmoothedHinge:
    """``gamma`` 0 is the hinge, for which only the step is defined; δ/2·(a − centre)² may be added
    to the conjugate."""

    def __init__(self, y, gamma, delta=0.0):
        self.y, self.gamma, self.delta = y, gamma, delta

    def step(self, a, z, q, at, centre=0.0):
        """argmax −φ*(−b) − z·b − (q/2)(b − a)² − (δ/2)(b − centre)²."""
        y, total = self.y[at], q + self.gamma + self.delta
        return y * np.clip((y * (q * a + self.delta * centre) + 1.0 - y * z) / total, 0.0, 1.0)

    def slope(self, z, at):
        y = self.y[at]
        return -y * np.clip((1.0 - y * z) / self.gamma, 0.0, 1.0)


def prox_elastic_net(ratio, weights=1.0, low=-np.inf, high=np.inf):
    """The prox of Box(low, high, Weighted(ElasticNet(ratio), weights))."""

    def prox(v, t):
        with np.errstate(invalid="ignore"):
            w = soft(v, t * weights * ratio) / (1.0 + t * weights * (1.0 - ratio))
        return np.clip(np.where(np.isinf(weights), 0.0, w), low, high)

    return prox


def held(prox, rho, centre):
    """The prox of Proximal(penalty, rho, centre), from that of the penalty."""
    return lambda v, t: prox((v + t * rho * centre) / (1.0 + t * rho), t / (1.0 + t * rho))


# --- methods --------------------------------------------------------------------------------------


def quartz(X, c, lam, sets, loss, link, option, p, q, theta, pace, w, a):
    """Algorithm 1 of Qu et al. 2014; ``pace`` is the step of the primal average."""
    w, a = w.copy(), a.copy()
    u = X.T @ (c * a) / lam
    for S in sets:
        goal = link(u)
        w = (1.0 - pace) * w + pace * goal
        if option == "I":
            new = loss.step(a[S], X[S] @ goal, q[S], S)
        else:
            part = theta / p[S]
            new = (1.0 - part) * a[S] - part * loss.slope(X[S] @ w, S)
        u = u + X[S].T @ (c[S] * (new - a[S])) / lam
        a[S] = new
    return w, a


def spdc(X, c, lam, sets, loss, prox, p, q, tau, theta, w, a, last=None, centre=None):
    """Algorithms 1 and 2 of Zhang and Xiao 2015; returns also the w of one iteration ago."""
    w, a = w.copy(), a.copy()
    last = w if last is None else last
    centre = np.zeros(len(a)) if centre is None else centre
    u = X.T @ (c * a) / lam
    for S in sets:
        look = w + theta * (w - last)
        new = loss.step(a[S], X[S] @ look, q[S], S, centre[S])
        change = c[S] * (new - a[S]) / lam
        last, w = w, prox(w + tau * lam * (u + X[S].T @ (change / p[S])), tau * lam)
        u = u + X[S].T @ change
        a[S] = new
    return w, a, last


def asdca(X, c, lam, sets, loss, theta, w, a):
    """Figure 1 of Shalev-Shwartz and Zhang 2013 (accelerated mini-batch SDCA)."""
    w, a = w.copy(), a.copy()
    u = X.T @ (c * a) / lam
    for S in sets:
        look = (1.0 - theta) * w + theta * u
        new = (1.0 - theta) * a[S] - theta * loss.slope(X[S] @ look, S)
        u = u + X[S].T @ (c[S] * (new - a[S])) / lam
        a[S] = new
        w = (1.0 - theta) * w + theta * u
    return w, a


def apcg(X, c, lam, order, loss, link, gamma, q, a):
    """Algorithm 2 of Lin, Lu and Xiao 2014, three sequences of dual points x, y, z.

    The smooth part is λg*(u) + γ/2·Σc a², with coordinate constants L_i = c_i(γ + q).
    """
    n = len(a)
    root = np.sqrt(gamma / (gamma + q))
    alpha = root / n
    x, z = a.copy(), a.copy()
    for i in order:
        y = (x + alpha * z) / (1.0 + alpha)
        u = X.T @ (c * y) / lam
        slope = X[i] @ link(u) + gamma * y[i]  # ∂_i of the smooth part, over c_i
        base = (1.0 - alpha) * z + alpha * y
        after = base.copy()
        # min (nα L/2)(b − base)² + slope·b + φ*(−b) − (γ/2)b², over c: complete the square.
        weight = n * alpha * (gamma + q)
        after[i] = loss.step(base[i], slope - gamma * base[i], weight - gamma, i)
        x = y + n * alpha * (after - z) + n * alpha**2 * (z - y)
        z = after
    return x


def disdca(X, c, lam, sets, loss, link, alone, machines, tau, practical, a):
    """Yang 2013: every machine has its own copy of u for the length of a round."""
    a = a.copy()
    size = -(-len(a) // machines)
    u = X.T @ (c * a) / lam
    for S in sets:
        sent = np.zeros_like(u)
        for machine in range(machines):
            local = u.copy()
            for i in S[S // size == machine]:
                q = alone[i] * (machines if practical else machines * tau)
                new = loss.step(a[i], X[i] @ link(local), q, i)
                move = c[i] * (new - a[i]) / lam * X[i]
                sent += move
                if practical:
                    local = local + machines * move
                a[i] = new
        u = u + sent
    return u, a
