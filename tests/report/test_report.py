"""The report page without a browser: one file, nothing fetched, nothing that a name could break."""

import dataclasses
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from report_runs import made

import dualgap as dg
from dualgap.report import words
from dualgap.report.data import drawn, embedded
from dualgap.report.page import rendered
from dualgap.report.repeat import made as spelled_problem
from dualgap.report.repeat import repeating
from dualgap.run.recording import Frame

HOSTILE = "</script><script>alert(1)</script><!-- \u2028 {{data}} & \"'</title>"


class Outline(HTMLParser):
    """The elements of a page, the text of each kind, and what attributes point to."""

    def __init__(self, page):
        super().__init__()
        self.open, self.counts, self.texts, self.links, self.ids = [], {}, {}, [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag not in ("meta", "link", "input", "br"):
            self.open.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "action")]
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts[self.open[-1]] = self.texts.get(self.open[-1], "") + data


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_one_file_that_fetches_nothing(tmp_path):
    problem, runs, recordings = made()
    path = dg.report.write(tmp_path / "report.html", runs, problem, recordings=recordings)
    assert path == tmp_path / "report.html"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    page = path.read_text(encoding="utf-8")
    outline = Outline(page)
    assert outline.open == []
    assert outline.links == ["data:,"]
    assert not re.search(r"https?://|@import|url\((?!#)", page)
    assert not re.search(r"\{\{\w+\}\}", page)
    assert len(outline.ids) == len(set(outline.ids))
    ids = set(outline.ids)
    for text in re.findall(r'aria-(?:labelledby|describedby)="([^"]+)"', page):
        assert set(text.split()) <= ids
    assert set(re.findall(r'find\("([\w-]+)"\)', page)) <= ids


def test_the_data_are_those_of_the_runs():
    problem, runs, recordings = made()
    data = data_of(rendered(runs, problem, recordings=recordings))
    assert [run["name"] for run in data["runs"]] == list(runs)
    assert data["first"] == 0
    assert data["best"]["dual"] == runs["adasdca+"].certificate.dual
    for run, solution in zip(data["runs"], runs.values()):
        for column, values in run["history"].items():
            own = solution.gaps if column == "gap" else solution.history[column]
            np.testing.assert_array_equal(values, own)
        assert len(run["frames"]) == len(recordings[run["name"]].frames) + 1
        assert len(run["ranks"]["samples"]) == len(run["frames"][0]["samples"]["values"])
        worst = run["worst"]["samples"][0]
        assert worst["index"] == np.argmax(solution.certificate.sample_parts)
        assert worst["target"] == pytest.approx(problem.y[worst["index"]], rel=1e-3)


def test_hostile_names_stay_text():
    problem, runs, _ = made()
    named = {HOSTILE: runs["sdca"], "Ünï✓": runs["adasdca+"]}
    page = rendered(named, problem, title=HOSTILE, command=f"echo {HOSTILE}")
    outline, plain = Outline(page), Outline(rendered(runs, problem))
    assert outline.counts == plain.counts
    assert outline.texts["title"] == HOSTILE
    assert outline.texts["pre"] == f"echo {HOSTILE}"
    assert data_of(page)["runs"][0]["name"] == HOSTILE
    assert "<!--" not in embedded(drawn(named, HOSTILE, {}))


def test_numbers_that_json_does_not_have():
    solution = made()[1]["sdca"]
    proof = dataclasses.replace(
        solution.certificate,
        primal=np.inf,
        dual=-np.inf,
        gap=np.inf,
        radius=None,
        sample_parts=np.array([np.nan, np.inf, 1.0]),
    )
    broken = dataclasses.replace(solution, certificate=proof, settings=None)
    page = rendered({"broken": broken})
    data = data_of(page)
    assert data["best"] == {"primal": None, "dual": None}
    assert data["runs"][0]["frames"][0]["samples"]["values"] == [None, 1.0, 0.0]
    assert "Nothing is proven yet" in page
    assert "objective is infinite" in page
    assert re.search(r"<section [^>]*hidden>\s*<h2 id=\"again\">", page)  # nobody knows how
    unbounded = dataclasses.replace(
        solution, certificate=dataclasses.replace(proof, primal=1.0, radius=np.inf)
    )
    assert "How low it could be is not known" in " ".join(words.meaning(unbounded))


def test_long_histories_are_thinned_out():
    solution = made()[1]["sdca"]
    history = dg.run.solution.History()
    for k in range(5000):
        history.append(k, k, k, k, k, k, 1.0, 0.0, 1.0)
    page = rendered({"long": dataclasses.replace(solution, history=history)})
    drawn = data_of(page)["runs"][0]["history"]
    assert drawn["gap"][-1] == solution.certificate.gap  # the end is what is proven
    passes = drawn["passes"]
    assert (passes[0], passes[-1], len(passes)) == (0, 4999, 500)
    assert page.count("<tr>") < 40


def test_the_certificate_in_words():
    _, runs, _ = made()
    good, short = runs["adasdca+"], runs["sdca"]
    assert words.headline(good).startswith("Proven: at most")
    said = " ".join(words.meaning(good))
    assert f"within {good.certificate.radius:.1e} of the best ones" in said
    assert "It was reached after" in said
    said = " ".join(words.meaning(short))
    assert "It was not reached" in said
    assert "% of the way there on a logarithmic scale" in said
    assert "more passes (an estimate)" in said
    assert "Raise max_epochs" in said
    assert "that of adasdca+" in words.together(runs)
    assert words.together({"sdca": short}) == ""
    left = words.unresolved(Frame.last(short))
    assert left.startswith("Of 60 samples")
    assert "features" not in left  # they add rounding errors only
    assert "summed part by part" not in said
    proof = dataclasses.replace(short.certificate, gap=0.1 * short.certificate.gap)
    said = " ".join(words.meaning(dataclasses.replace(short, certificate=proof)))
    assert "less than the difference of these two numbers" in said
    free = dataclasses.replace(good, certificate=dataclasses.replace(good.certificate, radius=None))
    assert "not strongly convex" in " ".join(words.meaning(free))


def test_the_line_repeats_the_run(tmp_path):
    problem, runs, recordings = made()
    path = runs["sdca"].report(
        tmp_path / "one.html", problem, title="One", recording=recordings["sdca"]
    )
    page = path.read_text(encoding="utf-8")
    line = Outline(page).texts["pre"]
    again = {"X": problem.X, "y": problem.y}
    exec(line, again)
    np.testing.assert_array_equal(again["solution"].coef, runs["sdca"].coef)
    exec(repeating(runs, problem), again)
    assert list(again["runs"]) == list(runs)
    assert repeating({"x": runs["sdca"]}, None).endswith(
        'solution = dg.solve(problem, "sdca", tol=1e-09, max_epochs=12)'
    )


@pytest.mark.parametrize(
    "problem",
    [
        lambda X, y: dg.Problem(X, y, "huber", "l1", 0.1, intercept=True),
        lambda X, y: dg.Problem(X, y, dg.losses.Huber(2.0), dg.penalties.NonNegative(), 0.1),
        lambda X, y: dg.Problem(X, y, "squared", lam=0.1, intercept="penalised"),
        lambda X, y: dg.Problem(
            X, y, penalty=dg.penalties.Weighted(dg.penalties.L2(), [1, 2, 3]), intercept=True
        ),
        lambda X, y: dg.Problem(X, y > 0, "softmax", dg.penalties.Box(0, 2, dg.penalties.L1())),
    ],
)
def test_a_problem_is_made_again_from_its_line(problem):
    X = np.random.default_rng(0).standard_normal((6, 3))
    y = X[:, 0] > 0
    first = problem(X, y + 0.0)
    line = spelled_problem(first)
    again = eval(line, {"dg": dg, "X": X, "y": y + 0.0})
    assert spelled_problem(again) == line
    w = np.arange(1.0, first.coef_size + 1)
    assert again.penalty_value(w) == first.penalty_value(w)
    assert type(again.loss) is type(first.loss)


def test_bad_arguments_are_named(tmp_path):
    _, runs, recordings = made()
    with pytest.raises(ValueError, match="runs must be a dict of Solutions"):
        dg.report.write(tmp_path / "x.html", runs["sdca"])
    with pytest.raises(ValueError, match="runs is empty"):
        dg.report.write(tmp_path / "x.html", {})
    with pytest.raises(ValueError, match="'sdca', which is not the name of a run"):
        dg.report.write(tmp_path / "x.html", {"adasdca+": runs["adasdca+"]}, recordings=recordings)
    with pytest.raises(ValueError, match="feature_names has 1 names where there are 5 features"):
        dg.report.write(tmp_path / "x.html", runs, feature_names=["height"])
    assert list(tmp_path.iterdir()) == []
