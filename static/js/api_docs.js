// Draws the hub's own OpenAPI; everything comes from this server.
const place = document.getElementById("api-docs");
window.SwaggerUIBundle({
  url: place.dataset.url,
  domNode: place,
  deepLinking: true,
  validatorUrl: null,
});
