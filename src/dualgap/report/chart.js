// One chart: curves in SVG, with values under the pointer or by arrow keys.
"use strict";

const SHAPES = ["M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0", "M-3.5,-3.5h7v7h-7z", "M0,-4.5L4.5,3.5H-4.5z", "M0,-5L5,0L0,5L-5,0z"];
const SVG = document.getElementById("pen").namespaceURI;
const DASHES = ["", "7 3", "2 3"];

function colourOf(k) { return `var(--c${k % 8})`; }
function dashOf(k) { return DASHES[Math.floor(k / 8) % DASHES.length]; }

function element(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

class Chart {
  /** `announce` speaks of the point that keys have moved to. */
  constructor(host, announce) {
    this.host = host;
    this.announce = announce;
    this.at = null; // the point that is pointed at: {curve, point}
    this.tip = document.createElement("div");
    this.tip.className = "tip";
    this.tip.hidden = true;
    host.addEventListener("pointermove", (event) => this.point(event));
    host.addEventListener("pointerdown", (event) => this.point(event));
    host.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") this.leave(); });
    host.addEventListener("blur", () => this.leave());
    host.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(host);
  }

  /** content: curves ([{name, number, faint, points: [{x, y, row}]}]), labels, scales, marks (lines
   * across), xRange and yRange (else all is shown) and say(curve, point), the lines of the tip. */
  show(content) {
    this.content = content;
    this.at = null;
    this.draw();
  }

  draw() {
    const width = this.host.clientWidth;
    if (!this.content || !width) return;
    const height = Math.round(Math.min(430, Math.max(260, width * 0.55)));
    const { curves, xLog, yLog, xLabel, yLabel, marks = [], xRange, yRange } = this.content;
    const box = { left: 62, right: width - 16, top: 30, bottom: height - 46 };
    const all = curves.flatMap((curve) => curve.points);
    const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, height, "aria-hidden": "true" });
    this.host.replaceChildren(svg, this.tip);
    this.svg = svg;
    this.box = box;
    this.placed = [];
    if (!all.length) {
      svg.append(element("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, this.content.empty || "Nothing to show"));
      this.mark();
      return;
    }
    const range = (values) => values.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [Infinity, -Infinity]);
    const [x0, x1] = xRange || range(all.map((point) => point.x));
    const [y0, y1] = yRange || range(all.map((point) => point.y).concat(marks.map((mark) => mark.y)));
    const xs = makeScale(x0, x1, box.left, box.right, xLog, width / 90);
    const ys = makeScale(y0, y1, box.bottom, box.top, yLog, (box.bottom - box.top) / 32);
    this.axes(svg, box, xs, ys, xLabel, yLabel);
    const clip = `clip-${this.host.id}`;
    const area = element("clipPath", { id: clip });
    area.append(element("rect", { x: box.left - 5, y: box.top - 5, width: box.right - box.left + 10, height: box.bottom - box.top + 10 }));
    const inside = element("g", { "clip-path": `url(#${clip})` });
    svg.append(area, inside);
    for (const curve of curves) this.curve(inside, curve, xs, ys);
    for (const { y: height, text } of marks) {
      const y = ys.place(height);
      svg.insertBefore(element("line", { class: "mark", x1: box.left, x2: box.right, y1: y, y2: y }), inside);
      this.label(svg, text, y - 6 < box.top + 6 ? y + 15 : y - 5);
    }
    this.mark();
  }

  /** A text at a height, at the end of the chart where it covers fewer points of curves. */
  label(svg, text, y) {
    const wide = 7 * text.length, { left, right } = this.box;
    const covered = (from, to) => this.placed.flatMap(({ places }) => places)
      .filter((p) => p.x > from && p.x < to && Math.abs(p.y - y) < 16).length;
    const first = covered(left, left + wide) < covered(right - wide, right);
    const where = first ? { x: left + 4, "text-anchor": "start" } : { x: right - 4, "text-anchor": "end" };
    svg.append(element("text", { class: "label", y, ...where }, text));
  }

  axes(svg, box, xs, ys, xLabel, yLabel) {
    for (const tick of ys.ticks) {
      const y = ys.place(tick.value);
      svg.append(element("line", { class: "grid", x1: box.left, x2: box.right, y1: y, y2: y }));
      svg.append(element("text", { x: box.left - 6, y: y + 4, "text-anchor": "end" }, tick.text));
    }
    for (const tick of xs.ticks) {
      const x = xs.place(tick.value);
      svg.append(element("line", { class: "axis", x1: x, x2: x, y1: box.bottom, y2: box.bottom + 5 }));
      const anchor = x > box.right - 12 && tick.text.length > 4 ? "end" : "middle"; // not beyond the edge
      svg.append(element("text", { x: anchor === "end" ? box.right + 12 : x, y: box.bottom + 18, "text-anchor": anchor }, tick.text));
    }
    svg.append(element("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
    svg.append(element("text", { x: (box.left + box.right) / 2, y: box.bottom + 38, "text-anchor": "middle" }, xLabel));
    svg.append(element("text", { x: 8, y: 16 }, yLabel));
  }

  curve(svg, curve, xs, ys) {
    const places = curve.points.map((point) => ({ x: xs.place(point.x), y: ys.place(point.y), point }));
    this.placed.push({ curve, places });
    const style = `stroke:${colourOf(curve.number)};opacity:${curve.faint ? 0.45 : 1}`;
    const path = places.map((p, k) => `${k ? "L" : "M"}${p.x.toFixed(1)},${p.y.toFixed(1)}`).join("");
    svg.append(element("path", { class: "curve", d: path, style, "stroke-dasharray": curve.faint ? "4 3" : dashOf(curve.number) }));
    if (curve.faint) return;
    const stride = Math.max(1, Math.ceil(places.length / 10));
    for (let k = 0; k < places.length; k += stride) {
      svg.append(element("path", { class: "marker", d: SHAPES[curve.number % 4], transform: `translate(${places[k].x},${places[k].y})`, style: `fill:${colourOf(curve.number)}` }));
    }
  }

  /** The guide, the dots and the tip at the point that is pointed at. */
  mark() {
    this.svg.querySelectorAll(".guide, .dot").forEach((old) => old.remove());
    const own = this.at && this.placed[this.at.curve]?.places[this.at.point];
    this.tip.hidden = !own;
    if (!own) return;
    const near = this.placed.map(({ curve, places }, k) => {
      const place = k === this.at.curve ? own : closest(places, own.x);
      return place && { curve, place, own: k === this.at.curve };
    }).filter((each) => each && (each.own || Math.abs(each.place.x - own.x) < 12));
    this.svg.append(element("line", { class: "guide", x1: own.x, x2: own.x, y1: this.box.top, y2: this.box.bottom }));
    for (const { curve, place, own: large } of near) {
      this.svg.append(element("circle", { class: "dot", cx: place.x, cy: place.y, r: large ? 6 : 4, style: `fill:${colourOf(curve.number)}` }));
    }
    this.fill(own);
  }

  fill(own) {
    const curve = this.placed[this.at.curve].curve;
    const title = document.createElement("b");
    title.textContent = curve.name;
    const lines = this.content.say(curve, own.point);
    this.tip.replaceChildren(title, ...lines.flatMap((line) => [document.createElement("br"), line]));
    this.said = `${curve.name}: ${lines.join(", ")}`;
    const room = this.host.clientWidth;
    const wide = this.tip.offsetWidth, tall = this.tip.offsetHeight;
    const left = own.x + 14 + wide < room ? own.x + 14 : Math.max(4, own.x - 14 - wide);
    const top = Math.max(4, Math.min(own.y - tall / 2, this.host.clientHeight - tall - 4));
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${top}px`;
  }

  point(event) {
    const frame = this.host.getBoundingClientRect();
    const x = event.clientX - frame.left, y = event.clientY - frame.top;
    let best = null;
    (this.placed || []).forEach(({ curve, places }, k) => {
      const place = closest(places, x);
      if (!place || curve.faint) return;
      const far = Math.hypot(place.x - x, place.y - y);
      if (!best || far < best.far) best = { far, curve: k, point: places.indexOf(place) };
    });
    this.at = best;
    if (this.svg) this.mark();
  }

  leave() {
    this.at = null;
    if (this.svg) this.mark();
  }

  key(event) {
    const curves = (this.placed || []).filter(({ curve, places }) => !curve.faint && places.length);
    if (!curves.length) return;
    if (event.key === "Escape") { this.leave(); return; }
    const keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"];
    if (!keys.includes(event.key)) return;
    event.preventDefault();
    const here = this.at ? this.placed[this.at.curve] : curves[0];
    let places = here.places, shown = here, point = this.at ? this.at.point : -1;
    if (event.key === "ArrowRight") point += 1;
    if (event.key === "ArrowLeft") point = this.at ? point - 1 : places.length - 1;
    if (event.key === "Home") point = 0;
    if (event.key === "End") point = places.length - 1;
    if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const turn = event.key === "ArrowDown" ? 1 : curves.length - 1;
      if (this.at) shown = curves[(curves.indexOf(here) + turn) % curves.length];
      const x = this.at ? places[point].x : -Infinity;
      places = shown.places;
      point = places.indexOf(closest(places, x));
    }
    this.at = { curve: this.placed.indexOf(shown), point: Math.max(0, Math.min(point, places.length - 1)) };
    this.mark();
    this.announce(this.said);
  }
}

function closest(places, x) {
  return places.reduce((best, p) => (!best || Math.abs(p.x - x) < Math.abs(best.x - x) ? p : best), null);
}
