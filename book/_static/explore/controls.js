// Sliders, choices and switches. Each maker returns { element, value, reset, show }, where value is a property to read and set.
import { make } from "./svg.js";

let made = 0;

export function labelled(label, input, ...more) {
  input.id = `explore-control-${made++}`;
  return make("div", { class: "explore-control" }, make("label", { for: input.id }, label), ...more, input);
}

export const rounded = (value) => {
  if (value === 0) return "0";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3;
  const text = Math.abs(value) < 0.01 ? value.toPrecision(2) : value.toFixed(digits);
  return (text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text).replace("-", "\u2212");
};

// On a scale of powers of ten from `low` to `high`; with `zero` the left end is 0.
export function slider({ label, low, high, value, zero = false, steps = 200 }) {
  const input = make("input", { type: "range", min: 0, max: steps, step: 1 });
  const output = make("output");
  const first = zero ? 1 : 0;
  const number = () => {
    const place = Number(input.value);
    return zero && place === 0 ? 0 : low * (high / low) ** ((place - first) / (steps - first));
  };
  let exact = value; // a start need not lie on a step
  const write = (next) => {
    exact = next;
    input.value = next <= 0 ? 0 : Math.round(first + (steps - first) * Math.log(next / low) / Math.log(high / low));
    tell();
  };
  const tell = () => {
    output.textContent = rounded(exact);
    input.setAttribute("aria-valuetext", rounded(exact));
  };
  input.addEventListener("input", () => { exact = number(); tell(); });
  const element = labelled(label, input, output);
  output.setAttribute("for", input.id);
  write(value);
  return { element, reset: () => write(value), get value() { return exact; }, set value(next) { write(next); } };
}

// choices: { value: "what the reader sees" }; the first is the start
export function choice({ label, choices }) {
  const options = Object.entries(choices).map(([value, text]) => make("option", { value }, text));
  const input = make("select", {}, ...options);
  const start = options[0].value;
  return {
    element: labelled(label, input), reset() { input.value = start; },
    get value() { return input.value; }, set value(next) { input.value = next; },
  };
}

export function tick({ label, value = false }) {
  const input = make("input", { type: "checkbox" });
  input.checked = value;
  return {
    element: labelled(label, input), reset() { input.checked = value; },
    get value() { return input.checked; }, set value(next) { input.checked = next; },
  };
}
