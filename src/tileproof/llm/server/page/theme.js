// Runs before the first paint, so that a theme the user has chosen does not appear after the other one.
try {
  const theme = JSON.parse(localStorage.getItem("tileproof.theme"));
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the page follows the system.
}
