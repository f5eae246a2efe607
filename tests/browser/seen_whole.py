"""Whether something that people are to judge is seen whole."""

WHOLE = """(each) => {
  each.scrollIntoView({ block: "center" });
  const own = each.getBoundingClientRect();
  const boxes = [new DOMRect(0, 0, innerWidth, innerHeight)];
  for (let up = each.parentElement; up; up = up.parentElement)
    if (getComputedStyle(up).overflow !== "visible") boxes.push(up.getBoundingClientRect());
  const isIn = (box) =>
    own.left >= box.left - 1 && own.top >= box.top - 1 && own.right <= box.right + 1 && own.bottom <= box.bottom + 1;
  return getComputedStyle(each).objectFit === "contain" && boxes.every(isIn);
}"""
"Asked of a picture or a film: nothing of it is beyond the window, or cut off by what it stands in."
