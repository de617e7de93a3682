"use strict"

// Ask the browser for a passkey when a form with data-passkey is sent, and send what it answers.
const FAULTS = {
  SecurityError: "Passkeys need HTTPS and a host name, or localhost.",
  InvalidStateError: "This device has a passkey of your account already.",
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const fault = form.querySelector("[data-passkey-fault]")
  const noAnswer = fault.textContent
  form.addEventListener("submit", async (event) => {
    event.preventDefault()
    const options = JSON.parse(document.getElementById("passkey-options").textContent)
    fault.hidden = true
    try {
      const { webauthnJSON } = window
      const credential = form.dataset.passkey === "create"
        ? await webauthnJSON.create(options.creation_options)
        : await webauthnJSON.get(options.request_options)
      form.elements.credential.value = JSON.stringify(credential)
      form.submit()
    } catch (error) {
      const name = window.isSecureContext ? error.name : "SecurityError"
      fault.textContent = FAULTS[name] ?? noAnswer
      fault.hidden = false
    }
  })
}
