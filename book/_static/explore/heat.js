// Matrices as images: the colour of a cell tells the sign of an entry, its strength the size; the sign is also written.
import { draw, make, set } from "./svg.js";

const [HEAD, GAP, LARGEST] = [20, 14, 28]; // pixels: a title, between images, the largest cell

export class Heat {
  // names: of the images; shape: [rows, columns]; most: the entry that has the full colour
  constructor({ names, shape, most, label }) {
    Object.assign(this, { names, shape, most });
    this.svg = draw("svg", { role: "img", "aria-label": label });
    this.element = make("div", { class: "heat" }, this.svg);
  }

  measure() { this.width = this.element.clientWidth; }

  // matrices: one for each name, row after row
  show(matrices, names = this.names) {
    const [rows, columns] = this.shape;
    const beside = this.width > 260; // on a phone; in the column of a page they are below each other
    const across = beside ? (this.width - (matrices.length - 1) * GAP) / matrices.length : this.width;
    const cell = Math.min(LARGEST, across / columns);
    const high = HEAD + rows * cell;
    const total = beside ? high : matrices.length * high + (matrices.length - 1) * GAP;
    set(this.svg, { viewBox: `0 0 ${this.width} ${total}`, height: total });
    const parts = matrices.flatMap((matrix, place) => {
      const [x, y] = beside ? [place * (across + GAP), 0] : [0, place * (high + GAP)];
      const title = draw("text", { x, y: y + 12 }, names[place]);
      const cells = Array.from(matrix, (value, at) => {
        const [left, top] = [x + (at % columns) * cell, y + HEAD + Math.floor(at / columns) * cell];
        const strength = Math.min(1, Math.abs(value) / this.most);
        const parts = [draw("rect", {
          class: value < 0 ? "cell mark-1" : "cell mark-0", x: left, y: top, width: cell, height: cell,
          "fill-opacity": strength.toFixed(3),
        })];
        if (strength > 0.15) {
          const sign = { x: left + cell / 2, y: top + cell / 2 + 4, "text-anchor": "middle", class: strength > 0.6 ? "on" : null };
          parts.push(draw("text", sign, value < 0 ? "\u2212" : "+"));
        }
        return draw("g", {}, ...parts);
      });
      const frame = draw("rect", { class: "frame", x, y: y + HEAD, width: columns * cell, height: rows * cell });
      return [title, ...cells, frame];
    });
    this.svg.replaceChildren(...parts);
  }
}
