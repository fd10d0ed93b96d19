// Prepares the element that textual.js turns into a terminal, and adds keys for touch screens.
"use strict";
let socket = null;
window.WebSocket = class extends WebSocket {
  constructor(...parameters) {
    super(...parameters);
    socket = this;
  }
};
document.addEventListener("DOMContentLoaded", () => {
  const terminal = document.getElementById("terminal");
  const folder = location.pathname.replace(/[^/]*$/, "");
  terminal.dataset.sessionWebsocketUrl = `ws://${location.host}${folder}socket`;
  terminal.dataset.fontSize = window.innerWidth < 600 ? "12" : "15";
  for (const button of document.querySelectorAll("[data-keys]")) {
    button.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // keeps the focus, and the keyboard of a phone, where it is
      if (socket) socket.send(JSON.stringify(["stdin", button.dataset.keys]));
    });
  }
  document.getElementById("reload").addEventListener("click", () => location.reload());
});
