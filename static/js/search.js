// The search over everything: Ctrl-K opens its box, arrows choose a result, Enter opens the first or the chosen one.
(() => {
  const dialog = document.getElementById("search");
  if (!dialog) return;

  const findBox = (element) => element.closest(".finder, .finder-dialog");
  const listResults = (box) => [...box.querySelectorAll("[data-result]")];

  const isCurrent = (box) => box.dataset.shows === box.querySelector("[data-find]").value;
  let enterTimer = 0; // set by Enter while the results of the typed text have not come yet

  function openFirst(box) {
    clearTimeout(enterTimer);
    enterTimer = 0;
    if (isCurrent(box)) listResults(box)[0]?.click();
    else enterTimer = setTimeout(() => box.querySelector("form").submit(), 2000);
  }

  function open() {
    if (dialog.open) return;
    dialog.showModal();
    dialog.querySelector("[data-find]").select();
    if (dialog.dataset.shows === undefined) htmx.trigger(dialog.querySelector("form"), "opened"); // lists examples
  }

  function move(box, step) {
    const field = box.querySelector("[data-find]");
    const stops = [field, ...listResults(box)];
    const position = Math.max(stops.indexOf(document.activeElement), 0);
    const target = stops[(position + step + stops.length) % stops.length];
    target.focus();
    target.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      open();
      return;
    }
    const box = findBox(event.target);
    if (!box || event.ctrlKey || event.metaKey || event.altKey) return;
    const isInField = event.target.matches("[data-find]");
    const isResult = event.target.matches("[data-result]");
    if (!isInField && !isResult) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move(box, event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && isInField) {
      if (!event.target.value) return event.preventDefault(); // without a text, examples are listed
      if (isCurrent(box) && !listResults(box).length) return; // the form leads to the page, which says so
      event.preventDefault();
      openFirst(box);
    } else if (isResult && event.key.length === 1) {
      box.querySelector("[data-find]").focus(); // typing goes on in the field
    }
  });

  document.addEventListener("input", (event) => { if (event.target.matches("[data-find]")) { clearTimeout(enterTimer); enterTimer = 0; } });
  document.addEventListener("htmx:afterSwap", (event) => {
    const box = findBox(event.target);
    if (!box) return;
    box.querySelector("[role=status]").textContent = box.querySelector("[data-said]")?.textContent ?? ""; // for screen readers
    box.dataset.shows = new URL(event.detail.xhr.responseURL).searchParams.get("q") ?? "";
    if (enterTimer && isCurrent(box)) openFirst(box);
  });
  document.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // beside the box
    const opener = event.target.closest("[data-search-everything]");
    if (!opener || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
})();
