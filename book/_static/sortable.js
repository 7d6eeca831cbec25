// Tables of the class "sortable" sort by a click, or Enter, on a heading: up, down, and as they came.
const NONE = new Set(["", "-", "–", "—"]);
const number = (text) => {
  const digits = text.replace(/[\s,]/g, "").replace("−", "-");
  return /^[<>≤≥~]?[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?(%|\D.*)?$/i.test(digits) ? parseFloat(digits.replace(/^[<>≤≥~]/, "")) : NaN;
};

for (const table of document.querySelectorAll("table.sortable")) {
  const head = table.tHead?.rows[0];
  const body = table.tBodies[0];
  if (!head || !body || body.rows.length < 2) continue;
  const before = [...body.rows];
  const cells = [...head.cells];

  const sort = (place) => {
    const now = cells[place].getAttribute("aria-sort");
    for (const cell of cells) cell.removeAttribute("aria-sort");
    if (now === "descending") {
      body.append(...before);
    } else {
      const sign = now === "ascending" ? -1 : 1;
      cells[place].setAttribute("aria-sort", now === "ascending" ? "descending" : "ascending");
      const keys = before.map((row) => row.cells[place]?.textContent.trim() ?? "");
      const told = keys.filter((key) => !NONE.has(key));
      const numeric = told.length > 0 && told.every((key) => !Number.isNaN(number(key)));
      const order = before.map((_, index) => index).sort((a, b) => {
        const [x, y] = [keys[a], keys[b]];
        if (NONE.has(x) || NONE.has(y)) return NONE.has(x) - NONE.has(y) || a - b; // what is missing comes last
        const least = numeric ? number(x) - number(y) : x.localeCompare(y, "en", { numeric: true });
        return sign * least || a - b;
      });
      body.append(...order.map((index) => before[index]));
    }
    // the stripes belong to the places, not to the rows
    [...body.rows].forEach((row, index) => {
      row.classList.toggle("row-odd", index % 2 === 1);
      row.classList.toggle("row-even", index % 2 === 0);
    });
  };

  cells.forEach((cell, place) => {
    const button = document.createElement("span");
    button.className = "sort-by";
    button.setAttribute("role", "button");
    button.tabIndex = 0;
    button.append(...cell.childNodes);
    cell.replaceChildren(button);
    cell.addEventListener("click", () => sort(place));
    button.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sort(place);
    });
  });
}
