"""Qu, Richtárik, Zhang 2014: Randomized Dual Coordinate Ascent with Arbitrary Sampling (Quartz).

Figures 1 and 2: the speed-up that theory promises to τ-nice and (c, τ)-distributed sampling.
3: Quartz against SDCA, uniform and importance sampling, squared hinge, with the primal step θ, 10θ
and 100θ. 4 and 5: measured speed-ups, smoothed hinge, to a gap of 1e-11.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from dualgap.plots.style import COLOURS
from dualgap.samplings import Distributed, Product, TauNice, theory
from dualgap.steps import Quartz
from papers.curves import needed, within_reach
from papers.figure import Exhibit, Panel, Race, RaceFigure, canvas, legend, save
from papers.ledger import Ledger
from papers.paper import Claim, Paper, Verdict
from papers.speedups import ContourFigure, Speedup, SpeedupFigure, contours
from papers.task import Contender, Limits, Run, Task

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
    task = Task(data, "squared-hinge", SERIAL[data], rows=QUICK_ROWS.get(data) if quick else None)
    if quick and data == "cov1":
        task = Task(data, "squared-hinge", 1e-5, rows=QUICK_ROWS[data])  # λn as with all rows
    limits = Limits(1e-8, 200) if quick else Limits(1e-10, SERIAL_EPOCHS[data])
    count = 1 if quick else (2 if data == "cov1" else 3)
    return Race(task, (PROX, IPROX, *QUARTZ.values()), limits, count)


@cache
def batches(data: str, quick: bool) -> tuple[Speedup, ...]:
    """τ-nice sets (figure 4)."""
    found = []
    for lam, largest in BATCHES[data][: 2 if quick else None]:
        sets = tuple(TauNice(tau) for tau in (QUICK_TAUS if quick else TAUS) if tau <= largest)
        task = Task(data, "smoothed-hinge", lam, rows=QUICK_ROWS.get(data) if quick else None)
        found.append(Speedup(task, sets, _limits(quick), Quartz(), 1 if quick else 2))
    return tuple(found)


def _limits(quick: bool) -> Limits:
    return Limits(QUICK_GAP if quick else GAP, 20_000, 60.0 if quick else 240.0)


@cache
def parts(quick: bool) -> Speedup:
    """Sets of τ samples of each of c parts (figure 5)."""
    sides = QUICK_SIDES if quick else SIDES
    sets = tuple(Distributed(c, tau) for c in sides for tau in sides)
    task = Task("webspam", "smoothed-hinge", "1/sqrt(n)", rows=10_000 if quick else None)
    return Speedup(task, sets, _limits(quick), Quartz(), 1 if quick else 3)


@cache
def products(quick: bool) -> Speedup:
    """One sample of each of τ groups that share no feature."""
    task = Task(GROUPS, "smoothed-hinge", "1/n")
    return Speedup(
        task,
        tuple(Product(tau) for tau in (4, 16, 64)),
        _limits(quick),
        Quartz(),
        1 if quick else 3,
    )


@dataclass(frozen=True)
class Theory(Exhibit):
    """Speed-ups by formula, for n = 10⁶ and γ = 1."""

    number: str
    title: str
    n: int = 1_000_000
    omegas: tuple[int, ...] = (100, 10_000, 1_000_000)

    def runs(self) -> Iterator[Run]:
        return iter(())

    def show(self, ledger: Ledger, folder: Path) -> list[Path]:
        figure, (axes,) = canvas(1, 3)
        if self.number == "1":
            self._curves(axes)
            handles, names = axes[0].get_legend_handles_labels()
            legend(figure, dict(zip(names, handles)))
        else:
            self._contours(axes)
        figure.suptitle(self.title, fontsize=11)
        return [save(figure, folder / f"{self.file_stem}.png")]

    def _curves(self, axes: np.ndarray) -> None:
        taus = np.unique(np.geomspace(1, 10_000, 60).astype(int))
        for ax, lam in zip(axes, (1e-3, 1e-4, 1e-6)):
            for k, omega in enumerate(self.omegas):
                values = [theory.tau_nice_speedup(self.n, int(t), omega, lam) for t in taus]
                ax.plot(taus, values, color=COLOURS[k], label=f"ω = {omega:,}", linewidth=2)
            ax.plot(taus, taus, color="0.6", linestyle=":", label="linear")
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.set_title(f"λ = {lam:g}", fontsize=9)
            ax.set_xlabel("τ")
            ax.set_ylabel("speed-up")
            ax.grid(True, which="major", alpha=0.3)

    def _contours(self, axes: np.ndarray) -> None:
        sides = 2 ** np.arange(0, 10)
        for ax, omega in zip(axes, self.omegas):
            values = [
                [theory.distributed_speedup(self.n, int(c), int(t), omega, 1e-3) for t in sides]
                for c in sides
            ]
            contours(ax, (sides, sides, np.array(values)))
            # cτ = √n: up to here the speed-up is linear whatever the data.
            ends = np.array([0.0, 9.0])
            ax.plot(ends, np.log2(self.n) / 2.0 - ends, color="black", linestyle="--", linewidth=1)
            ax.set_ylim(ends)
            ax.set_title(f"ω = {omega:,}, λ = 0.001; dashed: cτ = √n", fontsize=9)


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
        Theory("1", f"{about} 1: theoretical speed-up of τ-nice sampling"),
        Theory("2", f"{about} 2: theoretical speed-up of (c, τ)-distributed sampling"),
        RaceFigure("3", f"{about} 3: Quartz and SDCA; primal step θ, 10θ, 100θ", rows),
        SpeedupFigure(
            "4",
            f"{about} 4: τ-nice sampling, iterations to a gap of {_limits(quick).gap:g}",
            tuple(batches(data, quick) for data in BATCHES),
        ),
        ContourFigure(
            "5",
            f"{about} 5: (c, τ)-distributed sampling, to a gap of {_limits(quick).gap:g}",
            parts(quick),
        ),
    ]


# --- claims ---------------------------------------------------------------------------------------

LIKE = 1.25  # two numbers are alike up to this factor


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


def _judge_parts(ledger: Ledger, quick: bool) -> list[Verdict]:
    speedup = parts(quick)
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
            tuple(parts(quick).runs()),
            lambda ledger: _judge_parts(ledger, quick),
        ),
        Claim(
            "Q4",
            "product sampling gives nearly linear speed-up on group-separable data",
            tuple(products(quick).runs()),
            lambda ledger: _judge_products(ledger, quick),
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
