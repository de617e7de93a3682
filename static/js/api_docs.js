// Draws the hub's own OpenAPI in the colours of the page; everything comes from this server.
(() => {
  const container = document.getElementById("api-docs");
  const root = document.documentElement;

  function followTheme() {
    const theme = root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    root.classList.toggle("dark-mode", theme === "dark");
  }

  followTheme();
  document.addEventListener("colours", followTheme);
  window.SwaggerUIBundle({
    url: container.dataset.url,
    domNode: container,
    deepLinking: true,
    validatorUrl: null,
    defaultModelsExpandDepth: 0,
  });
})();
