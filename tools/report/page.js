(() => {
  "use strict";
  const filter = document.getElementById("filter");
  const state = document.getElementById("state");
  const count = document.getElementById("count");
  const unfold = document.getElementById("unfold");
  const kernels = [...document.querySelectorAll("details.kernel")];
  const rows = [...document.querySelectorAll("table.kernels tbody tr")];
  const families = [...document.querySelectorAll("section.family")];

  const narrow = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (each) =>
      words.every((word) => each.dataset.words.includes(word)) && (!state.value || each.dataset.state === state.value);
    for (const each of [...rows, ...kernels]) each.hidden = !fits(each);
    const isNarrow = words.length > 0 || state.value !== "";
    for (const each of families) {
      each.hidden = isNarrow && !each.querySelector("details.kernel:not([hidden])");
    }
    const shown = rows.filter((each) => !each.hidden).length;
    count.textContent = isNarrow ? `${shown} of ${rows.length}` : `${rows.length} kernels`;
  };
  filter.addEventListener("input", narrow);
  state.addEventListener("change", narrow);

  unfold.addEventListener("click", () => {
    const open = unfold.textContent === "Unfold all";
    for (const each of kernels) each.open = open;
    unfold.textContent = open ? "Fold all" : "Unfold all";
  });

  const valueOf = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.sort ?? cell.textContent;
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    heads.forEach((head, column) => {
      head.firstElementChild.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const each of heads) each.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const sorted = [...body.rows].sort((one, other) => {
          const [a, b] = [valueOf(one, column), valueOf(other, column)];
          const order = a !== "" && b !== "" && !isNaN(a) && !isNaN(b) ? a - b : a.localeCompare(b);
          return down ? -order : order;
        });
        body.append(...sorted);
      });
    });
  }

  const show = () => {
    const found = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (found && found.matches("details.kernel")) {
      if (found.hidden) {
        filter.value = "";
        state.value = "";
        narrow();
      }
      found.open = true;
      found.scrollIntoView();
    }
  };
  addEventListener("hashchange", show);

  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const each of folded) each.open = true;
  });
  addEventListener("afterprint", () => {
    for (const each of folded) each.open = false;
  });

  narrow();
  show();
})();
