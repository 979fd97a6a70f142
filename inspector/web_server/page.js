// Connects the terminal of textual.js, which starts when the page is loaded, with the server of this page.
document.addEventListener("DOMContentLoaded", () => {
  const terminal = document.getElementById("terminal");
  const token = new URLSearchParams(location.search).get("token");
  // The address has no cookie and no header: the path carries the token.
  terminal.dataset.sessionWebsocketUrl =
    location.origin.replace(/^http/, "ws") + "/ws/" + encodeURIComponent(token);
  // The right mouse button opens the menu of the app; with shift, browsers show their own.
  terminal.addEventListener("contextmenu", (event) => event.shiftKey || event.preventDefault());
  document.querySelector("#ended button").addEventListener("click", () => location.reload());
  if (!document.createElement("canvas").getContext("webgl2")) {
    document.getElementById("starting").hidden = true;
    document.getElementById("unsupported").hidden = false;
    terminal.classList.remove("textual-terminal"); // textual.js would fail without a message
  }

  // Keys are for the terminal, also without a click, as soon as textual.js has opened the web socket.
  const focus = () => {
    if (terminal.classList.contains("-connected")) {
      terminal.querySelector(".xterm-helper-textarea").focus();
    }
  };
  new MutationObserver(focus).observe(terminal, { attributeFilter: ["class"] });
  window.addEventListener("focus", focus);
});
