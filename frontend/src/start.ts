// The page's start: one app over one transport, and the keys of the whole page.

import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import { flushSync, mount, unmount } from 'svelte'
import { Keyboard } from './actions/keys'
import Page from './Page.svelte'
import Panel from './panels/Panel.svelte'
import { App, contextOf } from './store/app.svelte'
import type { Transport } from './transport/transport'

/**
 * codeInAddress takes the sign-in code out of the address, so that it is in no
 * history and no screenshot. It is good once and for a minute.
 */
export function codeInAddress(): string {
  const m = /^#code=([^&]+)/.exec(location.hash)
  if (!m?.[1]) return ''
  history.replaceState(null, '', location.pathname + location.search)
  try {
    return decodeURIComponent(m[1])
  } catch {
    return ''
  }
}

/**
 * warm builds the panel once outside of the page while the orb is all there is,
 * so that the first click finds its code compiled and its words known.
 */
function warm(app: App): void {
  if (app.shape !== 'orb') return
  const panel = mount(Panel, { target: document.createElement('div'), context: contextOf(app) })
  void unmount(panel)
}

/** open puts the page on the screen. */
export function open(transport: Transport, code = ''): App {
  const app = new App(transport)
  const keyboard = new Keyboard(app)
  window.addEventListener('keydown', (e) => void keyboard.press(e))
  // A file that is dropped must not replace the page.
  for (const type of ['dragover', 'drop'] as const) window.addEventListener(type, (e) => e.preventDefault())
  if (transport.shell) document.documentElement.dataset.ground = 'none'
  const target = document.getElementById('steward')
  if (!target) throw new Error('the page has no place for Steward')
  mount(Page, { target, props: { app, code } })
  void app.start().then(() => setTimeout(() => warm(app), 300))
  // The page is drawn when the script ends and again once all is loaded. It waits
  // for no frame: in a hidden or an empty one there may never be any.
  flushSync()
  window.addEventListener('load', () => {
    app.clock.tick()
    if (!app.brief.data) void app.reload()
    flushSync()
  })
  return app
}
