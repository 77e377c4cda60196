"""Qu, Richtárik, Zhang 2014: Randomized Dual Coordinate Ascent with Arbitrary Sampling (Quartz).

Figures 1 and 2: the speed-up that theory promises for τ-nice and (c, τ)-distributed sampling.
3: Quartz against SDCA, uniform and importance sampling, squared hinge, with the primal step θ, 10θ
and 100θ. 4 and 5: measured speed-ups, smoothed hinge, to a gap of 1e-11.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from dualgap.samplings import Distributed, Product, TauNice
from dualgap.steps import Quartz
from papers.curves import needed, within_reach
from papers.figure import Exhibit, Panel, Race, RaceFigure
from papers.ledger import Ledger
from papers.paper import Claim, Paper, Verdict
from papers.runs import Contender, Limits, ProblemSpec
from papers.speedups import ContourFigure, Speedup, SpeedupFigure, TheoryFigure

PROX = Contender.named("Prox-SDCA", "prox-sdca", 0)
IPROX = Contender.named("IProx-SDCA", "iprox-sdca", 1)
PACES = (1, 10, 100)


def _quartz(kind: str, pace: int) -> Contender:
    label = f"Quartz-{kind}" + ("" if pace == 1 else f" {pace}θ")
    method, style = {"U": ("quartz-u", 2), "IP": ("quartz-ip", 3)}[kind]
    step = Quartz("I", multiplier=float(pace))
    return Contender.named(label, method, style, step=step, dashed=True, legend=f"Quartz-{kind}")


QUARTZ = {(kind, pace): _quartz(kind, pace) for pace in PACES for kind in ("U", "IP")}
SERIAL = {"cov1": 1e-6, "w8a": 1e-5, "ijcnn1": 1e-5}
# Theory asks for n + R²/λ iterations for a factor e: hundreds of epochs at these λ.
SERIAL_EPOCHS = {"cov1": 150, "w8a": 1_500, "ijcnn1": 600}
QUICK_ROWS = {"cov1": 50_000, "ccat": 8_000, "astro-ph": 8_000}
GAP, QUICK_GAP = 1e-11, 1e-7
TAUS = (2, 8, 32, 128, 512, 2048)
QUICK_TAUS = (4, 32, 256)
# Largest sets for each λ: with denser data and smaller λ larger sets save nothing, and take hours.
BATCHES: dict[str, tuple[tuple[float | str, int], ...]] = {
    "astro-ph": (("1/sqrt(n)", 2048), (6e-4, 512), ("1/n", 128)),
    "ccat": (("1/sqrt(n)", 2048), (6e-4, 512), ("1/n", 128)),
    "cov1": ((1e-2, 2048), ("1/sqrt(n)", 512), (1e-4, 128)),
}
SIDES = (1, 2, 4, 8, 16, 32, 64, 128)
QUICK_SIDES = (1, 4, 16, 64)
GROUPS = "made:groups:64:100:50:10"


# --- experiments ----------------------------------------------------------------------------------


@cache
def serial(data: str, quick: bool) -> Race:
    """Quartz and SDCA on single samples (figure 3)."""
    rows = QUICK_ROWS.get(data) if quick else None
    lam = 1e-5 if quick and data == "cov1" else SERIAL[data]  # λn is about that of all rows
    problem = ProblemSpec(data, "squared-hinge", lam, rows=rows)
    limits = Limits(1e-8, 200) if quick else Limits(1e-10, SERIAL_EPOCHS[data])
    count = 1 if quick else (2 if data == "cov1" else 3)
    return Race(problem, (PROX, IPROX, *QUARTZ.values()), limits, count)


@cache
def batches(data: str, quick: bool) -> tuple[Speedup, ...]:
    """τ-nice sets (figure 4)."""
    found = []
    rows = QUICK_ROWS.get(data) if quick else None
    for lam, largest in BATCHES[data][: 2 if quick else None]:
        sets = tuple(TauNice(tau) for tau in (QUICK_TAUS if quick else TAUS) if tau <= largest)
        problem = ProblemSpec(data, "smoothed-hinge", lam, rows=rows)
        found.append(Speedup(problem, sets, _limits(quick), Quartz(), 1 if quick else 2))
    return tuple(found)


def _limits(quick: bool) -> Limits:
    return Limits(QUICK_GAP if quick else GAP, 20_000, 60.0 if quick else 240.0)


@cache
def partitions(quick: bool) -> Speedup:
    """Sets of τ samples from each of c partitions (figure 5)."""
    sides = QUICK_SIDES if quick else SIDES
    sets = tuple(Distributed(c, tau) for c in sides for tau in sides)
    problem = ProblemSpec("webspam", "smoothed-hinge", "1/sqrt(n)", rows=10_000 if quick else None)
    return Speedup(problem, sets, _limits(quick), Quartz(), 1 if quick else 3)


@cache
def products(quick: bool) -> Speedup:
    """One sample of each of τ groups that share no feature."""
    problem = ProblemSpec(GROUPS, "smoothed-hinge", "1/n")
    return Speedup(
        problem,
        tuple(Product(tau) for tau in (4, 16, 64)),
        _limits(quick),
        Quartz(),
        1 if quick else 3,
    )


def exhibits(quick: bool) -> list[Exhibit]:
    floor = 1e-8 if quick else 1e-10
    rows = tuple(
        tuple(
            Panel(
                serial(data, quick),
                "epoch",
                "gap",
                only=(PROX.label, IPROX.label, QUARTZ["U", pace].label, QUARTZ["IP", pace].label),
                floor=floor,
                remark="" if pace == 1 else f", {pace}θ",
            )
            for data in SERIAL
        )
        for pace in PACES
    )
    about = "Qu 2014, figure"
    return [
        TheoryFigure("1", f"{about} 1: theoretical speed-up of τ-nice sampling"),
        TheoryFigure("2", f"{about} 2: theoretical speed-up of (c, τ)-distributed sampling"),
        RaceFigure("3", f"{about} 3: Quartz and SDCA; primal step θ, 10θ, 100θ", rows),
        SpeedupFigure(
            "4",
            f"{about} 4: τ-nice sampling, iterations to a gap of {_limits(quick).gap:g}",
            tuple(batches(data, quick) for data in BATCHES),
        ),
        ContourFigure(
            "5",
            f"{about} 5: (c, τ)-distributed sampling, to a gap of {_limits(quick).gap:g}",
            partitions(quick),
        ),
    ]


# --- claims ---------------------------------------------------------------------------------------

LIKE = 1.25  # two numbers are alike up to this factor
CLOSE = 1.12  # and close up to this one


def _judge_serial(ledger: Ledger, quick: bool) -> list[Verdict]:
    compared = (
        (QUARTZ["IP", 1], IPROX, "alike (to 25 %)", 1.0 / LIKE, LIKE),
        (QUARTZ["U", 1], PROX, "a little behind (1 to 2 times)", 1.0, 2.0),
        (QUARTZ["U", 10], PROX, "alike (to 25 %)", 1.0 / LIKE, LIKE),
        (QUARTZ["U", 100], PROX, "alike (to 25 %)", 1.0 / LIKE, LIKE),
    )
    verdicts = []
    for data in SERIAL:
        results = serial(data, quick).results(ledger)
        for one, two, words, low, high in compared:
            pair = [results[one.label], results[two.label]]
            level = within_reach(pair, 1e-8 if quick else 1e-10)
            left, right = (needed(records, "epoch", level) for records in pair)
            said = f"{words}: {one.label} {left:.3g} epochs, {two.label} {right:.3g}"
            said += f", to a gap of {level:.1e}"
            holds = low <= left / right <= high
            verdicts.append(Verdict("Q1", pair[0][0].name, holds, left, right, said))
    return verdicts


def _judge_speedup(id: str, speedups: tuple[Speedup, ...], ledger: Ledger) -> list[Verdict]:
    verdicts = []
    for speedup in speedups:
        measured, promised = speedup.measured(ledger), speedup.promised()
        record = ledger[next(speedup.runs())]
        name = f"{record.name}, λ = {record.lam:.1e}"
        ratios = measured / promised
        if not np.isfinite(ratios).all():
            words = f"not all sets reached a gap of {speedup.limits.gap:g} in time"
            verdicts.append(Verdict(id, name, False, np.nan, np.nan, words))
            continue
        worst = int(np.argmax(np.abs(np.log(ratios))))
        words = f"measured {measured[worst]:.4g}, theory {promised[worst]:.4g} at "
        words += f"{speedup.samplings[worst]}; measured / theory {ratios.min():.3f} to "
        words += f"{ratios.max():.3f} over {len(ratios)} sets"
        holds = bool(abs(np.log(ratios[worst])) <= np.log(LIKE))
        verdicts.append(
            Verdict(id, name, holds, float(measured[worst]), float(promised[worst]), words)
        )
    return verdicts


def _judge_predictor(speedups: tuple[Speedup, ...], ledger: Ledger) -> list[Verdict]:
    """Theory's factor times (2 − s_τ)/(2 − s₁), see ``theory.predicted_speedup``."""
    verdicts = []
    for speedup in speedups:
        record = ledger[next(speedup.runs())]
        name = f"{record.name}, λ = {record.lam:.1e}"
        ratios = speedup.measured(ledger) / speedup.promised(exact=True)
        if not np.isfinite(ratios).all():
            words = f"not all sets reached a gap of {speedup.limits.gap:g} in time"
            verdicts.append(Verdict("Q7", name, False, np.nan, np.nan, words))
            continue
        low, high = float(ratios.min()), float(ratios.max())
        words = f"measured / predicted {low:.3f} to {high:.3f} over {len(ratios)} sets"
        holds = max(high, 1.0 / low) <= CLOSE
        verdicts.append(Verdict("Q7", name, holds, low, high, words))
    return verdicts


def _judge_importance(ledger: Ledger, quick: bool) -> list[Verdict]:
    verdicts = []
    for data in SERIAL:
        results = serial(data, quick).results(ledger)
        pair = [results[QUARTZ["IP", 1].label], results[QUARTZ["U", 1].label]]
        level = within_reach(pair, 1e-8 if quick else 1e-10)
        left, right = (needed(records, "epoch", level) for records in pair)
        words = f"Quartz-IP {left:.3g} epochs, Quartz-U {right:.3g}, to a gap of {level:.1e}"
        verdicts.append(Verdict("Q5", pair[0][0].name, left < right, left, right, words))
    return verdicts


def _judge_partitions(ledger: Ledger, quick: bool) -> list[Verdict]:
    speedup = partitions(quick)
    measured = speedup.measured(ledger)
    sizes = np.array([s.c * s.tau for s in speedup.samplings])
    name = ledger[next(speedup.runs())].name
    verdicts = []
    for size in np.unique(sizes):
        values = measured[sizes == size]
        if len(values) < 3:
            continue
        low, high = float(values.min()), float(values.max())
        words = f"cτ = {size}: speed-up {low:.4g} to {high:.4g} over {len(values)} pairs"
        verdicts.append(Verdict("Q3", name, high <= LIKE * low, low, high, words))
    return verdicts


def _judge_products(ledger: Ledger, quick: bool) -> list[Verdict]:
    speedup = products(quick)
    name = ledger[next(speedup.runs())].name
    return [
        Verdict(
            "Q4",
            name,
            value >= sampling.tau / LIKE,
            float(value),
            float(sampling.tau),
            f"τ = {sampling.tau}: speed-up {value:.4g}, theory {promised:.4g}",
        )
        for sampling, value, promised in zip(
            speedup.samplings, speedup.measured(ledger), speedup.promised()
        )
    ]


def claims(quick: bool) -> list[Claim]:
    sets = tuple(speedup for data in BATCHES for speedup in batches(data, quick))
    return [
        Claim(
            "Q1",
            "Quartz-IP is like IProx-SDCA, Quartz-U a little behind Prox-SDCA; 10θ, 100θ mend it",
            tuple(run for data in SERIAL for run in serial(data, quick).runs()),
            lambda ledger: _judge_serial(ledger, quick),
        ),
        Claim(
            "Q2",
            "the measured speed-up of mini-batches follows theory",
            tuple(run for speedup in sets for run in speedup.runs()),
            lambda ledger: _judge_speedup("Q2", sets, ledger),
        ),
        Claim(
            "Q3",
            "the (c, τ) speed-up is nearly constant along cτ",
            tuple(partitions(quick).runs()),
            lambda ledger: _judge_partitions(ledger, quick),
        ),
        Claim(
            "Q4",
            "product sampling gives nearly linear speed-up on group-separable data",
            tuple(products(quick).runs()),
            lambda ledger: _judge_products(ledger, quick),
        ),
        Claim(
            "Q5",
            "importance sampling pays: Quartz-IP beats Quartz-U",
            tuple(run for data in SERIAL for run in serial(data, quick).runs()),
            lambda ledger: _judge_importance(ledger, quick),
        ),
        Claim(
            "Q6",
            "figure 5: the (c, τ) speed-up follows theory",
            tuple(partitions(quick).runs()),
            lambda ledger: _judge_speedup("Q6", (partitions(quick),), ledger),
        ),
        Claim(
            "Q7",
            "ours, not the paper's: (2 − s_τ)/(2 − s₁) times theory predicts the speed-up to 12 %",
            tuple(run for speedup in sets for run in speedup.runs()),
            lambda ledger: _judge_predictor(sets, ledger),
        ),
    ]


PAPER = Paper(
    "003",
    "qu2014",
    "Qu 2014",
    "Randomized Dual Coordinate Ascent with Arbitrary Sampling",
    exhibits,
    claims,
)
