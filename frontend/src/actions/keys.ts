// From a key press to an action of the table.

import type { App } from '../store/app.svelte'
import { actions, type Action } from './table'

const chordFor = 1_500 // ms between the two keys of a chord

/** single tells whether a key is a character, which Settings can turn off. */
export const single = (key: string): boolean => [...key.split(' ')].every((k) => [...k].length === 1)

/** keysOf is an action's keys as they work now. */
export const keysOf = (a: Action, app: App): readonly string[] => a.keys.filter((k) => (app.settings.singleKeys || !single(k)) && !a.lent?.(app).includes(k))

const noText = new Set(['button', 'checkbox', 'radio', 'range', 'color', 'file', 'image', 'reset', 'submit'])

/** typing tells whether an element takes text, so that keys belong to it. */
export function typing(e: EventTarget | null): boolean {
  if (!(e instanceof HTMLElement)) return false
  if (e.isContentEditable || e.getAttribute('contenteditable') === 'true') return true
  if (e instanceof HTMLTextAreaElement || e instanceof HTMLSelectElement) return true
  return e instanceof HTMLInputElement && !noText.has(e.type)
}

// An element that does something itself with a key keeps it.
function owns(e: EventTarget | null, key: string): boolean {
  if (!(e instanceof HTMLElement)) return false
  if (key === 'Enter' || key === ' ') return e.closest('button, a[href], summary, [role="menuitem"]') !== null || (e instanceof HTMLInputElement && (e.type !== 'radio' || key === ' '))
  if (key.startsWith('Arrow')) return e.closest('[role="tablist"], [role="menu"], [role="radiogroup"], input, select') !== null
  return false
}

/** Keyboard finds the action of a key press and remembers the first key of a chord. */
export class Keyboard {
  #app: App
  #first = ''
  #firstAt = 0

  constructor(app: App) {
    this.#app = app
  }

  /** press runs the key's action and tells whether there was one. */
  press(e: KeyboardEvent): boolean {
    const key = e.key
    if (e.defaultPrevented || e.isComposing || e.keyCode === 229 || e.altKey) return false
    if (e.ctrlKey || e.metaKey) return this.#held(e)
    if (key === 'Shift' || key === 'CapsLock') return false
    if (this.#app.settling || this.#app.help) return false // a dialog has its own
    const text = typing(e.target)
    // Esc writes nothing: it leaves a form that keeps what was typed.
    if (text && key !== 'Escape') return false
    if (this.#app.deciding && this.#app.tickets.blocks(key)) {
      e.preventDefault()
      return false
    }
    if (owns(e.target, key)) return false
    const first = this.#first !== '' && e.timeStamp - this.#firstAt < chordFor ? this.#first : ''
    this.#first = ''
    if (first !== '') {
      const hit = this.#find(`${first} ${key}`)
      if (hit) return this.#run(hit, e)
    }
    const hit = this.#find(key)
    if (hit) return this.#run(hit, e)
    if (this.#app.settings.singleKeys && actions.some((a) => a.keys.some((k) => k.startsWith(`${key} `)) && a.when(this.#app))) {
      this.#first = key
      this.#firstAt = e.timeStamp
    }
    return false
  }

  // Held with Control, or on a Mac with Command, a key works while text is typed too.
  #held(e: KeyboardEvent): boolean {
    if (this.#app.settling || this.#app.help || e.repeat) return false
    const hit = this.#find(`Control+${e.key}`)
    return hit ? this.#run(hit, e) : false
  }

  #find(key: string): Action | undefined {
    return actions.find((a) => keysOf(a, this.#app).includes(key) && a.when(this.#app))
  }

  #run(a: Action, e: KeyboardEvent): boolean {
    e.preventDefault()
    void a.run(this.#app)
    return true
  }
}

const caps: Record<string, string> = { ArrowDown: '↓', ArrowUp: '↑', ArrowLeft: '←', ArrowRight: '→', Enter: '⏎', Escape: 'esc', ' ': 'space', ContextMenu: '☰' }
const control = /Mac|iP(hone|ad)/.test(navigator.platform) ? '⌘' : 'ctrl '

/** capOf is what stands on a key. */
export const capOf = (key: string): string => (key.startsWith('Control+') ? control + capOf(key.slice(8)) : (caps[key] ?? key))

export interface FootEntry {
  word: NonNullable<Action['foot']>
  caps: string[]
}

/** footOf lists the keys that work now, neighbours of one word together: 1, 2, 3 become 1–3. */
export function footOf(app: App): FootEntry[] {
  if (app.tickets.writing !== '') {
    return [{ word: 'foot.answer', caps: ['⏎'] }, { word: 'foot.newLine', caps: ['⇧⏎'] }, { word: 'foot.leave', caps: ['esc'] }]
  }
  const out: FootEntry[] = []
  for (const a of actions) {
    const key = keysOf(a, app)[0]
    if (!a.foot || key === undefined || key.includes(' ') || !a.when(app)) continue
    if (app.composing && single(key)) continue // the form's fields take it
    const last = out.at(-1)
    if (last?.word === a.foot) last.caps.push(capOf(key))
    else out.push({ word: a.foot, caps: [capOf(key)] })
  }
  // The digits are the options' in Decide; without a question only the chord is left to tell.
  if (app.deciding && app.tickets.cards.length === 0 && app.settings.singleKeys) out.unshift({ word: 'foot.views', caps: ['g'] })
  for (const f of out) {
    const n = f.caps.map(Number)
    if (n.length > 2 && n.every((v, i) => Number.isInteger(v) && (i === 0 || v === (n[i - 1] as number) + 1))) f.caps = [`${n[0]}–${n.at(-1)}`]
  }
  return out
}
