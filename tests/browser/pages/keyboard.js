// What can be clicked on a page, and cannot be reached or told apart by somebody who presses Tab.
() => {
  const CLICKABLE =
    "a[href], button, summary, input, select, textarea, video[controls], audio[controls], [tabindex='0'], " +
    "[role=button], [role=tab], [role=option], [role=link], [role=menuitem], [role=switch], [role=slider]";
  const root = document.querySelector("dialog:modal") ?? document.body;
  const before = document.activeElement;

  const isSeen = (element) => {
    const { width, height } = element.getBoundingClientRect();
    const shown = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    const clipped = getComputedStyle(element).clipPath === "inset(50%)"; // for readers of the screen alone
    return shown && !clipped && width > 1 && height > 1 && !element.matches(":disabled") && !element.closest("[inert]");
  };
  const points = (element) => getComputedStyle(element).cursor === "pointer";
  const pointsItself = (element) => points(element) && !(element.parentElement && points(element.parentElement));
  // Arrows lead to these, from one that Tab leads to.
  const byArrows = (element) =>
    (element.matches("[role=tab]") && element.closest("[role=tablist]")?.querySelector("[tabindex='0']")) ||
    (element.matches("[role=option]") && root.querySelector(`[aria-controls='${element.closest("[role=listbox]")?.id}']`)) ||
    (element.matches("[type=radio]") && element.name);
  // A click on these does what a control within or around them does.
  const stands = (element) =>
    element.parentElement?.closest("a[href], button, summary, label, [tabindex='0']") ||
    element.closest("label")?.control;

  const looks = (element) => {
    const told = [];
    for (let each = element, n = 0; each && n < 3; each = each.parentElement, n++) {
      const s = getComputedStyle(each);
      told.push(s.outlineStyle === "none" ? "" : s.outlineWidth + s.outlineColor, s.boxShadow, s.borderColor, s.background);
    }
    return told.join("|");
  };
  const name = (element) => {
    const said = element.getAttribute("aria-label") ?? element.textContent.trim().slice(0, 40);
    return `${element.tagName.toLowerCase()}${element.className?.baseVal === undefined && element.className ? "." + element.className.split(" ").join(".") : ""} "${said}"`;
  };

  const every = [...root.querySelectorAll("*")].filter((e) => (e.matches(CLICKABLE) || pointsItself(e)) && isSeen(e));
  const found = [];
  for (const element of every) {
    if (element.tabIndex < 0 || !element.matches(`${CLICKABLE}, [tabindex]`)) {
      if (!byArrows(element) && !stands(element)) found.push(`keyboard: Tab does not lead to ${name(element)}`);
      continue;
    }
    before?.blur?.();
    document.activeElement?.blur?.();
    const plain = looks(element);
    element.focus({ preventScroll: true });
    if (document.activeElement !== element) found.push(`keyboard: ${name(element)} takes no focus`);
    else if (looks(element) === plain) found.push(`keyboard: ${name(element)} does not show that it has the focus`);
  }
  if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  return found;
};
