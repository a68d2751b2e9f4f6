/* Single keys for the pages of reviews. Without this file every key is a link, a button
   or a box on the page. What has aria-keyshortcuts="a" is pressed by the key a. */
"use strict";

(() => {
  const STORED = "prism_memory.keys";
  const dialog = document.getElementById("pm-keys");
  const opener = document.getElementById("pm-keys-open");
  const wish = document.getElementById("pm-keys-on");

  // Whoever uses speech or a switch may turn single keys off (WCAG 2.1.4).
  function isOn() {
    try {
      return window.localStorage.getItem(STORED) !== "off";
    } catch {
      return true; // a browser that stores nothing
    }
  }

  function turn(on) {
    try {
      window.localStorage.setItem(STORED, on ? "on" : "off");
    } catch {
      // It holds for this page alone then.
    }
  }

  function isTyping(target) {
    if (target.isContentEditable || target.closest("textarea, select")) return true;
    const input = target.closest("input");
    return input !== null && !["checkbox", "submit", "button"].includes(input.type);
  }

  const rows = () => [...document.querySelectorAll("#result_list tbody tr")];
  const current = () => rows().findIndex(row => row.contains(document.activeElement));

  function move(step) {
    const all = rows();
    const at = current();
    const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step;
    const link = all[next] && all[next].querySelector("th a");
    if (!link) return;
    link.focus();
    link.scrollIntoView({ block: "nearest" });
  }

  function inRow(selector) {
    const row = rows()[current()];
    const found = row && row.querySelector(selector);
    if (found) found.click();
  }

  const inList = {
    j: () => move(1),
    k: () => move(-1),
    o: () => inRow("th a"),
    x: () => inRow("input[type=checkbox]"),
  };

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.defaultPrevented || isTyping(event.target)) return;
    if (dialog && dialog.open) return;
    // The list of keys says how to turn them on again.
    if (event.key !== "?" && !(wish ? wish.checked : isOn())) return;
    const name = CSS.escape(event.key);
    const target = document.querySelector(`[aria-keyshortcuts="${name}"]`);
    if (target && event.repeat) return; // one press, one page
    const act = target ? () => target.click() : rows().length && inList[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  if (dialog && opener && wish) {
    wish.checked = isOn();
    wish.addEventListener("change", () => turn(wish.checked));
    opener.hidden = false;
    opener.addEventListener("click", () => dialog.showModal());
  }
  document.addEventListener("keydown", press);
})();
