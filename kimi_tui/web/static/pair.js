// Exchanges the token in the fragment, which browsers don't send, for a cookie that scripts can't read.
"use strict";
const token = location.hash.slice(1);
if (token) {
  history.replaceState(null, "", location.pathname);
  fetch("pair", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
  }).then((response) => {
    if (response.ok) location.reload();
  });
}
