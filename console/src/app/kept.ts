/** Preferences that a browser may keep: how things look, never who somebody is or what they may. */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(`penstock.${name}`);
  } catch {
    return null; // a browser may forbid it
  }
}

export function keep(name: string, value: string): void {
  try {
    // eslint-disable-next-line no-restricted-properties -- the only place
    localStorage.setItem(`penstock.${name}`, value);
  } catch {
    /* then it is forgotten */
  }
}
