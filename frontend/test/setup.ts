import { afterEach } from 'vitest'

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
  localStorage.clear()
  document.documentElement.removeAttribute('data-theme')
})
