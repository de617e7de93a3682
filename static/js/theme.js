// Light, dark or the system's choice. Runs before the first paint, so that nothing flashes.
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");

  const readChoice = () => {
    try { return localStorage.getItem("theme") || "system"; } catch { return "system"; } // storage may be forbidden
  };
  const storeChoice = (choice) => {
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

  apply(readChoice());
  document.addEventListener("DOMContentLoaded", () => apply(readChoice()));
  addEventListener("storage", (event) => event.key === "theme" && apply(readChoice()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("colours")));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-theme-choice]");
    if (!button) return;
    storeChoice(button.dataset.themeChoice);
    apply(button.dataset.themeChoice);
  });
})();
