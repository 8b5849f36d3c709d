// Moving along the rows of the view by key. A row is a button with data-row; the
// focus is the selection.

const rows = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('main [data-row]')]

/** move puts the focus on the next row, or the one before. */
export function move(by: 1 | -1): void {
  const all = rows()
  if (all.length === 0) return
  const here = document.activeElement?.closest('li')?.querySelector<HTMLElement>('[data-row]') ?? (document.activeElement as HTMLElement | null)
  const i = here ? all.indexOf(here) : -1
  const next = all[i < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, i + by))]
  next?.focus({ preventScroll: true })
  next?.scrollIntoView({ block: 'nearest' })
}

/** activate opens the first row when none has the focus; one that has it opens by itself. */
export function activate(): void {
  rows()[0]?.click()
}
