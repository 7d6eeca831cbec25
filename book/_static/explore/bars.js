// Histograms below each other on one axis.
import { rounded } from "./controls.js";
import { draw, make, set } from "./svg.js";

const [ROW, GAP, FOOT, LEFT, LINE] = [84, 24, 40, 8, 16];
const LETTER = 6.6; // mean width of a letter of the label, rather more than less

export class Bars {
  // rows: [{ name, style }]; axis: what is counted
  constructor({ rows, axis, label, bins = 23 }) {
    Object.assign(this, { rows, bins, axis });
    this.svg = draw("svg", { class: "bars", role: "img", "aria-label": label });
    this.element = make("div", {}, this.svg);
  }

  measure() { this.width = this.element.clientWidth; }

  // values: for each row an array; the range always has `least` and all values
  show(values, least, axis = this.axis) {
    const all = values.flat();
    const step = 10 ** Math.floor(Math.log10(Math.max(...all.map(Math.abs), least[1]) / 2));
    const low = Math.min(least[0], Math.floor(Math.min(...all) / step) * step);
    const high = Math.max(least[1], Math.ceil(Math.max(...all) / step) * step);
    const wide = this.width - 2 * LEFT;
    const lines = even(axis, Math.floor(wide / LETTER));
    const height = this.rows.length * (ROW + GAP) + FOOT + (lines.length - 1) * LINE;
    const across = (value) => LEFT + (value - low) / (high - low) * wide;
    set(this.svg, { viewBox: `0 0 ${this.width} ${height}`, height });
    const counts = values.map((row) => {
      const found = new Array(this.bins).fill(0);
      for (const value of row) found[Math.min(this.bins - 1, Math.floor((value - low) / (high - low) * this.bins))] += 1;
      return found;
    });
    const most = Math.max(8, ...counts.flat());
    const parts = [];
    this.rows.forEach(({ name, style }, place) => {
      const floor = (place + 1) * (ROW + GAP);
      parts.push(draw("text", { x: LEFT, y: floor - ROW - 8 }, name));
      counts[place].forEach((count, bin) => {
        const tall = count / most * ROW;
        parts.push(draw("rect", {
          class: style, x: across(low + bin * (high - low) / this.bins) + 0.5, y: floor - tall,
          width: wide / this.bins - 1, height: tall,
        }));
      });
      parts.push(draw("path", { class: "axis", d: `M${LEFT} ${floor}H${LEFT + wide}` }));
      if (low < 0) parts.push(draw("path", { class: "rule", d: `M${across(0)} ${floor}V${floor - ROW}` }));
    });
    const floor = this.rows.length * (ROW + GAP);
    for (const value of ticks(low, high)) {
      parts.push(draw("text", { x: across(value), y: floor + 15, "text-anchor": "middle" }, rounded(value)));
    }
    lines.forEach((line, place) => {
      parts.push(draw("text", { x: LEFT + wide / 2, y: floor + 33 + place * LINE, "text-anchor": "middle" }, line));
    });
    this.svg.replaceChildren(...parts);
  }
}

// the words in as few lines as that takes, about equally long
function even(text, most) {
  const lines = broken(text, most);
  for (let fewer = Math.ceil(text.length / lines.length); fewer < most; fewer++) {
    const found = broken(text, fewer);
    if (found.length === lines.length && found.every((line) => line.length <= most)) return found;
  }
  return lines;
}

// the words in lines of at most so many letters
function broken(text, most) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.length - 1;
    if (!lines[last]) lines[last] = word;
    else if (lines[last].length + 1 + word.length <= most) lines[last] += ` ${word}`;
    else lines.push(word);
  }
  return lines;
}

// round numbers inside, about four
function ticks(low, high) {
  const raw = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((one) => one * power >= raw) * power;
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  const edge = 0.02 * (high - low); // where a number would be cut off
  return found.filter((value) => (value > low + edge || value === 0) && value < high - edge);
}
