// A probability and its estimates over a score: the curve, the stairs of exact level sets, and a mark for each estimate.
import { draw, make, set } from "./svg.js";

const [LEFT, RIGHT, TOP, FOOT] = [34, 8, 24, 36];
const MARK = 4; // pixels

// a circle or a square; all marks of a kind are one path, which is quicker than an element for each
const mark = (round, x, y) => `M${(x - MARK).toFixed(1)} ${y.toFixed(1)}` + (round
  ? `a${MARK} ${MARK} 0 1 0 ${2 * MARK} 0a${MARK} ${MARK} 0 1 0 ${-2 * MARK} 0`
  : `v${-MARK}h${2 * MARK}v${2 * MARK}h${-2 * MARK}z`);

export class Stairs {
  // range: [lowest, highest] score; curve(score): the probability; at(level): the score at which it is the level
  constructor({ range, curve, at, label }) {
    Object.assign(this, { range, curve, at });
    this.svg = draw("svg", { role: "img", "aria-label": label });
    this.element = make("div", { class: "stairs" }, this.svg);
  }

  measure() {
    this.width = this.element.clientWidth;
    this.height = Math.round(Math.max(270, Math.min(390, 0.75 * this.width)));
  }

  // scores, estimates and inside (whether in the set of the level): one for each mark; faint: the estimates are old ones
  show({ scores, estimates, inside, level, levels, faint }) {
    const [low, high] = this.range;
    const across = (score) => LEFT + (Math.min(high, Math.max(low, score)) - low) / (high - low) * (this.width - LEFT - RIGHT);
    const up = (value) => TOP + (1 - value) * (this.height - TOP - FOOT);
    set(this.svg, { viewBox: `0 0 ${this.width} ${this.height}`, height: this.height });
    const line = (style, d) => draw("path", { class: style, d });
    const to = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;
    const curve = Array.from({ length: 101 }, (_, k) => low + k / 100 * (high - low));
    let stairs = `M${to(across(low), up(0.5 / levels))}`;
    for (let h = 1; h < levels; h++) stairs += `H${across(this.at(h / levels)).toFixed(1)}V${up((h + 0.5) / levels).toFixed(1)}`;
    const edge = across(this.at(level));
    const riser = [level - 0.5 / levels, level + 0.5 / levels].map((value) => to(edge, up(value)));
    const parts = [
      draw("rect", { class: "beyond", x: edge, y: up(1), width: Math.max(0, across(high) - edge), height: up(0) - up(1) }),
      line("axis", `M${LEFT} ${up(1)}V${up(0)}H${this.width - RIGHT}`),
      line("rule", `M${edge} ${up(0)}V${up(1)}`), line("rule", `M${LEFT} ${up(level)}H${this.width - RIGHT}`),
      line("flight", `${stairs}H${across(high)}`),
      line("truth", `M${curve.map((score) => to(across(score), up(this.curve(score)))).join("L")}`),
      line("riser", `M${riser.join("L")}`),
      ...[false, true].map((side) => draw("path", {
        class: `estimate mark-${side ? 0 : 1}${faint ? " faint" : ""}`,
        d: scores.map((score, i) => (inside[i] === side ? mark(side, across(score), up(estimates[i])) : "")).join(""),
      })),
      ...[0, 0.5, 1].map((value) => draw("text", { x: LEFT - 6, y: up(value) + 4, "text-anchor": "end" }, String(value))),
      draw("text", { x: LEFT, y: 12 }, "estimated probability of a new matrix"),
      ...[-2, -1, 0, 1, 2].filter((score) => score > low && score < high).map((score) => draw(
        "text", { x: across(score), y: this.height - FOOT + 15, "text-anchor": "middle" }, String(score).replace("-", "\u2212"))),
      draw("text", { x: (LEFT + this.width - RIGHT) / 2, y: this.height - 5, "text-anchor": "middle" }, "its true score"),
    ];
    this.svg.replaceChildren(...parts);
  }
}
