"""The report page in a real Chromium: curves, pointer, keys, switches, a phone, dark and light."""

import itertools
import re
import shutil

import numpy as np
import pytest
from report_runs import made

import dualgap as dg

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here: `make browser`, as root, installs Debian's"
)
FLAGS = (
    "--no-sandbox",  # which root needs
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NUMBER = r"\d[\d.]*(?:e-?\d+)?"


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    problem, runs, recordings = made()
    path = tmp_path_factory.mktemp("report") / "report.html"
    return dg.report.write(path, runs, problem, recordings=recordings).as_uri()


@pytest.fixture
def visit(browser, address):
    """Opens the page; in the end there must have been no error, no message and no request."""
    troubles, contexts = [], []

    def opened(width=1100, scheme="light", at=address, **options):
        viewport = {"width": width, "height": 900}
        context = browser.new_context(viewport=viewport, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: request.url == at or troubles.append(request.url))
        page.goto(at)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


def paths(page, chart="#curves"):
    return page.locator(f"{chart} path.curve").evaluate_all(
        "all => all.map(p => p.getAttribute('d'))"
    )


def test_curves_are_drawn_and_switches_change_them(visit):
    page = visit()
    seen = set()
    axes = (("passes", "updates", "seconds"), ("gap", "primal", "dual"))
    for x, y, across, scale in itertools.product(*axes, ("linear", "log"), ("log", "linear")):
        for name, value in (("x", x), ("y", y), ("across", across), ("scale", scale)):
            page.check(f"input[name={name}][value={value}]")
        drawn = paths(page)
        assert len(drawn) == 2
        assert not re.search("NaN|Infinity|undefined", "".join(drawn))
        assert all(path.count("L") >= 5 for path in drawn)
        seen.add((y, across, scale, *drawn))
    assert len(seen) >= 24  # passes and updates may differ by a factor only
    assert page.locator("#curves text").first.is_visible()


def test_runs_can_be_switched_off(visit):
    page = visit()
    button = page.get_by_role("button", name="sdca", exact=True)
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert len(paths(page)) == 1
    page.get_by_role("button", name="adasdca+").press("Enter")
    assert paths(page) == []
    assert "All runs are switched off" in page.locator("#curves").text_content()
    button.press("Space")
    assert len(paths(page)) == 1


def test_the_pointer_shows_values(visit):
    page = visit()
    tip = page.locator("#curves .tip")
    assert not tip.is_visible()
    page.locator("#curves").hover(position={"x": 300, "y": 200})
    assert tip.is_visible()
    text = tip.inner_text()
    assert text.split("\n")[0] in ("sdca", "adasdca+")
    for word in ("gap", "objective", "bound", "passes", "updates", "seconds"):
        assert re.search(rf"{word} {NUMBER}", text)
    page.mouse.move(2, 2)
    assert not tip.is_visible()


def test_the_keyboard_does_what_the_pointer_does(visit):
    page = visit()
    page.get_by_role("button", name="sdca", exact=True).focus()
    page.keyboard.press("Tab")
    chart = page.locator("#curves")
    assert chart.evaluate("node => node === document.activeElement")
    assert chart.evaluate("node => getComputedStyle(node).outlineStyle") == "solid"
    said = page.locator("#said")
    page.keyboard.press("ArrowRight")
    assert "adasdca+: gap" in said.text_content()
    assert "passes 0," in said.text_content()
    page.keyboard.press("ArrowRight")
    assert "passes 2," in said.text_content()
    page.keyboard.press("ArrowDown")
    assert said.text_content().startswith("sdca: gap")
    assert "passes 2," in said.text_content()
    page.keyboard.press("End")
    assert "passes 12," in said.text_content()
    assert page.locator("#curves .tip").is_visible()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    assert "passes 0," in said.text_content()
    page.keyboard.press("Escape")
    assert not page.locator("#curves .tip").is_visible()
    page.locator("input[name=y][value=gap]").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("input[name=y][value=primal]").is_checked()


def test_features_by_their_names_however_small_their_parts(visit, tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 3))
    problem = dg.Problem(X, X[:, 0] > 0, "logistic", lam=0.1, intercept=True)
    recording = dg.Recording()
    run = dg.solve(problem, "newton", tol=1e-4, callback=recording)
    assert run.certificate.relative_gap < 1e-7  # Newton's last step goes far beyond the target
    page = dg.report.write(
        tmp_path / "newton.html", {"newton": run}, problem, None, None, {"newton": recording},
        feature_names=["age", "height", "<b>weight"],
    )  # fmt: skip
    page = visit(at=page.as_uri())
    page.check("input[name=kind][value=features]")
    assert "of 4 features with the intercept" in page.locator("#share").text_content()
    assert page.locator("#worst-head th").first.text_content() == "feature"
    names = page.locator("#worst th").all_text_contents()
    assert set(names) <= {"age", "height", "<b>weight", "intercept"}
    assert names
    for k in range(int(page.get_attribute("#look", "max")) + 1):
        page.locator("#look").fill(str(k))
        marker = page.locator("#parts .marker").first.bounding_box()
        bottom = page.locator("#parts svg .axis").last.bounding_box()
        assert marker["y"] + marker["height"] < bottom["y"]


def test_the_sampling_at_each_look(visit):
    page = visit()
    share, look = page.locator("#share"), page.locator("#look")
    end = share.text_content()
    assert re.match(r"At the end, \d+ of 60 samples", end)
    look.focus()
    page.keyboard.press("Home")
    assert share.text_content().startswith("At pass 0, 0 of 60 samples (0 %) are resolved")
    assert "Nothing had been drawn yet" in page.locator("#chances").text_content()
    page.keyboard.press("ArrowRight")
    assert len(paths(page, "#parts")) == 2  # this look and the end
    assert len(paths(page, "#chances")) == 1
    page.select_option("#run", label="sdca")
    assert share.text_content() != end
    assert page.locator("#worst tr").count() > 0
    assert not page.locator("#kind-choice").is_visible()  # features add nothing


@pytest.mark.parametrize("width", [390, 320])
def test_a_phone_needs_no_scrolling_sideways(visit, width):
    page = visit(width, has_touch=True, is_mobile=True)
    page.locator("details summary").tap()
    page.locator("#curves").tap(position={"x": 150, "y": 120})
    tip = page.locator("#curves .tip")
    assert tip.is_visible()
    box = tip.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") == width
    sizes = page.locator("button, select").evaluate_all("all => all.map(n => n.offsetHeight)")
    assert min(size for size in sizes if size) >= 24


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dark_and_light_can_be_read(visit, scheme):
    page = visit(scheme=scheme)

    def colour(selector, what="color"):
        return page.locator(selector).first.evaluate(f"n => getComputedStyle(n)['{what}']")

    paper, panel = colour("body", "backgroundColor"), colour("#curves", "backgroundColor")
    assert (luminance(paper) < 0.1) == (scheme == "dark")
    for selector in ("body", ".note", ".badge", "dt"):
        assert contrast(colour(selector), paper) >= 4.5
    assert contrast(colour("#curves text", "fill"), panel) >= 4.5
    for k in range(8):
        page.evaluate(f"document.querySelector('#curves path.curve').style.stroke = 'var(--c{k})'")
        assert contrast(colour("#curves path.curve", "stroke"), panel) >= 3.0


def test_the_line_is_copied(visit):
    page = visit()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#copy")
    page.wait_for_function("document.getElementById('copied').textContent === 'Copied.'")
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#line").text_content()


def test_hostile_names_do_nothing(visit, tmp_path):
    name = "</script><img src=x onerror=alert(1)>"
    page = dg.report.write(tmp_path / "hostile.html", {name: made()[1]["sdca"]}, title=name)
    opened = visit(at=page.as_uri())
    assert opened.title() == name
    opened.locator("#curves").press("End")
    assert opened.locator("#curves .tip b").text_content() == name
    assert opened.locator("img").count() == 0


def test_without_scripts_the_proof_is_there(visit):
    page = visit(java_script_enabled=False)
    assert "No coefficients whatsoever" in page.locator("main").text_content()
    assert page.locator("details table").count() == 2
