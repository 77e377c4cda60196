"""What features and samples do in an iteration of SPDC; ``spdc.py`` has the method."""

from __future__ import annotations

from typing import Any, NamedTuple

from dualgap.compile.kernels import helper
from dualgap.compile.prefetch import prefetch
from dualgap.compile.rules import dual_step, glide, prox
from dualgap.steps.sets.batch import replace

# A feature's cells: coefficient now and one iteration ago, u, and the iterations done. Its share of
# an iteration with several samples: what they add to u, and the same divided by probabilities.
W, BEFORE, U, DONE, WIDTH = 0, 1, 2, 3, 4
ADDED, BOOSTED, SHARE = 0, 1, 2


class SaddleFeatures(NamedTuple):
    """Features that take proximal steps of length τλ = ``t``.

    A single sample makes its features step at once. Those of a set add up in ``shares`` first.
    """

    penalty: Any
    cells: Any
    batches: bool
    shares: Any
    t: float
    theta: float
    boost: Any
    decay: Any

    def wake(self, j, t):
        at = WIDTH * j
        k = t - 1 - int(self.cells[at + DONE])
        if k > 0 and self.batches:
            share = SHARE * j
            move(self, j, self.shares[share + ADDED], self.shares[share + BOOSTED])
            self.shares[share + ADDED] = 0.0
            self.shares[share + BOOSTED] = 0.0
            k -= 1
        if k > 0:
            shift = self.t * self.cells[at + U]
            before = glide(
                self.penalty, self.cells[at + W], 1.0, shift, self.t, k - 1, j, self.decay
            )
            self.cells[at + BEFORE] = before
            self.cells[at + W] = prox(self.penalty, before + shift, self.t, j)
        self.cells[at + DONE] = t - 1

    def read(self, j, i, t):
        w = self.cells[WIDTH * j + W]
        return w + self.theta * (w - self.cells[WIDTH * j + BEFORE])

    def touch(self, j, amount, i, t):
        if self.batches:
            self.shares[SHARE * j + ADDED] += amount
            self.shares[SHARE * j + BOOSTED] += amount * self.boost[i]
        else:
            move(self, j, amount, amount * self.boost[i])
            self.cells[WIDTH * j + DONE] = t

    def expect(self, j):
        prefetch(self.cells, WIDTH * j)
        if self.batches:
            prefetch(self.shares, SHARE * j)


@helper
def move(features: Any, j: int, added: float, boosted: float) -> None:
    """The step of feature ``j`` in an iteration that changes its u."""
    at = WIDTH * j
    before = features.cells[at + W]
    pull = features.cells[at + U] + boosted
    features.cells[at + BEFORE] = before
    features.cells[at + W] = prox(features.penalty, before + features.t * pull, features.t, j)
    features.cells[at + U] += added


class SaddleSamples(NamedTuple):
    """Samples that take a dual step with curvature q, held close to ``centre`` by ``delta``."""

    loss: Any
    y: Any
    q: Any
    scale: Any
    a: Any
    delta: float
    centre: Any

    def respond(self, i, z, t):
        q = self.q[i] + self.delta
        near = (self.q[i] * self.a[i] + self.delta * self.centre[i]) / q
        return replace(self.a, i, dual_step(self.loss, near, z, q, self.y[i]), self.scale[i])

    def expect(self, i):
        prefetch(self.a, i)
        prefetch(self.y, i)
        prefetch(self.q, i)
        prefetch(self.scale, i)
        prefetch(self.centre, i)
