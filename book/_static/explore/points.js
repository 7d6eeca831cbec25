// Points that move: by mouse, finger or pen; by arrow keys once one has the focus. All of them are one stop of the
// Tab key; N and P, or Page Down and Page Up, go to the next point and to the one before.
import { draw, set, shape } from "./svg.js";

const REACH = 13; // pixels around a point that take hold of it
const STEP = 1 / 60; // of the width of the plane, five times as much with Shift
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const TURNS = { n: 1, pagedown: 1, p: -1, pageup: -1 };

export class Points {
  // plane: toPixels, toData, keep (into the plane), span; start: [{ at: [x, y], mark, name }]
  constructor(plane, start, changed) {
    this.plane = plane;
    this.list = start.map(({ at, mark, name }, place) => ({ at: [...at], start: [...at], mark, name, place }));
    this.group = draw("g");
    for (const point of this.list) {
      point.element = draw("g", {
        class: `point mark-${point.mark}`, tabindex: point.place ? -1 : 0,
        role: "button", "aria-roledescription": "movable point",
      }, draw("circle", { class: "reach", r: REACH }), shape(point.mark));
      this.listen(point, changed);
      this.group.append(point.element);
    }
  }

  listen(point, changed) {
    const { element } = point;
    const to = (at) => { point.at = this.plane.keep(at); this.place(point); changed(point); };
    let hold = null; // from the pointer to the centre, so that a point does not jump
    // Chromium ignores touch-action on parts of an SVG: without this it takes the finger away to scroll the page
    element.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const at = this.plane.fromEvent(event);
      hold = [point.at[0] - at[0], point.at[1] - at[1]];
      element.setPointerCapture(event.pointerId);
      this.choose(point);
      event.preventDefault(); // no selection of text
      element.focus({ preventScroll: true, focusVisible: false });
    });
    element.addEventListener("pointermove", (event) => {
      if (!hold) return;
      const at = this.plane.fromEvent(event);
      to([at[0] + hold[0], at[1] + hold[1]]);
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      element.addEventListener(end, () => { hold = null; });
    }
    element.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const [arrow, turn] = [ARROWS[event.key], TURNS[event.key.toLowerCase()]];
      if (arrow) {
        const step = STEP * this.plane.span * (event.shiftKey ? 5 : 1);
        to([point.at[0] + arrow[0] * step, point.at[1] + arrow[1] * step]);
      } else if (turn) {
        const next = this.list[(point.place + turn + this.list.length) % this.list.length];
        this.choose(next);
        next.element.focus({ preventScroll: true });
      } else return;
      event.preventDefault();
      event.stopPropagation(); // arrow keys turn pages of some themes
    });
  }

  choose(point) {
    for (const other of this.list) other.element.setAttribute("tabindex", other === point ? 0 : -1);
  }

  place(point) {
    const [x, y] = this.plane.toPixels(point.at);
    const told = point.at.map((value) => value.toFixed(2).replace("-", "\u2212")).join(", ");
    set(point.element, { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, "aria-label": `${point.name} at ${told}` });
  }

  placeAll() { for (const point of this.list) this.place(point); }

  reset() {
    for (const point of this.list) point.at = [...point.start];
    this.choose(this.list[0]);
    this.placeAll();
  }
}
