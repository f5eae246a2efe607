/**
 * Show a dialog above all else, until the returned function is called. Whoever had the focus has it again then: a browser
 * sees to that only for a dialog which still stands in the document when it is closed.
 */
export function modal(element: HTMLDialogElement): () => void {
  const before = document.activeElement;
  element.showModal();
  return () => {
    element.close();
    const lost = !document.activeElement || document.activeElement === document.body;
    if (lost && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
  };
}
