"""Zhang, Xiao 2015: Stochastic Primal-Dual Coordinate Method for Regularized ERM (SPDC).

Section 5: smoothed hinge loss (γ = 1), L2, λ = 1e-4, 1e-6, 1e-8; suboptimality by passes over the
data. Figure 1: SPDC against AFG and L-BFGS; 2: against SAG, SDCA and ASDCA, which here is the
accelerated method with inner and outer loop (AccProx-SDCA), run where λ ≤ R²/(10n).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from dualgap.samplings import TauNice
from dualgap.steps import AccProxSDCA
from papers.costs import exponent
from papers.curves import epoch_seconds, largest_rise, needed, values, within_reach
from papers.figure import Exhibit, Panel, Race, RaceFigure
from papers.ledger import Ledger, Record
from papers.paper import Claim, Paper, Verdict
from papers.runs import Contender, Limits, ProblemSpec, Run

SPDC = Contender.named("SPDC", "spdc", 0)
AFG = Contender.named("AFG", "afg", 1)
LBFGS = Contender.named("L-BFGS", "lbfgs", 2)
SAG = Contender.named("SAG", "sag-smooth", 3)
SDCA = Contender.named("SDCA", "sdca", 4)
ASDCA = Contender.named("ASDCA, theory", "accprox-sdca", 5, dashed=True)
ASDCA_2 = Contender.named("ASDCA, 2 passes a step", "accprox-sdca", 6, step=AccProxSDCA(passes=2))
WEIGHTED = Contender.named("weighted SPDC", "spdc-weighted", 1)
BATCH, STOCHASTIC, ACCELERATED = (AFG, LBFGS), (SAG, SDCA), (ASDCA, ASDCA_2)

DATA = ("cov1", "rcv1", "news20")
LAMBDAS = (1e-4, 1e-6, 1e-8)
QUICK_ROWS = {"cov1": 30_000, "rcv1": 8_000, "news20": 3_000}
QUICK_COLUMNS = 200_000
PASSES, QUICK_PASSES = 100, 50
# At the smallest λ momentum takes hundreds of passes to pay.
MANY_PASSES = 600
# The suboptimality, relative to P(0), at which claims are judged, and that for the smallest λ.
LEVEL, LOW_LEVEL = 1e-4, 1e-6
SIZES = (1, 4, 16, 64, 256)  # of mini-batches
LARGEST_NORMS = (10, 100)
FEATURES = (1_000, 10_000, 100_000, 1_000_000)


@cache
def race(data: str, lam: float, quick: bool) -> Race:
    """All methods on one set with one λ (figures 1 and 2)."""
    problem = ProblemSpec(data, "smoothed-hinge", lam)
    if quick:
        problem = replace(problem, rows=QUICK_ROWS[data], cut=QUICK_COLUMNS)
    many = PASSES if lam > LAMBDAS[-1] else MANY_PASSES
    limits = Limits(1e-10, QUICK_PASSES if quick else many)
    contenders = (SPDC, *BATCH, *STOCHASTIC, *(ACCELERATED if lam <= 1e-6 else ()))
    optimum = Limits(1e-7 if quick else 1e-9, 3_000, 15.0 if quick else 150.0)
    count = 1 if quick else (3 if data == "rcv1" else 2)
    return Race(
        problem,
        contenders,
        limits,
        count,
        special={c.label: (limits, 1) for c in BATCH},  # nothing random in them
        reference=Run(problem, Contender.named("optimum", "apcg", 7), 0, optimum),
    )


@cache
def batches(quick: bool) -> tuple[Race, ...]:
    """SPDC with mini-batches (Corollary 1), for each λ."""
    return tuple(
        Race(
            race("rcv1", lam, quick).problem,
            tuple(
                Contender(f"m = {m}", SPDC.step, TauNice(m) if m > 1 else SPDC.sampling, style)
                for style, m in enumerate(SIZES)
            ),
            Limits(1e-4, 1_000, 120.0),
            1 if quick else 2,
        )
        for lam in LAMBDAS[:2]
    )


@cache
def unequal(largest: int, quick: bool) -> Race:
    """Rows of norm 1, but for one in a hundred, of a larger norm."""
    problem = ProblemSpec(f"made:unequal:20000:50:{largest}", "smoothed-hinge", 1e-4)
    return Race(problem, (SPDC, WEIGHTED), Limits(1e-5, 5_000, 60.0), 1 if quick else 3)


def _iterations(contender: Contender) -> list[Run]:
    """Epochs over the same rows with ever more features."""
    return [
        Run(
            ProblemSpec(f"made:short-rows:20000:{d}:20", "smoothed-hinge", "1/n"),
            contender,
            0,
            Limits(0.0, 20),
            timed=True,
        )
        for d in FEATURES
    ]


def exhibits(quick: bool) -> list[Exhibit]:
    def rows(shown: tuple[Contender, ...], y: str = "primal") -> tuple[tuple[Panel, ...], ...]:
        labels = tuple(c.label for c in (SPDC, *shown))
        return tuple(
            tuple(
                Panel(
                    race(data, lam, quick),
                    "passes",
                    y,
                    only=labels,
                    floor=1e-10,
                    reach=float(race(data, lam, quick).limits.epochs),
                )
                for data in DATA
            )
            for lam in LAMBDAS
        )

    about = "Zhang 2015, figure"
    return [
        RaceFigure("1", f"{about} 1: SPDC and batch methods", rows(BATCH)),
        RaceFigure(
            "2", f"{about} 2: SPDC and stochastic methods", rows((*STOCHASTIC, *ACCELERATED))
        ),
        RaceFigure(
            "2c",
            f"{about} 2 again, with the current coefficients instead of the best so far",
            rows((*STOCHASTIC, *ACCELERATED), "current primal")[1:],
        ),
        RaceFigure(
            "B1",
            "Zhang 2015, section 2.1: mini-batches of m by iterations (above) and passes",
            tuple(
                tuple(
                    Panel(chosen, x, "gap", floor=1e-4, log_x=x == "iterations")
                    for chosen in batches(quick)
                )
                for x in ("iterations", "passes")
            ),
        ),
    ]


# --- claims ---------------------------------------------------------------------------------------


def _passes(
    chosen: Race, ledger: Ledger, own: Contender, rivals: tuple[Contender, ...]
) -> tuple[dict[str, float], float]:
    """Passes of a method and its rivals by label, and the suboptimality at which they are taken.

    That is ``LEVEL``·P(0), or what the method and the best of its rivals have reached in the end.
    """
    results, best = chosen.results(ledger), chosen.best(ledger)

    def reached(contender: Contender) -> float:
        """What all seeds have reached."""
        return float(max(values(r, "primal", best)[-1] for r in results[contender.label]))

    scale = results[own.label][0].scale
    wanted = LOW_LEVEL if chosen.problem.lam == LAMBDAS[-1] else LEVEL
    level = max(wanted * scale, reached(own), min(reached(rival) for rival in rivals))
    passes = {
        c.label: needed(results[c.label], "epoch", level, "primal", best) for c in (own, *rivals)
    }
    return passes, level / scale


def _name(chosen: Race, ledger: Ledger) -> str:
    record = ledger[next(chosen.runs())]
    return f"{record.name}, λ = {record.lam:g}"


def _said(passes: dict[str, float], level: float) -> str:
    shown = (f"{label} {_number(value)}" for label, value in passes.items())
    return ", ".join(shown) + f" passes to {level:.1e}·P(0)"


def _number(passes: float) -> str:
    return f"{passes:.3g}" if passes < np.inf else "more"


def _judge_batch(ledger: Ledger, quick: bool) -> list[Verdict]:
    verdicts = []
    for data in DATA:
        for lam in LAMBDAS:
            chosen = race(data, lam, quick)
            passes, level = _passes(chosen, ledger, SPDC, BATCH)
            own, rival = passes[SPDC.label], min(passes[c.label] for c in BATCH)
            if lam > LAMBDAS[-1]:
                holds, words = own < 0.5 * rival, "clearly faster (half the passes)"
            else:
                holds, words = own <= 2.0 * rival, "about equal or better (to a factor 2)"
            words = f"{words}: {_said(passes, level)}"
            verdicts.append(Verdict("Z1", _name(chosen, ledger), holds, own, rival, words))
    return verdicts


def _judge_stochastic(ledger: Ledger, quick: bool) -> list[Verdict]:
    verdicts = []
    for data in DATA:
        for lam in LAMBDAS:
            chosen = race(data, lam, quick)
            name = _name(chosen, ledger)
            if lam == LAMBDAS[0]:
                passes, level = _passes(chosen, ledger, SPDC, STOCHASTIC)
                fastest, slowest = min(passes.values()), max(passes.values())
                words = f"alike (to a factor 3): {_said(passes, level)}"
                holds = slowest <= 3.0 * fastest
                verdicts.append(Verdict("Z2", name, holds, fastest, slowest, words))
                continue
            for contender in (SPDC, *ACCELERATED):
                passes, level = _passes(chosen, ledger, contender, STOCHASTIC)
                own, rival = passes[contender.label], min(passes[c.label] for c in STOCHASTIC)
                words = f"much faster (half the passes): {_said(passes, level)}"
                verdicts.append(Verdict("Z2", name, own < 0.5 * rival, own, rival, words))
    return verdicts


def _judge_accelerated(ledger: Ledger, quick: bool) -> list[Verdict]:
    """Section 5: ASDCA beats SPDC on covtype, and not on the others."""
    verdicts = []
    for data in DATA:
        for lam in LAMBDAS[1:]:
            chosen = race(data, lam, quick)
            passes, level = _passes(chosen, ledger, SPDC, (ASDCA,))
            own, rival = passes[SPDC.label], passes[ASDCA.label]
            holds = rival < own if data == "cov1" else own < rival
            words = f"{'ASDCA' if data == 'cov1' else 'SPDC'} is faster: {_said(passes, level)}"
            verdicts.append(Verdict("Z5", _name(chosen, ledger), holds, own, rival, words))
    return verdicts


def _judge_stability(ledger: Ledger, quick: bool) -> list[Verdict]:
    """Section 5: the objective of ASDCA may rise when an outer step begins; SPDC is more stable."""
    verdicts = []
    for data in DATA:
        for lam in LAMBDAS[1:]:
            chosen = race(data, lam, quick)
            results, best = chosen.results(ledger), chosen.best(ledger)
            own, rival = (
                max(largest_rise(r, "current primal", best) for r in results[c.label])
                for c in (SPDC, ASDCA)
            )
            words = "P(w) − P* rises above its lowest value so far by at most the factor "
            words += f"{own:.3g} (SPDC), {rival:.3g} (ASDCA)"
            verdicts.append(Verdict("Z6", _name(chosen, ledger), own < rival, own, rival, words))
    return verdicts


def _judge_batches(ledger: Ledger, quick: bool) -> list[Verdict]:
    """Corollary 1: a larger m needs fewer iterations and more passes."""
    verdicts = []
    for chosen in batches(quick):
        results = chosen.results(ledger)
        level = within_reach(list(results.values()), 1e-4)
        for x, words in (("iterations", "fall"), ("epoch", "grow")):
            found = [needed(records, x, level) for records in results.values()]
            steps = np.diff(found)
            holds = bool((steps < 0.0).all() if x == "iterations" else (steps > 0.0).all())
            unit = "iterations" if x == "iterations" else "passes"
            said = ", ".join(f"m = {m}: {value:.3g}" for m, value in zip(SIZES, found))
            said = f"{unit} {words} with m: {said}, to a gap of {level:.1e}"
            name = _name(chosen, ledger)
            verdicts.append(Verdict("Z7", name, holds, found[0], found[-1], said))
    return verdicts


def _judge_weighted(ledger: Ledger, quick: bool) -> list[Verdict]:
    epochs: dict[str, list[float]] = {SPDC.label: [], WEIGHTED.label: []}
    for largest in LARGEST_NORMS:
        chosen = unequal(largest, quick)
        for label, records in chosen.results(ledger).items():
            epochs[label].append(needed(records, "epoch", chosen.limits.gap))
    small, large = LARGEST_NORMS
    plain, weighted = (epochs[c.label][1] / epochs[c.label][0] for c in (SPDC, WEIGHTED))
    means = (0.99 + 0.01 * large) / (0.99 + 0.01 * small)
    words = (
        f"largest norm {small} → {large} (× {large / small:.3g}, mean × {means:.3g}): epochs of "
        f"weighted SPDC {_growth(epochs[WEIGHTED.label])}, "
        f"of plain SPDC {_growth(epochs[SPDC.label])}"
    )
    name = "one row in 100 of a larger norm"
    holds = bool(weighted <= 1.5 * means and plain > 2.0 * weighted)
    return [Verdict("Z3", name, holds, weighted, plain, words)]


def _growth(epochs: list[float]) -> str:
    return f"{epochs[0]:.3g} → {epochs[1]:.3g} (× {epochs[1] / epochs[0]:.3g})"


def _judge_lazy(ledger: Ledger) -> list[Verdict]:
    verdicts = []
    for contender in (SPDC, WEIGHTED):
        records: list[Record] = [ledger[run] for run in _iterations(contender)]
        times = [1e6 * epoch_seconds(record) / record.n for record in records]
        grown = exponent(list(FEATURES), times)
        words = f"{contender.label}: {times[0]:.2f} µs an iteration with d = {FEATURES[0]:,}, "
        words += f"{times[-1]:.2f} with d = {FEATURES[-1]:,}, like d^{grown:.2f}"
        holds = times[-1] < 2.0 * times[0]
        verdicts.append(Verdict("Z4", "20 entries a row", holds, times[0], times[-1], words))
    return verdicts


def claims(quick: bool) -> list[Claim]:
    races = tuple(run for data in DATA for lam in LAMBDAS for run in race(data, lam, quick).runs())
    return [
        Claim(
            "Z1",
            "SPDC beats AFG and L-BFGS clearly at large λ; about equal at λ = 1e-8",
            races,
            lambda ledger: _judge_batch(ledger, quick),
        ),
        Claim(
            "Z2",
            "stochastic methods are alike at large λ; SPDC and ASDCA much faster as λ → 0",
            races,
            lambda ledger: _judge_stochastic(ledger, quick),
        ),
        Claim(
            "Z3",
            "weighted SPDC depends on the mean norm, not on the largest",
            tuple(run for norm in LARGEST_NORMS for run in unequal(norm, quick).runs()),
            lambda ledger: _judge_weighted(ledger, quick),
        ),
        Claim(
            "Z4",
            "an iteration of lazy SPDC costs O(entries of the row), whatever d is",
            tuple(run for c in (SPDC, WEIGHTED) for run in _iterations(c)),
            _judge_lazy,
        ),
        Claim(
            "Z5",
            "ASDCA converges faster than SPDC on covtype, and slower on the other two",
            races,
            lambda ledger: _judge_accelerated(ledger, quick),
        ),
        Claim(
            "Z6",
            "SPDC is more stable than ASDCA, whose objective rises when an outer step begins",
            races,
            lambda ledger: _judge_stability(ledger, quick),
        ),
        Claim(
            "Z7",
            "larger mini-batches need fewer iterations and more passes",
            tuple(run for chosen in batches(quick) for run in chosen.runs()),
            lambda ledger: _judge_batches(ledger, quick),
        ),
    ]


PAPER = Paper(
    "001",
    "zhang2015",
    "Zhang 2015",
    "Stochastic Primal-Dual Coordinate Method for Regularized Empirical Risk Minimization",
    exhibits,
    claims,
)
