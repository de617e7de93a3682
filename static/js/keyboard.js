// The keyboard: what each key does stands in the dialog that `?` opens. All of it only follows links that are there.
(() => {
  const ROWS = "main tbody tr, main .tree .row:not(.titles)";
  const REACHABLE = "a[href], button, summary";
  let afterG = 0;

  const typing = (element) => element.closest("input, select, textarea, [contenteditable]");
  const dialog = () => document.getElementById("keyboard-help");
  const follow = (selector) => document.querySelector(selector)?.click();

  function focusSearch() {
    const field = document.querySelector("main input[type=search], main [data-search]");
    field?.focus();
    field?.select?.();
    return Boolean(field);
  }

  function step(by) {
    const rows = [...document.querySelectorAll(ROWS)].filter((row) => row.offsetParent);
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    const row = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by];
    if (!row) return;
    const target = row.matches("summary") ? row : row.querySelector(REACHABLE) ?? row;
    if (target === row && !row.matches("summary")) row.tabIndex = -1;
    target.focus();
    row.scrollIntoView({ block: "nearest" });
  }

  // Inside what scrolls sideways or moves by itself, the arrows belong to it.
  function period(which) {
    const element = document.activeElement;
    const own = element.closest("pre, [role=tablist], [role=region], dialog") || element.scrollWidth > element.clientWidth + 1;
    if (!own || element === document.body) follow(`[data-period=${which}]`);
  }

  const ACTIONS = {
    "/": (event) => focusSearch() && event.preventDefault(),
    "?": () => dialog()?.showModal(),
    g: () => { afterG = Date.now(); },
    j: () => step(1),
    k: () => step(-1),
    ArrowLeft: () => period("earlier"),
    ArrowRight: () => period("later"),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (typing(event.target) || dialog()?.open) return;
    if (Date.now() - afterG < 1500 && event.key !== "g") {
      afterG = 0;
      if (/^[a-z]$/.test(event.key)) follow(`[data-go=${event.key}]`);
      return;
    }
    ACTIONS[event.key]?.(event);
  });

  document.addEventListener("click", (event) => event.target.closest("[data-keys]") && dialog()?.showModal());
})();
