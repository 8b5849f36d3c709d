// A press that travels more than four pixels moves the window; any other is a
// click. The window system takes the drag over, so no release may follow.

export interface PointerDeeds {
  drag(): void
  click?(): void
}

const threshold = 4 // px on the screen

/** pointer tells drags from clicks on an element; Enter and Space stay the button's. */
export function pointer(node: HTMLElement, deeds: PointerDeeds): { update(d: PointerDeeds): void; destroy(): void } {
  let from: { x: number; y: number } | null = null
  let dragged = false

  const down = (e: PointerEvent) => {
    if (e.button !== 0) return
    // A button inside the handle has its own clicks.
    if (e.target instanceof Element && e.target.closest('button, a, input, select, textarea') !== (node.matches('button') ? node : null)) {
      if (!(e.target.closest('[data-handle]') && node.contains(e.target))) return
    }
    from = { x: e.screenX, y: e.screenY }
    dragged = false
  }
  const moved = (e: PointerEvent) => {
    if (!from) return
    if ((e.buttons & 1) === 0) {
      from = null // it was let go where we did not see it
      return
    }
    if (Math.hypot(e.screenX - from.x, e.screenY - from.y) <= threshold) return
    from = null
    dragged = true
    deeds.drag()
  }
  const up = () => {
    from = null
  }
  // The click that a browser makes after a press is the one answer to all of
  // pointer, touch, keyboard and screen reader; only one after a drag is none.
  const click = (e: MouseEvent) => {
    if (dragged && e.detail > 0) {
      dragged = false
      e.preventDefault()
      e.stopPropagation()
      return
    }
    dragged = false
    deeds.click?.()
  }
  node.addEventListener('pointerdown', down)
  window.addEventListener('pointermove', moved)
  window.addEventListener('pointerup', up)
  window.addEventListener('pointercancel', up)
  node.addEventListener('click', click, true)
  return {
    update(d) {
      deeds = d
    },
    destroy() {
      node.removeEventListener('pointerdown', down)
      window.removeEventListener('pointermove', moved)
      window.removeEventListener('pointerup', up)
      window.removeEventListener('pointercancel', up)
      node.removeEventListener('click', click, true)
    },
  }
}
