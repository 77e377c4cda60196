// From numbers to places and to text.
"use strict";

/** A number as a person reads it. */
function spoken(value, digits = 4) {
  if (value === null || value === undefined) return "unknown";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e6) return String(Number(value.toPrecision(Math.max(digits, 4))));
  return value.toExponential(digits > 4 ? digits - 1 : 2).replace("e+", "e");
}

/** A power of ten with a raised exponent. */
function power(exponent) {
  const raised = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
  return "10" + [...String(exponent)].map((sign) => raised[sign]).join("");
}

/** About `count` round numbers from low to high. */
function roundNumbers(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

/** Ticks of a logarithmic axis: powers of ten, or round numbers where there are too few of them. */
function logTicks(low, high, count) {
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
  if (last - first < 1) {
    return roundNumbers(low, high, count).filter((v) => v > 0).map((value) => ({ value, text: spoken(value) }));
  }
  const stride = Math.max(1, Math.ceil((last - first + 1) / count));
  const found = [];
  for (let k = last; k >= first; k -= stride) found.push({ value: 10 ** k, text: power(k) });
  return found;
}

/** A scale from [low, high] to pixels [from, to], with its ticks. */
function makeScale(low, high, from, to, log, count) {
  if (!(high > low)) [low, high] = log ? [low / 3, high * 3] : [low, low + (Math.abs(low) || 1)];
  const shape = log ? Math.log10 : (v) => v;
  const [a, b] = [shape(low), shape(high)];
  const place = (value) => from + ((shape(value) - a) / (b - a)) * (to - from);
  const ticks = log ? logTicks(low, high, count) : roundNumbers(low, high, count).map((value) => ({ value, text: spoken(value) }));
  return { place, ticks };
}
