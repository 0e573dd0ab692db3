// Before the first paint: the reader's choice of light or dark, else the system's.
(() => {
  let choice = null;
  try {
    choice = localStorage.getItem("opwright-theme");
  } catch {
    // A browser may keep nothing for files; the system's choice it is.
  }
  const dark = choice ? choice === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
