// A piece of the plane: regions on a canvas, and above it lines, arrows, circles and points as SVG, all in the
// coordinates of the data. One unit is as long upwards as sideways.
import { contour } from "./contour.js";
import { Points } from "./points.js";
import { draw, make, set } from "./svg.js";

export class Plane {
  // x: [left, right]; y: [bottom, top]; label: what is seen; points: see points.js; changed: called when one moves
  constructor({ x, y, label, points, changed }) {
    Object.assign(this, { x, y, span: x[1] - x[0], layers: new Map() });
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.under = draw("g", { "aria-hidden": "true" });
    this.over = draw("g", { "aria-hidden": "true" });
    this.svg = draw("svg", { role: "group", "aria-label": label });
    this.element = make("div", { class: "explore-plane" }, this.canvas, this.svg);
    this.axes = ["axis-x", "axis-y"].map((name) => this.layer(name, "path", "axis"));
    this.points = new Points(this, points, changed);
    this.svg.append(this.under, this.points.group, this.over);
  }

  // to be called once the element has a width, and when that changes
  measure() {
    this.width = this.element.clientWidth;
    this.height = Math.round(this.width * (this.y[1] - this.y[0]) / this.span);
    set(this.svg, { viewBox: `0 0 ${this.width} ${this.height}`, height: this.height });
    const [left, top] = this.toPixels([0, 0]);
    set(this.axes[0], { d: `M0 ${top}H${this.width}` });
    set(this.axes[1], { d: `M${left} 0V${this.height}` });
    this.points.placeAll();
  }

  toPixels([a, b]) {
    return [(a - this.x[0]) / this.span * this.width, (this.y[1] - b) / (this.y[1] - this.y[0]) * this.height];
  }

  fromEvent(event) {
    const box = this.svg.getBoundingClientRect();
    return [
      this.x[0] + (event.clientX - box.left) / box.width * this.span,
      this.y[1] - (event.clientY - box.top) / box.height * (this.y[1] - this.y[0]),
    ];
  }

  keep([a, b]) {
    const inset = 0.015 * this.span;
    const within = (value, [low, high]) => Math.min(high - inset, Math.max(low + inset, value));
    return [within(a, this.x), within(b, this.y)];
  }

  // centres of cells of about so many pixels, with one more cell beyond each edge, so that curves reach it
  cells(size) {
    const centres = (count, from, to) => Float64Array.from(
      { length: count + 2 }, (_, i) => from + (i - 0.5) / count * (to - from));
    const [columns, rows] = [this.width, this.height].map((length) => Math.max(8, Math.round(length / size)));
    return { xs: centres(columns, ...this.x), ys: centres(rows, this.y[1], this.y[0]) };
  }

  // labels: the class of each cell, row after row from the top; colours: [[red, green, blue], ...]
  regions({ xs, ys }, labels, colours) {
    const { canvas } = this;
    if (canvas.width !== xs.length || canvas.height !== ys.length) {
      Object.assign(canvas, { width: xs.length, height: ys.length });
      const [wide, high] = [xs.length - 2, ys.length - 2]; // cells in sight
      const share = (part, whole) => `${100 * part / whole}%`;
      Object.assign(canvas.style, {
        left: share(-1, wide), top: share(-1, high), width: share(wide + 2, wide), height: share(high + 2, high),
      });
    }
    const image = new ImageData(xs.length, ys.length);
    const { data } = image;
    for (let i = 0; i < labels.length; i++) {
      const colour = colours[labels[i]];
      for (let part = 0; part < 3; part++) data[4 * i + part] = colour[part];
      data[4 * i + 3] = 255;
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  layer(name, tag, style, over = false) {
    if (!this.layers.has(name)) {
      const element = draw(tag, { class: style });
      (over ? this.over : this.under).append(element);
      this.layers.set(name, element);
    }
    return this.layers.get(name);
  }

  // the line a x + b y + c = 0
  line(name, [a, b, c], style) {
    const flat = Math.abs(b) > Math.abs(a);
    const ends = flat ? this.x.map((x) => [x, -(a * x + c) / b]) : this.y.map((y) => [-(b * y + c) / a, y]);
    const drawn = ends.flat().every(Number.isFinite);
    set(this.layer(name, "path", style), { d: drawn ? `M${ends.map((end) => this.toPixels(end).join(" ")).join("L")}` : "" });
  }

  // where values on the cells change their sign
  zeros(name, { xs, ys }, values, style) {
    const written = (at) => this.toPixels(at).map((one) => one.toFixed(1)).join(" ");
    const curves = contour(xs, ys, values).map((curve) => curve.map(written).join("L"));
    set(this.layer(name, "path", style), { d: curves.length ? `M${curves.join("M")}` : "" });
  }

  segment(name, from, to, style) {
    set(this.layer(name, "path", style), { d: `M${this.toPixels(from).join(" ")}L${this.toPixels(to).join(" ")}` });
  }

  // an arrow from the origin; nothing where it is shorter than its head
  arrow(name, to, style) {
    const [[x, y], [a, b]] = [this.toPixels([0, 0]), this.toPixels(to)];
    const length = Math.hypot(a - x, b - y);
    const element = this.layer(name, "path", style, true);
    if (!(length > 4)) { set(element, { d: "" }); return; }
    const [u, v] = [(a - x) / length, (b - y) / length];
    const head = Math.min(11, length);
    const [p, q] = [a - head * u, b - head * v];
    set(element, { d: `M${x} ${y}L${p} ${q}M${a} ${b}L${p - 5 * v} ${q + 5 * u}L${p + 5 * v} ${q - 5 * u}Z` });
  }

  circle(name, at, radius, style) {
    const [cx, cy] = this.toPixels(at);
    const element = this.layer(name, "circle", style, true);
    set(element, { cx, cy, r: Math.max(0, radius), class: style });
  }

  star(name, at, style) {
    const [x, y] = this.toPixels(at);
    const corners = Array.from({ length: 10 }, (_, k) => {
      const [radius, turn] = [k % 2 ? 4 : 9, k * Math.PI / 5];
      return `${x + radius * Math.sin(turn)} ${y - radius * Math.cos(turn)}`;
    });
    set(this.layer(name, "path", style), { d: `M${corners.join("L")}Z` }); // below the points: one may stand there
  }

  clear(start) {
    for (const [name, element] of this.layers) {
      if (name.startsWith(start)) { element.remove(); this.layers.delete(name); }
    }
  }
}
