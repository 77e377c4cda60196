// The page: what the switches say is what the charts show.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);
const chosen = (name) => document.querySelector(`input[name=${name}]:checked`)?.value;
const announce = (text) => { find("said").textContent = text; };
const hidden = new Set();

// --- the way there ---------------------------------------------------------------------------

const X_LABELS = { passes: "passes over the data", updates: "coordinate updates", seconds: "seconds" };
const Y_LABELS = {
  gap: ["certified gap", "The gap bounds how far the objective is from the best possible one."],
  primal: ["objective − best bound", "How far the objective is above the best bound of all runs: the true distance from the optimum is no larger."],
  dual: ["best objective − bound", "How far the bound is below the best objective of all runs: the true distance from the optimum is no larger."],
};

function height(history, k, y) {
  const [primal, dual] = [history.primal[k], history.dual[k]];
  if (y === "gap") return history.gap[k];
  if (y === "primal") return primal === null || data.best.dual === null ? null : primal - data.best.dual;
  return dual === null || data.best.primal === null ? null : data.best.primal - dual;
}

const curves = new Chart(find("curves"), announce);

function showCurves() {
  const [x, y] = [chosen("x"), chosen("y")];
  const [xLog, yLog] = [chosen("across") === "log", chosen("scale") === "log"];
  const shown = data.runs.map((run, number) => ({
    name: run.name, number, run,
    points: run.history.passes
      .map((_, row) => ({ x: run.history[x][row], y: height(run.history, row, y), row }))
      .filter((point) => point.x !== null && point.y !== null && (!xLog || point.x > 0) && (!yLog || point.y > 0)),
  })).filter((curve) => !hidden.has(curve.number));
  const targets = [...new Set(shown.map((curve) => curve.run.target))];
  const one = y === "gap" && targets.length === 1 && targets[0] > 0 ? [{ y: targets[0], text: "target" }] : [];
  curves.show({
    curves: shown, xLog, yLog, xLabel: X_LABELS[x], yLabel: Y_LABELS[y][0], marks: one,
    empty: hidden.size ? "All runs are switched off" : "No finite values to show",
    say: (curve, { row }) => {
      const h = curve.run.history;
      return [
        `gap ${spoken(h.gap[row])}`, `objective ${spoken(h.primal[row], 8)}`, `bound ${spoken(h.dual[row], 8)}`,
        `passes ${spoken(h.passes[row])}`, `updates ${spoken(h.updates[row], 9)}`, `seconds ${spoken(h.seconds[row])}`,
      ];
    },
  });
  find("about-y").textContent = Y_LABELS[y][1];
}

function makeLegend() {
  data.runs.forEach((run, number) => {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    const swatch = element("svg", { width: 28, height: 12, viewBox: "0 0 28 12", "aria-hidden": "true" });
    const stroke = `stroke:${colourOf(number)};stroke-width:2`;
    swatch.append(element("line", { x1: 0, x2: 28, y1: 6, y2: 6, style: stroke, "stroke-dasharray": dashOf(number) }));
    swatch.append(element("path", { d: SHAPES[number % 4], transform: "translate(14,6)", style: `fill:${colourOf(number)}` }));
    button.append(swatch, run.name);
    button.addEventListener("click", () => {
      if (!hidden.delete(number)) hidden.add(number);
      button.setAttribute("aria-pressed", String(!hidden.has(number)));
      showCurves();
    });
    find("legend").append(button);
  });
}

// --- the sampling at work --------------------------------------------------------------------

const parts = new Chart(find("parts"), announce);
const chances = new Chart(find("chances"), announce);

function percent(share) { return share > 0 && share < 1e-3 ? "< 0.1 %" : `${Math.floor(1000 * share) / 10} %`; }

function spreadCurve(name, number, ranks, spread, faint) {
  const points = ranks.map((x, k) => ({ x, y: spread.values[k], row: k })).filter((p) => p.y !== null && p.y > 0);
  return { name, number, points, faint };
}

function showSampling() {
  const run = data.runs[find("run").value], kind = chosen("kind"), noun = kind.slice(0, -1);
  const frame = run.frames[find("look").value], last = run.frames[run.frames.length - 1];
  const at = frame === last ? "at the end" : `at pass ${spoken(frame.passes)}`;
  const spread = frame[kind], settled = spread.size - spread.above;
  find("when").textContent = at;
  find("share").textContent = `${at[0].toUpperCase()}${at.slice(1)}, ${settled.toLocaleString("en")} of `
    + `${spread.size.toLocaleString("en")} ${kind}${kind === "features" && run.intercept ? " with the intercept" : ""} (${percent(settled / Math.max(spread.size, 1))}) are resolved`
    + (spread.total > 0 ? `; ${spread.holders.toLocaleString("en")} ${spread.holders === 1 ? "makes" : "make"} up 99 % of their contributions to the gap, ${spoken(spread.total)}.` : ".");
  const level = run.target / Math.max(spread.size, 1);
  const own = spreadCurve(at, 0, run.ranks[kind], spread, false);
  const end = spreadCurve("at the end", 1, run.ranks[kind], last[kind], true);
  const say = (curve, point) => [`${noun} of rank ${point.x.toLocaleString("en")}`, spoken(point.y)];
  const largest = run.frames.map((each) => each[kind].values[0]).filter((value) => value > 0); // the same at each gap check
  const heights = [...largest, ...(level > 0 ? [level] : [])];
  find("parts-title").textContent = `Contributions to the gap, the largest first${frame === last ? "" : " (dashed: at the end)"}`;
  parts.show({
    curves: frame === last ? [own] : [end, own], xLog: true, yLog: true, say,
    xLabel: `${kind} by rank (1 = largest)`, yLabel: `contribution of each ${noun} to the gap`,
    xRange: [1, spread.size], yRange: [Math.min(...heights) * 1e-3, Math.max(...heights) * 1.5],
    marks: level > 0 ? [{ y: level, text: "equal share of the target" }] : [],
    empty: "No contribution is larger than 0",
  });
  const known = run.ranks.probabilities.length > 0;
  find("chances-figure").hidden = !known;
  if (!known) return;
  // Those of the last gap check at which they are known: after the end, nothing is drawn.
  const latest = run.frames.slice(0, Number(find("look").value) + 1).filter((each) => each.probabilities).pop();
  const name = latest && `before pass ${spoken(latest.passes)}`;
  const likely = latest ? [spreadCurve(name, 0, run.ranks.probabilities, latest.probabilities, false)] : [];
  const peak = Math.max(10, ...run.frames.map((each) => each.probabilities?.values[0] || 0));
  find("chances-title").textContent = `How likely each was to be visited${latest ? ` ${name}` : ""}`;
  chances.show({
    curves: likely, xLog: true, yLog: true, say: (_, point) => [`rank ${point.x.toLocaleString("en")}`, `${spoken(point.y)} × uniform`],
    xRange: [1, latest?.probabilities.size || 1], yRange: [1e-4, peak * 1.5], xLabel: "by rank (1 = likeliest)",
    yLabel: "probability / uniform probability", marks: [{ y: 1, text: "uniform" }],
    empty: "Nothing had been drawn yet",
  });
}

function showWorst(run, kind) {
  const listed = run.worst[kind], targets = listed.some((each) => each.target !== null);
  const noun = kind.slice(0, -1);
  find("worst-title").textContent = listed.length ? `The ${kind} that add most to the gap at the end` : `No ${noun} adds to the gap at the end`;
  const heads = [kind === "features" && data.named ? noun : `${noun} (from 0)`, "contribution to the gap", "share of the gap", ...(targets ? ["y"] : [])];
  find("worst-head").replaceChildren(...(listed.length ? heads : []).map((text) => cell("th", text, "col")));
  find("worst").replaceChildren(...listed.map((each) => {
    const row = document.createElement("tr");
    const texts = [spoken(each.part), each.share === null ? "unknown" : percent(each.share), ...(targets ? [spoken(each.target)] : [])];
    row.append(cell("th", String(each.index), "row"), ...texts.map((text) => cell("td", text)));
    return row;
  }));
}

function cell(name, text, scope) {
  const made = document.createElement(name);
  made.textContent = text;
  if (scope) made.scope = scope;
  return made;
}

function changeRun() {
  const run = data.runs[find("run").value], last = run.frames[run.frames.length - 1];
  const look = find("look");
  look.max = run.frames.length - 1;
  look.value = run.frames.length - 1;
  find("look-choice").hidden = run.frames.length < 2;
  const kind = last.samples.total >= last.features.total ? "samples" : "features";
  const most = (which) => Math.max(...run.frames.map((each) => each[which].total / (each.gap || Infinity)));
  find("kind-choice").hidden = Math.min(most("samples"), most("features")) < 1e-6; // one kind adds nothing
  document.querySelector(`input[name=kind][value=${kind}]`).checked = true;
  changeKind();
}

function changeKind() {
  showWorst(data.runs[find("run").value], chosen("kind"));
  showSampling();
}

// --- the line to copy ------------------------------------------------------------------------

async function copyLine() {
  const line = find("line");
  try {
    await navigator.clipboard.writeText(line.textContent);
  } catch { // not allowed for files in some browsers: the old way, by a selection
    getSelection().selectAllChildren(line);
    document.execCommand("copy");
  }
  find("copied").textContent = "Copied.";
}

makeLegend();
find("legend").hidden = data.runs.length < 2;
find("run-choice").hidden = data.runs.length < 2;
find("run").value = data.first;
for (const name of ["x", "y", "across", "scale"]) {
  document.querySelectorAll(`input[name=${name}]`).forEach((input) => input.addEventListener("change", showCurves));
}
document.querySelectorAll("input[name=kind]").forEach((input) => input.addEventListener("change", changeKind));
find("run").addEventListener("change", changeRun);
find("look").addEventListener("input", showSampling);
find("copy").addEventListener("click", copyLine);
showCurves();
changeRun();
