// The whole page over invented data, for tests.

import { afterEach } from 'vitest'
import { mount, unmount, flushSync } from 'svelte'
import { Keyboard } from '../src/actions/keys'
import Page from '../src/Page.svelte'
import { App } from '../src/store/app.svelte'
import { FakeTransport, type World } from '../src/transport/fake'
import type { Transport, ShapeName } from '../src/transport/transport'

const ends: (() => void)[] = []

afterEach(() => {
  for (const end of ends.splice(0)) end()
  document.body.replaceChildren()
})

/** settle lets every promise that is under way come to its end. */
export async function settle(rounds = 30): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    await Promise.resolve()
    flushSync()
  }
}

export interface Opened<T extends Transport = FakeTransport> {
  app: App
  fake: T
  press(key: string, init?: KeyboardEventInit & { target?: EventTarget }): Promise<KeyboardEvent>
  click(el: Element | null): Promise<void>
}

export async function openOver<T extends Transport>(fake: T, code = ''): Promise<Opened<T>> {
  const target = document.createElement('div')
  target.id = 'steward'
  document.body.append(target)
  const app = new App(fake)
  const keyboard = new Keyboard(app)
  const onkey = (e: KeyboardEvent) => void keyboard.press(e)
  window.addEventListener('keydown', onkey)
  const page = mount(Page, { target, props: { app, code } })
  ends.push(() => {
    window.removeEventListener('keydown', onkey)
    app.stop()
    void unmount(page)
  })
  void app.start()
  await settle()
  return {
    app,
    fake,
    async press(key, init = {}) {
      const { target: at, ...rest } = init
      const e = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...rest })
      ;(at ?? document.activeElement ?? document.body).dispatchEvent(e)
      await settle()
      return e
    },
    async click(el) {
      if (!(el instanceof HTMLElement)) throw new Error('nothing to click')
      el.click()
      await settle()
    },
  }
}

export function open(world: World, o: { shape?: ShapeName; compositor?: boolean } = {}): Promise<Opened> {
  world.settings.language = world.settings.language === 'system' ? 'en' : world.settings.language
  return openOver(new FakeTransport(world, { ...o, frozen: true }))
}

/** byRole finds by role and the beginning of the accessible name, as far as the page gives one itself. */
export function byRole(role: string, name: string | RegExp): HTMLElement | null {
  const selector = { button: 'button:not([role]), [role=button]', tab: '[role=tab]', heading: 'h1,h2,h3', img: '[role=img]', switch: '[role=switch]', radio: '[type=radio]', menuitem: '[role=menuitem]' }[role] ?? `[role=${role}]`
  for (const el of document.querySelectorAll<HTMLElement>(selector)) {
    const label = el.getAttribute('aria-label') ?? (el instanceof HTMLInputElement ? (el.labels?.[0]?.textContent ?? '') : (el.textContent ?? ''))
    const said = label.replace(/\s+/g, ' ').trim()
    if (typeof name === 'string' ? said === name : name.test(said)) return el
  }
  return null
}

export const text = (selector = 'body'): string => (document.querySelector(selector)?.textContent ?? '').replace(/\s+/g, ' ').trim()
