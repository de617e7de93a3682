// Forms that change something are sent once, with the CSRF value of the cookie, and lead back to where the page was.
(() => {
  // A form that changes something, and a link to the step before it ([data-in-place]), lead back to their page. The page
  // is scrolled to where it was, or to the result if it shows one, such as a key that it shows only once.
  document.addEventListener("click", (event) => {
    if (event.target.closest("a[data-in-place]")) rememberScroll();
  }, true);

  // A form that is sent again within five seconds is ignored: a double click would create two keys, and show only one.
  // Somebody may have signed in again since, in another tab: then the cookie has the CSRF value that the hub expects.
  const sentAt = new WeakMap();
  function rememberScroll() {
    try { sessionStorage.setItem("sent", JSON.stringify({ path: location.pathname, top: scrollY, at: Date.now() })); } catch { /* storage may be forbidden */ }
  }
  document.addEventListener("submit", (event) => {
    const form = event.target;
    // Not form.method: that is the field of this name, if there is one.
    if ((event.submitter?.formMethod || form.getAttribute("method")) !== "post" || event.defaultPrevented) return;
    if (event.timeStamp - (sentAt.get(form) ?? -Infinity) < 5_000) return event.preventDefault();
    sentAt.set(form, event.timeStamp);
    const csrfValue = /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1];
    const csrfField = event.submitter?.name === "csrfmiddlewaretoken" ? event.submitter : form.elements.csrfmiddlewaretoken;
    if (csrfValue && csrfField) csrfField.value = csrfValue;
    rememberScroll();
  });
  addEventListener("pageshow", () => document.querySelectorAll("form").forEach((form) => sentAt.delete(form))); // shown again by Back
  addEventListener("load", () => {
    try {
      const sent = JSON.parse(sessionStorage.getItem("sent") ?? "{}");
      sessionStorage.removeItem("sent");
      if (sent.path !== location.pathname || Date.now() - sent.at > 10_000) return;
      scrollTo({ top: sent.top, behavior: "instant" });
      const news = [...document.querySelectorAll("main :is(.notice, .warn, .fault)[role]")].find((element) => element.checkVisibility() && element.textContent.trim());
      if (news) window.viewState.show(news.closest(".card") ?? news);
    } catch { /* storage may be forbidden */ }
  });
})();
