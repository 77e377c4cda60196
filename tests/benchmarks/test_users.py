"""The race of estimators: its judge, its cases, and who counts as faster at an equal objective."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

import dualgap as dg
from benchmarks.peers.report import replaced
from benchmarks.users import __main__ as command
from benchmarks.users import cases, generated, judge, models, race, report, rules, table
from benchmarks.users.case import Case, Instance
from benchmarks.users.cases import all_cases
from benchmarks.users.contestant import Contestant

rng = np.random.default_rng(0)
X, Y = load_iris(return_X_y=True)
TWO = np.where(Y == 1, 1.0, -1.0)
NUMBERS = load_diabetes(return_X_y=True)
PENALISED = {"intercept_penalty": "l2"}
HUBER = {"delta": 20.0, "alpha": 0.01}


def objective_of(model):
    parts = model.certificate_
    return sum(part.primal for part in (parts if isinstance(parts, list) else [parts]))


@pytest.mark.parametrize(
    ("kind", "params", "y", "unit"),
    [
        ("LogisticRegression", {"C": 0.5}, Y, 0.5 * 150),
        ("LogisticRegression", {}, TWO, 150),
        ("LinearSVC", {"loss": "hinge"}, TWO, 150),
        ("LinearSVC", {"loss": "squared_hinge", **PENALISED}, Y, 150),
        ("LinearSVC", {"loss": "hinge", "C": 0.1, **PENALISED}, Y, 0.1 * 150),
        ("LinearSVR", {"epsilon": 0.2, **PENALISED}, TWO, 150),
        ("LinearSVR", {}, TWO, 150),
        ("Ridge", {"alpha": 0.3}, None, 2 * 442),
        ("Lasso", {"alpha": 0.3}, None, 1),
        ("ElasticNet", {"alpha": 0.1, "l1_ratio": 0.2}, None, 1),
        ("QuantileRegressor", {"alpha": 0.1}, None, 1),
        ("HuberRegression", HUBER, None, 1),
        ("GroupLasso", {"alpha": 0.3, "groups": 5}, None, 1),
        ("LinearSVC", {"multi_class": "crammer_singer", **PENALISED}, Y, 150),
    ],
)
def test_the_judge_has_the_objective_of_the_estimator(kind, params, y, unit):
    data = NUMBERS if y is None else (X, y)
    model = getattr(dg, kind)(**params).fit(*data)
    coef, intercept, note = models.found(model, Instance(Case("tiny", "iris", kind, params), *data))
    found = judge.objective(kind, *data, coef, intercept, params)
    assert found == pytest.approx(unit * objective_of(model), rel=1e-9)
    assert note.startswith("gap ")


@pytest.mark.parametrize(
    ("kind", "params", "loss"),
    [
        ("PoissonRegressor", {}, "poisson"),
        ("GammaRegressor", {}, "gamma"),
        ("TweedieRegressor", {"power": 1.3}, dg.losses.Tweedie(1.3)),
        ("NegativeBinomialRegressor", {"dispersion": 0.5}, dg.losses.NegativeBinomial(2.0)),
    ],
)
def test_the_judge_has_the_objective_of_log_links_up_to_a_constant(kind, params, loss):
    y, offset = 1.0 + rng.poisson(2.0, 150), rng.standard_normal(150)
    problem = dg.Problem(X, y, loss, "l2", 0.5, intercept=True, offset=offset)
    points = [(rng.standard_normal(4), rng.standard_normal()) for _ in range(2)]
    shared = params | {"alpha": 0.5}
    ours = [judge.objective(kind, X, y, w, b, shared, offset) for w, b in points]
    theirs = [problem.primal(np.append(w, b)) for w, b in points]
    assert ours[0] - ours[1] == pytest.approx(theirs[0] - theirs[1], rel=1e-10)
    assert min(ours) > 0.0  # half a deviance


def test_the_judge_has_the_objective_of_several_targets():
    targets = X[:, :2] ** 2
    model = dg.MultiTaskLasso(alpha=0.1).fit(X, targets)
    instance = Instance(Case("models", "iris", "MultiTaskLasso", {"alpha": 0.1}), X, targets)
    coef, intercept, _ = models.found(model, instance)
    found = judge.objective("MultiTaskLasso", X, targets, coef, intercept, {"alpha": 0.1})
    assert found == pytest.approx(model.certificate_.primal, rel=1e-9)


def test_categories_are_judged_as_columns():
    frame, _ = generated.FAMILIES["motor"]("50")
    expanded = generated.expanded(frame)
    assert expanded.shape == (50, 5 + sum(generated.LEVELS.values()))
    assert (expanded[:, 5:].sum(axis=1) == len(generated.LEVELS)).all()
    np.testing.assert_array_equal(expanded[:, 0].toarray().ravel(), frame["VehPower"])


def test_the_judge_refuses_coefficients_of_another_length():
    with pytest.raises(ValueError, match="4 coefficients are needed, not 5"):
        judge.objective("Lasso", X, Y, np.zeros(5), 0.0, {})


def test_the_model_with_a_scale_has_the_optimum_of_the_one_without():
    """At the parameters that a case derives from scikit-learn's HuberRegressor."""
    from sklearn.linear_model import HuberRegressor

    instance = Instance(Case("tiny", "diabetes", "HuberRegression"), *NUMBERS)
    theirs = HuberRegressor(max_iter=20_000, tol=1e-9).fit(*NUMBERS)
    ours = dg.HuberRegression(**instance.params, tol=1e-10).fit(*NUMBERS)
    least, reached = (
        judge.objective("HuberRegression", *NUMBERS, m.coef_, m.intercept_, instance.params)
        for m in (ours, theirs)
    )
    assert least <= reached <= (1.0 + 1e-5) * least


def test_cases_have_names_of_their_own_and_known_contestants():
    every = list(all_cases())
    assert len({case.name for case in every}) == len(every)
    counted = [case for case in every if not case.reported]
    assert len(counted) >= 91
    assert {case.group for case in counted} == set(cases.GROUPS)
    assert all(models.PEERS[case.kind] for case in every)
    for case in every:
        if case.reported:
            assert case.kind in ("LinearSVC", "LinearSVR")
            assert "intercept_penalty" not in case.params


def test_a_peer_takes_part_only_where_it_states_the_same_problem():
    def names(params, y=TWO, kind="LinearSVC"):
        instance = Instance(Case("tiny", "iris", kind, params), X, y)
        return {peer.name for peer in models.PEERS[kind] if peer.accepts(instance)}

    free = names({"loss": "squared_hinge"})
    penalised = names({"loss": "squared_hinge", **PENALISED})
    assert free == {"cyanure"}
    assert "cyanure" not in penalised
    assert {"sklearn", "snapml, 1 thread"} <= penalised
    assert names({"loss": "hinge"}) == set()
    assert "snapml, 1 thread" not in names({"loss": "hinge", **PENALISED}, Y)


def test_words_select_cases():
    assert {case.group for case in command.chosen("tiny")} == {"tiny"}
    assert {case.data for case in command.chosen("classes:letter")} == {"letter.scale"}
    some = command.chosen("classes:letter; selection:iris")
    assert [case.name for case in some] == [
        "classes:letter.scale:LogisticRegression",
        "selection:iris:LogisticRegressionCV",
    ]
    assert len(command.chosen("")) == len(list(all_cases()))


def test_some_samples_have_some_of_every_class():
    y = np.repeat([0, 1, 2], [5000, 3, 1])
    instance = Instance(Case("tiny", "iris", "LogisticRegression"), np.zeros((5004, 1)), y)
    part = instance.rows(100)
    assert set(part.y) == {0, 1, 2}
    assert part.n <= 120
    assert instance.rows(5004) is instance


def run(seconds, objective=None, setting="defaults"):
    made = {"setting": setting, "seconds": seconds, "processor": seconds}
    return made if objective is None else made | {"objective": objective}


def entry(ours, **peers):
    records = {name: {"status": "done", "runs": runs} for name, runs in peers.items()}
    return {"group": "tiny", "reported": False, "ours": {"runs": ours}, "peers": records}


def test_only_runs_that_are_as_good_count():
    ours = [run(2.0, 10.0)]
    fast_but_worse = [run(0.1, 10.1), run(4.0, 10.0 + 9e-7, "tol=1e-6")]
    slow = [run(8.0, 9.0)]
    row = rules.row("a", entry(ours, fast=fast_but_worse, slow=slow))
    assert (row.peer, row.setting, row.ratio) == ("fast", "tol=1e-6", 0.5)  # within the slack
    fast_but_worse[1]["objective"] = 10.0 + 2e-6
    row = rules.row("a", entry(ours, fast=fast_but_worse, slow=slow))
    assert (row.peer, row.ratio) == ("slow", 0.25)


def test_where_nobody_arrives_the_shortest_try_bounds_the_ratio():
    one = entry([run(2.0, 10.0)], a=[run(1.0, 11.0), run(5.0, 10.5)], b=[run(1.0, 12.0)])
    one["peers"]["b"] |= {"status": "stopped after 8 s", "stopped": 8.0}
    row = rules.row("a", one)
    assert (row.alone, row.theirs, row.ratio) == (True, 5.0, 0.4)
    assert table.cells(row)[3] == "< 0.4"
    nobody = rules.row("a", entry([run(2.0, 10.0)]))
    assert np.isnan(nobody.ratio)
    assert rules.summary([nobody]) is None


def test_the_seconds_of_the_processor_can_take_the_place_of_the_clocks():
    one = entry([run(2.0, 10.0)], a=[run(3.0, 10.0) | {"processor": 0.5}], b=[])
    one["peers"]["b"]["stopped"] = 1.0  # of the clock: it says nothing of the processor
    found = table.by_processor({"sessions": {}, "tasks": {"a": one}})
    assert rules.row("a", found["tasks"]["a"]).ratio == 4.0
    assert "stopped" not in one["peers"]["b"]


def test_plain_times_are_compared_where_nothing_is_judged():
    row = rules.row("a", entry([run(3.0), run(2.0)], peer=[run(1.0)]))
    assert row.ratio == 2.0


def test_a_peer_climbs_until_it_is_as_good_or_too_late():
    assert rules.climb(3, [], 10.0, np.inf)
    assert rules.climb(3, [run(1.0, 11.0)], 10.0, np.inf)
    assert not rules.climb(3, [run(1.0, 10.0)], 10.0, np.inf)
    assert not rules.climb(1, [run(1.0, 11.0)], 10.0, np.inf)
    assert rules.climb(3, [run(1.0, 11.0)], 10.0, 0.9)
    assert not rules.climb(3, [run(1.0, 11.0)], 10.0, 0.5)


def test_short_runs_are_repeated():
    counts = [rules.repeats(seconds) for seconds in (60.0, 5.0, 1.0, 0.1, 0.01, 1e-4, 0.0)]
    assert counts == sorted(counts)
    assert counts[:3] == [1, 2, 3]
    assert counts[-1] <= 50


class Fixed:
    """A model whose coefficients are a share of the best ones of a ridge regression."""

    def __init__(self, share):
        self.share = share

    def fit(self, X, y):
        self.coef_ = self.share * np.linalg.solve(X.T @ X + np.eye(X.shape[1]), X.T @ y)
        self.intercept_ = 0.0


# BLAS has threads of its own; the child does not use the parent's.
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_race_runs_each_in_a_process_of_its_own(monkeypatch):
    def make(instance, setting):
        return Fixed(setting.get("tol", 0.5))

    def fail(instance, setting):
        raise ValueError("not here")

    peers = [
        Contestant("climber", "numpy", make, ({}, {"tol": 0.9}, {"tol": 1.0})),
        Contestant("broken", "numpy", fail),
        Contestant("missing", "no_such_package", make),
    ]
    monkeypatch.setitem(models.PEERS, "Ridge", peers)
    monkeypatch.setattr(race, "OURS", Contestant("ours", "numpy", lambda *_: Fixed(1.0)))
    centred = rng.standard_normal((20, 3))
    instance = Instance(Case("tiny", "iris", "Ridge"), centred, centred[:, 0] + 0.1)
    found = race.race(instance, "now", True, {})
    settings = [run["setting"] for run in found["peers"]["climber"]["runs"]]
    assert settings == ["defaults", "tol=0.9", "tol=1"]
    assert found["peers"]["broken"]["status"] == "failed: ValueError: not here"
    assert found["peers"]["missing"]["status"] == "not installed"
    row = rules.row("a", found)
    assert (row.peer, row.setting) == ("climber", "tol=1")
    again = race.race(instance, "later", False, found)
    assert again["peers"] == found["peers"]


def test_the_page_says_where_we_lose():
    tasks = {
        "tiny:iris:Ridge": entry([run(2.0, 1.0)], peer=[run(1.0, 1.0)]),
        "tiny:wine:Ridge": entry([run(1.0, 1.0)], peer=[run(4.0, 1.0)]),
        "tiny:wine:LinearSVC": entry([run(1.0, 1.0)], peer=[run(0.1, 1.0)]) | {"reported": True},
        "memory:covtype": entry([])
        | {"group": "memory", "memory": {"dualgap": {"base": 300, "peak": 320, "X": 84}}},
    }
    found = {"sessions": {}, "tasks": tasks}
    text = report.page(found)
    assert "Where we lose: iris Ridge 2." in text
    assert "| Tiny data | 2 | 1.12 | 50 % | 2.00 (iris Ridge) |" in text
    assert "| covtype | dualgap | 84 | 300 | 20 |" in text
    page = f"{report.BEGIN}\nold\n{report.END}"
    assert "old" not in replaced(page, text, report.BEGIN, report.END)
    assert "at most 1.0 in 50 %" in table.lines(found)[0]
