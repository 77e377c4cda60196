"""Papers redone: runs on disk, curves, figures, claims, and the command that does it all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import papers
from dualgap.cli import app
from dualgap.compile.machine import cache_folder
from papers import curves, made
from papers import runs as runs_module
from papers.costs import Costs, exponent
from papers.figure import Panel, Race, RaceFigure
from papers.ledger import Ledger, Record, perform
from papers.paper import Claim, Paper, Verdict
from papers.reproduce import check, complete, reproduce
from papers.runs import Contender, Limits, ProblemSpec, Run, extent, instance, seeds

GROUPS = "made:groups:4:30:6:3"
UNIFORM = Contender.named("uniform", "sdca", 0)
ADAPTIVE = Contender.named("adaptive", "adasdca+", 1)
PROBLEM = ProblemSpec(GROUPS, "smoothed-hinge", "1/n")
RUN = Run(PROBLEM, UNIFORM, 0, Limits(1e-6, 200))
QUIET = Console(quiet=True)


def record(gap, **columns) -> Record:
    """A record with the columns that matter."""
    rows = np.arange(len(gap), dtype=float)
    filled = {"epoch": rows, "gap": np.array(gap), "primal": np.array(gap), "dual": 0.0 * rows}
    filled |= {name: np.array(column) for name, column in columns.items()}
    return Record({}, False, None, "data", False, "", 10, 2, 20, 1.0, 0.1, "", filled)


# --- several seeds --------------------------------------------------------------------------------


def test_needed_interpolates_the_logarithm_and_averages_over_seeds():
    one, two = record([1.0, 1e-2, 1e-4]), record([1.0, 1e-1, 1e-3])
    assert curves.needed([one], "epoch", 1e-3) == pytest.approx(1.5)
    assert curves.needed([one, two], "epoch", 1e-3) == pytest.approx(1.75)
    assert curves.needed([one, two], "epoch", 1e-4) == np.inf
    assert curves.needed([one], "epoch", 2.0) == 0.0


def test_a_level_within_reach_is_one_that_all_runs_reach():
    one, two = record([1.0, 1e-9]), record([1.0, 1e-3])
    assert curves.within_reach([[one], [two]], 1e-6) == 1e-3
    assert curves.within_reach([[one]], 1e-6) == 1e-6


def test_average_is_geometric_and_a_run_that_ended_stays_where_it_is():
    one, two = record([1.0, 1e-2]), record([1.0, 1e-4, 1e-6])
    curve = curves.average([one, two], "epoch", "gap")
    assert list(curve.x) == [0.0, 1.0, 2.0]
    np.testing.assert_allclose(curve.mean, [1.0, 1e-3, 1e-4])
    np.testing.assert_allclose(curve.low, [1.0, 1e-4, 1e-6])
    np.testing.assert_allclose(curve.high, [1.0, 1e-2, 1e-2])


def test_suboptimality_is_counted_from_the_best_of_all_runs():
    one = record([3.0, 1.0], primal=[5.0, 4.0], dual=[2.0, 3.0])
    two = record([2.0, 0.5], primal=[5.0, 3.5], dual=[3.0, 3.4])
    best = curves.optimum([one, two])
    assert best == (3.5, 3.4)
    np.testing.assert_allclose(curves.values(one, "primal", best), [1.5, 0.5])
    np.testing.assert_allclose(curves.values(one, "dual", best), [1.4, 0.4])
    np.testing.assert_allclose(curves.values(one, "gap", best), [3.0, 1.0])


def test_exponent_recovers_a_power():
    sizes = [10, 100, 1000]
    assert exponent(sizes, [3.0 * n**1.5 for n in sizes]) == pytest.approx(1.5)


# --- tasks ----------------------------------------------------------------------------------------


def test_made_data_is_what_its_name_says():
    for name in (GROUPS, "made:short-rows:50:40:4", "made:unequal:200:5:10"):
        found = made.load(name)
        n, entries = extent(ProblemSpec(name, "hinge", 1.0))
        assert found.X.shape[0] == n
        assert found.X.nnz == entries
        assert set(found.y) == {-1.0, 1.0}
    groups = made.load(GROUPS).X
    shared = (groups @ groups.T).tocoo()
    assert (shared.row // 30 == shared.col // 30).all()
    norms = np.linalg.norm(made.load("made:unequal:200:5:10").X.toarray(), axis=1)
    np.testing.assert_allclose(np.sort(norms), [1.0] * 198 + [10.0] * 2)


def test_a_part_of_the_data_says_so_and_has_no_empty_rows_or_columns():
    whole = ProblemSpec("made:short-rows:50:40:4", "squared", "1/sqrt(n)")
    part = replace(whole, rows=20, cut=10)
    problem = instance(part).problem
    assert instance(part).name.startswith("part of ")
    assert problem.n < 20
    assert problem.d <= 10
    assert (problem.row_counts > 0).all()
    assert (problem.column_counts > 0).all()
    assert instance(whole).problem.lam == pytest.approx(50**-0.5)


# --- results on disk ------------------------------------------------------------------------------


def test_a_result_is_found_again_and_nothing_else_passes_for_it(tmp_path):
    ledger = Ledger(tmp_path)
    assert ledger.pending([RUN]) == [RUN]
    perform(RUN, tmp_path)
    kept = ledger[RUN]
    assert kept["gap"][-1] <= 1e-6
    assert kept.status.startswith("Converged")
    assert (kept.n, kept.d) == (120, 24)
    assert ledger.pending([RUN, *seeds(RUN, 2)]) == [replace(RUN, seed=1)]
    for change in (
        {"seed": 1},
        {"limits": Limits(1e-7, 200)},
        {"problem": replace(PROBLEM, lam=0.1)},
        {"contender": ADAPTIVE},
    ):
        assert ledger.find(replace(RUN, **change)) is None


def forget():
    """Drop data that was loaded: a process expects files to stay as they are."""
    for cached in (runs_module.instance, runs_module._sampled, runs_module._loaded):
        cached.cache_clear()


def test_a_time_is_not_taken_from_a_run_that_was_not_alone(tmp_path):
    timed = replace(RUN, timed=True)
    perform(RUN, tmp_path)
    assert Ledger(tmp_path).pending([RUN, timed]) == [timed]
    perform(timed, tmp_path)
    assert Ledger(tmp_path).pending([RUN, timed]) == []


def test_results_on_a_stand_in_do_not_pass_for_those_on_data(tmp_path, monkeypatch):
    monkeypatch.setenv("DUALGAP_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run = replace(RUN, problem=ProblemSpec("ionosphere", "smoothed-hinge", "1/n"))
    ledger = Ledger(tmp_path / "runs")
    perform(run, ledger.folder)
    assert ledger.pending([run]) == []
    (tmp_path / "ionosphere.svm").write_text("+1 1:1 2:0.5\n-1 1:-1\n+1 2:1\n")
    assert ledger.pending([run]) == [run]
    forget()
    perform(run, ledger.folder)
    assert ledger[run].n == 3
    (tmp_path / "ionosphere.svm").unlink()
    assert ledger.pending([run]) == []  # better than a stand-in
    other = replace(run, seed=1)
    forget()
    perform(other, ledger.folder)
    with pytest.raises(ValueError, match="results on different data"):
        ledger.all([run, other])
    forget()


@pytest.mark.parametrize("damage", [lambda text: text[:100], lambda text: "", lambda text: "{}"])
def test_a_torn_file_is_a_run_to_be_done(tmp_path, damage):
    perform(RUN, tmp_path)
    path = Ledger(tmp_path).path(RUN)
    path.write_text(damage(path.read_text()))
    assert Ledger(tmp_path).pending([RUN]) == [RUN]


def test_of_equal_runs_the_timed_one_is_done(tmp_path):
    timed = replace(RUN, timed=True, contender=replace(UNIFORM, label="another label"))
    assert Ledger(tmp_path).pending([RUN, timed]) == [timed]
    assert Ledger(tmp_path).pending([timed, RUN]) == [timed]


def test_only_what_is_missing_is_run(tmp_path):
    runs = seeds(RUN, 3)
    ledger = Ledger(tmp_path)
    complete(ledger, runs, 1, "test", QUIET)
    times = {run: ledger.path(run).stat().st_mtime_ns for run in runs}
    ledger.path(runs[1]).unlink()
    complete(ledger, runs, 1, "test", QUIET)
    again = [run.seed for run in runs if ledger.path(run).stat().st_mtime_ns != times[run]]
    assert again == [1]


# --- a paper of our own, end to end ---------------------------------------------------------------


def small_paper(problem: ProblemSpec = PROBLEM) -> Paper:
    race = Race(problem, (UNIFORM, ADAPTIVE), Limits(1e-5, 100), count=2)
    panels = (Panel(race, "epoch", "gap"), Panel(race, "seconds", "primal", floor=1e-6))

    def judge(ledger: Ledger) -> list[Verdict]:
        results = race.results(ledger)
        one, two = (curves.needed(results[c.label], "epoch", 1e-5) for c in race.contenders)
        return [Verdict("X1", results["uniform"][0].name, two < one, two, one, "two numbers")]

    return Paper(
        "009",
        "small2000",
        "Small 2000",
        "A paper of our own",
        lambda quick: [RaceFigure("1", "Small 2000, figure 1", (panels,))],
        lambda quick: [Claim("X1", "adaptive is faster", tuple(race.runs()), judge)],
    )


def test_figures_and_claims_come_from_the_same_runs(tmp_path):
    written = reproduce(small_paper(), tmp_path, console=QUIET)
    assert [path.name for path in written] == ["figure-01.png"]
    assert written[0].read_bytes()[:4] == b"\x89PNG"
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "small2000/runs").iterdir()}
    assert len(before) == 4
    (other,) = reproduce(small_paper(), tmp_path, x="vector_operations", console=QUIET)
    assert other.name == "figure-01-by-vector-operations.png"
    ((claim, (verdict,)),) = check([small_paper()], tmp_path, console=QUIET)
    assert before == {path: path.stat().st_mtime_ns for path in before}
    assert claim.id == verdict.claim
    assert verdict.holds == (verdict.left < verdict.right)
    (kept,) = json.loads((tmp_path / "small2000/claims.json").read_text())
    assert (kept["left"], kept["right"]) == (verdict.left, verdict.right)


def test_data_that_cannot_be_had_is_replaced_and_said_to_be(tmp_path, monkeypatch):
    monkeypatch.setenv("DUALGAP_DATA", str(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(cache_folder().parent))  # not with the others
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("dualgap.datasets.fetch.BASE_URL", "http://127.0.0.1:9/")
    monkeypatch.setattr("dualgap.datasets.fetch.PAUSE", 0.0)
    with (tmp_path / "log.txt").open("w+") as log:
        console = Console(file=log, width=200)
        problem = ProblemSpec("ionosphere", "smoothed-hinge", "1/n")
        reproduce(small_paper(problem), tmp_path, console=console)
        log.seek(0)
        said = log.read()
    assert "could not be downloaded" in said
    assert "SYNTHETIC" in said
    kept = [json.loads(path.read_text()) for path in tmp_path.glob("small2000/runs/*.json")]
    assert len(kept) == 4
    assert all(one["synthetic"] and one["name"] == "ionosphere (synthetic)" for one in kept)


def test_verdicts_with_numbers_of_numpy_or_infinite_ones_can_be_kept():
    verdict = Verdict("X1", "data", np.bool_(True), np.float64(1.0), np.inf, "words")
    kept = json.loads(json.dumps(verdict.as_dict(), allow_nan=False))
    assert (kept["holds"], kept["left"], kept["right"]) == (True, 1.0, None)


def test_a_table_of_costs_has_a_line_for_each_method(tmp_path):
    costs = Costs("T1", "costs", "squared", ((UNIFORM, "nnz"), (ADAPTIVE, "more")), (100, 400), ())
    complete(Ledger(tmp_path / "runs"), costs.runs(), 1, "test", QUIET)
    table, picture = costs.show(Ledger(tmp_path / "runs"), tmp_path)
    rows = table.read_text().splitlines()[-2:]
    assert [row.split("|")[1].strip() for row in rows] == ["uniform", "adaptive"]
    assert all("ms" in row for row in rows)
    assert picture.name == "table-01.png"


ROOT = Path(__file__).parents[2]

SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the shell has told us
from pathlib import Path
sys.path[:0] = {folders!r}
from test_papers import RUN, QUIET
from papers.ledger import Ledger
from papers.reproduce import complete
from papers.runs import Limits, ProblemSpec
from dataclasses import replace
if __name__ == "__main__":
    hard = ProblemSpec("made:unequal:20000:50:100", "smoothed-hinge", 1e-12)
    endless = replace(RUN, problem=hard, limits=Limits(0.0, 10**9, 600.0))
    complete(Ledger(Path({folder!r})), [RUN, endless], 2, "test", QUIET)
"""


def test_an_interrupt_keeps_what_is_done_and_nothing_else(tmp_path):
    script = tmp_path / "script.py"
    runs = tmp_path / "runs"
    script.write_text(
        SCRIPT.format(folders=[os.path.dirname(__file__), str(ROOT)], folder=str(runs))
    )
    process = subprocess.Popen(
        [sys.executable, str(script)], stderr=subprocess.PIPE, start_new_session=True, text=True
    )
    deadline = time.monotonic() + 300.0
    try:
        while not list(runs.glob("*.json")) and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes
        _, errors = process.communicate(timeout=60)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    assert len(list(runs.glob("*.json"))) == 1
    assert Ledger(runs).find(RUN) is not None


# --- the four papers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spelling", "name"),
    [("000", "csiba2015"), ("Zhang 2015", "zhang2015"), ("PEREKRESTENKO", "perekrestenko2017"),
     ("qu2014", "qu2014")],
)  # fmt: skip
def test_papers_are_found_by_number_and_name(spelling, name):
    assert papers.find(spelling).name == name


@pytest.mark.parametrize("quick", [True, False])
def test_each_paper_has_all_of_its_figures_and_claims(quick):
    shown = {p.name: [e.number for e in p.exhibits(quick)] for p in papers.every()}
    assert shown == {
        "csiba2015": [*map(str, range(1, 34)), "T1"],
        "zhang2015": ["1", "2", "2c", "B1"],
        "perekrestenko2017": ["1", "2", "3", "T1"],
        "qu2014": ["1", "2", "3", "4", "5"],
    }
    claims = [claim.id for p in papers.every() for claim in p.claims(quick)]
    counts = {"C": 5, "Z": 7, "P": 4, "Q": 7}
    assert claims == [f"{paper}{k}" for paper, last in counts.items() for k in range(1, last + 1)]


@pytest.mark.parametrize("quick", [True, False])
def test_runs_can_be_kept_and_their_work_guessed(quick, tmp_path):
    for paper in papers.every():
        runs = [run for exhibit in paper.exhibits(quick) for run in exhibit.runs()]
        runs += [run for claim in paper.claims(quick) for run in claim.runs]
        assert all(json.loads(json.dumps(run.spec)) == run.spec for run in runs)
        assert all(0.0 < run.weight < 1e6 for run in runs)
        assert len(Ledger(tmp_path).pending(runs)) >= 30


NOT_DRAWN = {("zhang2015", "2c")}  # as the page says


def test_the_page_on_the_papers_shows_every_figure():
    docs = ROOT / "docs"
    page = (docs / "papers.md").read_text()
    for paper in papers.every():
        for exhibit in paper.exhibits(False):
            name = f"papers/{paper.name}-{exhibit.file_stem}.png"
            if (paper.name, exhibit.number) in NOT_DRAWN:
                assert f"figure {exhibit.number}" in page
                assert "We have not yet run these" in page
                assert not (docs / name).exists()
                continue
            assert name in page
            assert (docs / name).stat().st_size < 300_000
        assert all(f"**{claim.id}**" in page for claim in paper.claims(False))


# --- the command ----------------------------------------------------------------------------------


def invoke(*arguments: str):
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200", "TERM": "dumb"})


def test_help_names_the_options_and_gives_examples():
    result = invoke("reproduce", "--help")
    assert result.exit_code == 0
    for word in ("--figure", "--quick", "--check", "--out", "dualgap reproduce 000 --quick"):
        assert word in result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reproduce", "007"], "there is no paper '007'; the papers are 000 (csiba2015)"),
        (["reproduce", "003", "--figure", "9"], "Qu 2014 has no figure '9'; it has 1, 2, 3, 4, 5"),
        (["reproduce", "003", "--figure", "3", "--x", "y"], "there is no axis 'y'; the axes are"),
        (["reproduce", "003", "--figure", "1", "--x", "seconds"], "its axes are fixed"),
        (["reproduce"], "name a paper: 000 (csiba2015), 001 (zhang2015)"),
        (["reproduce", "all", "--figure", "1"], "--figure needs one paper"),
        (["reproduce", "000", "--check", "--figure", "1"], "do not go with --check"),
    ],
)
def test_bad_requests_get_one_line_and_exit_code_2(arguments, words):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output


def test_claims_are_shown_line_by_line(tmp_path, monkeypatch):
    monkeypatch.setattr(papers, "every", lambda: [small_paper()])
    result = invoke("reproduce", "--check", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "X1: adaptive is faster" in result.output
    assert "holds" in result.output or "does not hold" in result.output
    assert "two numbers" in result.output
    table = (tmp_path / "small2000/claims.md").read_text()
    assert "**adaptive is faster**" in table
    assert "two numbers" in table


def test_figures_of_theory_need_no_runs(tmp_path):
    for number in ("1", "2"):
        result = invoke("reproduce", "003", "--figure", number, "--out", str(tmp_path))
        assert result.exit_code == 0, result.output
        assert Path(tmp_path / f"qu2014/figure-0{number}.png").stat().st_size > 10_000


def test_an_installed_dualgap_says_how_to_get_the_papers(tmp_path):
    installed = tmp_path / "site"
    installed.mkdir()
    (installed / "dualgap").symlink_to(ROOT / "src" / "dualgap")

    def reproduce_in(folder):
        code = "from dualgap.cli import app; app(['reproduce', '--help'])"
        environment = {**os.environ, "PYTHONPATH": str(installed), "PYTHONSAFEPATH": "1"}
        return subprocess.run(
            [sys.executable, "-c", code],
            check=False,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )

    missing = reproduce_in(tmp_path)
    assert missing.returncode == 2
    assert "clone it, and in its folder run" in missing.stderr
    assert reproduce_in(ROOT).returncode == 0


def test_the_wheel_has_no_papers():
    assert (
        'only-include = ["src/dualgap", "src/dgcheck.py"]' in (ROOT / "pyproject.toml").read_text()
    )


def test_papers_is_a_command_of_its_own():
    command = [sys.executable, "-m", "papers", "007"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "there is no paper '007'" in run.stderr
