// Draws the hub's own OpenAPI in the colours of the page; everything comes from this server.
(() => {
  const place = document.getElementById("api-docs");
  const root = document.documentElement;

  function follow() {
    const chosen = root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    root.classList.toggle("dark-mode", chosen === "dark");
  }

  follow();
  document.addEventListener("colours", follow);
  window.SwaggerUIBundle({
    url: place.dataset.url,
    domNode: place,
    deepLinking: true,
    validatorUrl: null,
    defaultModelsExpandDepth: 0,
  });
})();
