import { afterEach } from 'vitest'
import { closeAll } from './page'

// jsdom has no modal dialogs and no layout.
if (!('showModal' in HTMLDialogElement.prototype)) {
  Object.assign(HTMLDialogElement.prototype, {
    showModal(this: HTMLDialogElement) {
      this.open = true
      this.querySelector<HTMLElement>('[autofocus], button, input')?.focus()
    },
    close(this: HTMLDialogElement) {
      this.open = false
    },
  })
}
Element.prototype.scrollIntoView ??= () => {}

afterEach(() => {
  closeAll()
  localStorage.clear()
  document.documentElement.removeAttribute('data-theme')
})
