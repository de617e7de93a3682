"use strict"

// Ask the browser for a passkey when a form with data-passkey is sent, and send what it answers.
for (const form of document.querySelectorAll("form[data-passkey]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault()
    const options = JSON.parse(document.getElementById("passkey-options").textContent)
    const fault = form.querySelector("[data-passkey-fault]")
    fault.hidden = true
    try {
      const { webauthnJSON } = window
      const credential = form.dataset.passkey === "create"
        ? await webauthnJSON.create(options.creation_options)
        : await webauthnJSON.get(options.request_options)
      form.elements.credential.value = JSON.stringify(credential)
      form.submit()
    } catch (error) {
      fault.hidden = false
    }
  })
}
