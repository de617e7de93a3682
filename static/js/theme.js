// Light, dark or the system's choice. Runs before the first paint, so that nothing flashes.
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");

  const kept = () => {
    try { return localStorage.getItem("theme") || "system"; } catch { return "system"; } // storage may be forbidden
  };
  const keep = (choice) => {
    try { localStorage.setItem("theme", choice); } catch { /* then it lasts for this page */ }
  };

  function apply(choice) {
    if (choice === "system") delete root.dataset.theme;
    else root.dataset.theme = choice;
    for (const button of document.querySelectorAll("[data-theme-choice]")) {
      button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice));
    }
    document.dispatchEvent(new Event("colours"));
  }

  apply(kept());
  document.addEventListener("DOMContentLoaded", () => apply(kept()));
  addEventListener("storage", (event) => event.key === "theme" && apply(kept()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("colours")));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-theme-choice]");
    if (!button) return;
    keep(button.dataset.themeChoice);
    apply(button.dataset.themeChoice);
  });
})();
