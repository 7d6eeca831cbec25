// A figure that is clicked, or whose button is pressed, opens large in a box that scrolls: on a phone its letters
// are too small in the column. Esc, the button and a click beside the box close it.
const figures = [...document.querySelectorAll("main article img")].filter((image) => !image.closest("a, .math, .sd-card:not(details)"));
if (figures.length && window.HTMLDialogElement) {
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const large = make("img", { alt: "" });
  const scroll = make(
    "div", { className: "scroll", tabIndex: 0, role: "group", ariaLabel: "Figure", autofocus: true }, large,
  );
  const close = make("button", { type: "submit", textContent: "Close" });
  const box = make(
    "dialog", { className: "figure-large", ariaLabel: "Enlarged figure" },
    make("form", { method: "dialog" }, close), scroll,
  );
  document.body.append(box);
  // what lies inside covers the box, so that only a click beside it has the box itself for its target
  box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
  // Sphinx takes Esc to unmark the words of a search, and what closes a box would not happen
  addEventListener("keydown", (event) => { if (box.open && event.key === "Escape") event.stopPropagation(); }, true);

  for (const figure of figures) {
    const open = () => {
      // without the old figure's size the new one cannot be scrolled to a place that it does not have
      large.width = figure.naturalWidth;
      large.height = figure.naturalHeight;
      large.src = figure.currentSrc || figure.src;
      large.alt = figure.alt;
      box.showModal();
      scroll.scrollTo(0, 0);
    };
    const button = make("button", {
      type: "button", className: "enlarge", ariaLabel: "Enlarge the figure", ariaHasPopup: "dialog",
    });
    button.addEventListener("click", open);
    figure.addEventListener("click", open);
    const frame = make("span", { className: "figure-frame" });
    figure.replaceWith(frame);
    frame.append(figure, button);
  }
}
