// Buttons that copy. [data-copy] copies the code beside it, or the element that it names. [data-copy-link] copies the
// address of this page with a fixed range. A form that shares the page [data-share] gets the address's present query.
(() => {
  function textFor(button) {
    if (button.dataset.copyLink !== undefined) return window.viewState.complete(button.dataset.copyLink);
    const source = button.dataset.copy ? document.getElementById(button.dataset.copy) : button.parentElement.querySelector("code");
    return source.dataset.text ?? source.textContent; // a page may show a text with its invisible characters as codes
  }

  // Screen readers announce "Copied" from here, because a button with an aria-label keeps its name.
  const status = Object.assign(document.createElement("p"), { className: "visually-hidden", role: "status" });
  addEventListener("DOMContentLoaded", () => document.body.append(status));

  async function copy(button) {
    const label = button.dataset.label ??= button.textContent;
    try {
      await navigator.clipboard.writeText(textFor(button));
      button.textContent = status.textContent = "Copied";
    } catch { // without HTTPS, only a page of localhost may use the clipboard
      window.prompt("Copy this:", textFor(button));
    }
    setTimeout(() => {
      button.textContent = label;
      status.textContent = "";
    }, 1500);
  }

  // Filters may have changed the address since the page was loaded. The link shares the page as it is shown now.
  document.addEventListener("submit", (event) => {
    if (event.target.matches("[data-share]")) event.target.elements.query.value = location.search.slice(1);
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy], [data-copy-link]");
    if (button) copy(button);
  });
})();
