// The legend of lines, each with a bar for a share.
import { draw, make, set } from "./svg.js";

const [ROW, FIRST, HEAD, SAMPLE, NUMBER] = [44, 26, 24, 34, 46]; // pixels: of a row, the first, the title; a piece of line; a number

export class Shares {
  // first: { name, style } of the line that the others are compared with; rows: those; title: what the bars show
  constructor({ first, rows, title, label }) {
    Object.assign(this, { first, rows, title });
    this.svg = draw("svg", { class: "shares", role: "img", "aria-label": label });
    this.element = make("div", {}, this.svg);
  }

  measure() { this.width = this.element.clientWidth; }

  // shares: for each row a number from 0 to 1; the longest bar has room for `most`
  show(shares, most) {
    const height = FIRST + HEAD + this.rows.length * ROW;
    const room = this.width - NUMBER;
    set(this.svg, { viewBox: `0 0 ${this.width} ${height}`, height });
    const key = ({ name, style }, top) => [
      draw("path", { class: style, d: `M0 ${top + 10}H${SAMPLE}` }), draw("text", { x: SAMPLE + 8, y: top + 14 }, name),
    ];
    const bars = this.rows.flatMap((row, place) => {
      const [top, share] = [FIRST + HEAD + place * ROW, shares[place]];
      return [
        ...key(row, top), draw("rect", { class: "bar", x: 0, y: top + 22, width: Math.max(1, share / most * room), height: 9 }),
        draw("text", { x: this.width, y: top + 31, "text-anchor": "end" }, told(share)),
      ];
    });
    this.svg.replaceChildren(...key(this.first, 0), draw("text", { x: 0, y: FIRST + 14 }, this.title), ...bars);
  }
}

// 0 is exact: a share that is rounded to it says so
export const told = (share) => (share === 0 ? "0\u00a0%" : share < 0.001 ? "< 0.1\u00a0%" : `${(100 * share).toFixed(1)}\u00a0%`);
