// Makers of elements: attributes first, then children. An attribute that is there already is not written again: the browser
// would compute style and picture of the element anew.
const append = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && element.getAttribute(name) !== `${value}`) element.setAttribute(name, value);
  }
  if (children.length) element.append(...children);
  return element;
};
export const make = (tag, attributes = {}, ...children) => append(document.createElement(tag), attributes, children);
export const draw = (tag, attributes = {}, ...children) => append(
  document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
export const set = (element, attributes) => append(element, attributes, []);

// The outline of a mark around (0, 0): circle, square, triangle, as in the figures; the probe is a larger circle.
export function shape(mark, size = 5) {
  if (mark === 1) return draw("rect", { class: "shape", x: -size, y: -size, width: 2 * size, height: 2 * size });
  if (mark === 2) return draw("path", { class: "shape", d: `M0 ${-1.3 * size}L${1.2 * size} ${size}H${-1.2 * size}Z` });
  return draw("circle", { class: "shape", r: mark === "probe" ? 1.5 * size : 1.1 * size });
}
