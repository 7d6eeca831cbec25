// A slider in equal steps. value: the start; told: (value) => what the reader sees. The same interface as in controls.js.
import { labelled, rounded } from "./controls.js";
import { make } from "./svg.js";

export function even({ label, low, high, step, value, told = rounded }) {
  const input = make("input", { type: "range", min: 0, max: Math.round((high - low) / step), step: 1 });
  const output = make("output");
  const exact = (value) => Number(value.toPrecision(12)); // 0.9, not 0.9000000000000001
  const number = () => exact(low + step * Number(input.value));
  const tell = () => {
    output.textContent = told(number());
    input.setAttribute("aria-valuetext", told(number()));
  };
  const write = (next) => {
    input.value = Math.round((next - low) / step);
    tell();
  };
  input.addEventListener("input", tell);
  const element = labelled(label, input, output);
  output.setAttribute("for", input.id);
  write(value);
  return { element, reset: () => write(value), get value() { return number(); }, set value(next) { write(next); } };
}
