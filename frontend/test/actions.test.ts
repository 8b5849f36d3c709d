import { describe, expect, it } from 'vitest'
import { afternoon, queue } from '../dev/fixtures'
import { actions } from '../src/actions/table'
import { footOf, keysOf, single } from '../src/actions/keys'
import { emptyWorld } from '../src/transport/fake'
import { byRole, open, settle, text, type Opened } from './page'

const now = Date.parse('2026-11-30T14:22:10.000Z')

/** Every place where a person can be. */
async function places(visit: (name: string, o: Opened) => void | Promise<void>): Promise<void> {
  const o = await open(queue('en', now), { shape: 'panel' })
  const { app, fake } = o
  const at = async (name: string) => {
    await settle()
    await visit(name, o)
  }
  await at('brief')
  app.failure = app.brief.data!.failures.items[0]!.id
  await at('a failure')
  await app.openEvent(fake.world.events.find((e) => e.type === 'handoff_created')!.id)
  await at('an event')
  app.back()
  app.go('decide')
  await settle()
  for (const c of app.tickets.cards) {
    app.tickets.select(c.key)
    await at(`the question ${c.tickets[0]!.id}`)
    if (c.tickets.length === 1) continue
    app.tickets.split(c)
    await at('a question that was split')
    app.tickets.join(app.tickets.current!)
    await settle()
  }
  app.go('handoffs')
  await at('handoffs')
  for (const h of fake.world.handoffs) {
    app.handoffs.selected = h.id
    await at(`a selected ${h.status} handoff`)
    app.openHandoff(h.id)
    await at(`a ${h.status} handoff`)
    app.back()
    await settle()
  }
  const pending = fake.world.handoffs.find((h) => h.status === 'pending')!
  Object.assign(pending, { status: 'claimed', worker_session_id: 'user' })
  app.openHandoff(pending.id)
  await at('a handoff of mine')
  app.back()
  app.composing = true
  await at('the form')
  app.composing = false
  app.go('settings')
  await at('settings')
  fake.shape({ shape: 'menu' })
  await at('menu')
  fake.shape({ shape: 'orb' })
  await at('orb')
}

describe('the action table', () => {
  it('has no two actions for one key anywhere, and no id twice', async () => {
    await places((name, { app }) => {
      const taken = new Map<string, string>()
      for (const a of actions.filter((x) => x.when(app))) {
        for (const k of keysOf(a, app)) {
          expect(taken.get(k), `${k} in ${name}: ${a.id}`).toBeUndefined()
          taken.set(k, a.id)
        }
      }
      // A key that works at once would hide the chords that begin with it.
      for (const k of taken.keys()) if (k.includes(' ')) expect(taken.has(k.split(' ')[0]!), `${k} in ${name}`).toBe(false)
    })
    expect(new Set(actions.map((a) => a.id)).size).toBe(actions.length)
  })

  it('lets every action be reached by key where there is one, and by pointer', async () => {
    const possible = new Set<string>()
    const buttons = new Set<string>()
    await places((_, { app }) => {
      for (const a of actions) if (a.when(app)) possible.add(a.id)
      for (const el of document.querySelectorAll('[data-action]')) buttons.add(el.getAttribute('data-action')!)
      if (document.querySelector('[data-row]')) for (const id of ['row.open', 'row.down', 'row.up']) buttons.add(id) // a row is a button; moving needs none
      if (document.querySelector('[data-focus="orb"]')) buttons.add('window.menu') // the other button of the pointer
    })
    const withDoor = actions.filter((a) => a.id !== 'signOut').map((a) => a.id)
    expect(withDoor.filter((id) => !possible.has(id))).toEqual([])
    expect(withDoor.filter((id) => !buttons.has(id))).toEqual([])
  })

  it('shows in the footer only keys that work', async () => {
    await places((name, { app }) => {
      const words = footOf(app).map((f) => f.word)
      expect(new Set(words).size, name).toBe(words.length)
      for (const w of words) expect(actions.some((a) => a.foot === w && a.when(app)), `${w} in ${name}`).toBe(true)
    })
    const { app } = await open(afternoon('en', now), { shape: 'panel' })
    expect(footOf(app)[0]).toEqual({ word: 'foot.views', caps: ['1–4'] })
    app.settings.singleKeys = false
    expect(footOf(app).flatMap((f) => f.caps)).toEqual(['↓', '↑', '⏎', 'esc'])
  })

  it('shows in the footer no key that the fields of a form take, and none for rows where there is none', async () => {
    const foot = (app: Opened['app']) => footOf(app).map((f) => `${f.caps.join(' ')} ${f.word}`)
    const { app } = await open(afternoon('en', now))
    app.go('handoffs')
    app.composing = true
    await settle()
    expect(foot(app)).toEqual(['esc foot.back', 'ctrl ⏎ foot.send'])
    const bare = await open(emptyWorld(now))
    expect(foot(bare.app)).toEqual(['1–4 foot.views', '? foot.keys'])
    bare.app.go('handoffs')
    await settle()
    expect(foot(bare.app)).toEqual(['1–4 foot.views', 'n foot.new', '? foot.keys'])
    bare.app.go('decide')
    await settle()
    expect(foot(bare.app)).toEqual(['g foot.views', '? foot.keys'])
  })

  it('holds Control for what a form can do while text is typed', async () => {
    const { app, press } = await open(afternoon('en', now))
    await press('3')
    await press('n')
    const target = document.querySelector('form textarea')!
    await press('Enter', { target })
    expect(document.querySelector('form [aria-invalid]')).toBeNull()
    const e = await press('Enter', { target, ctrlKey: true })
    expect([e.defaultPrevented, document.activeElement]).toEqual([true, target])
    expect(target.getAttribute('aria-invalid')).toBe('true')
    expect((await press('Enter', { target, metaKey: true })).defaultPrevented).toBe(true)
    app.composing = false
    await settle()
    expect((await press('Enter', { ctrlKey: true })).defaultPrevented).toBe(false)
  })

  it('feeds the help', async () => {
    const { press } = await open(afternoon('en', now), { shape: 'panel' })
    await press('?')
    const help = document.querySelector('dialog')!
    for (const a of actions.filter((x) => x.keys.length > 0)) expect(help.textContent).toContain({ 'view.brief': 'Go to Brief' }[a.id] ?? '')
    expect(help.querySelectorAll('dt').length).toBe(actions.filter((a) => a.keys.length > 0).length)
  })
})

describe('keys', () => {
  it('go to the views that exist, by number and by initial', async () => {
    const { app, press } = await open(afternoon('en', now))
    for (const [keys, view] of [[['3'], 'handoffs'], [['4'], 'settings'], [['1'], 'brief'], [['2'], 'decide'], [['g', 'h'], 'handoffs'], [['g', 's'], 'settings'], [['g', 'b'], 'brief']] as const) {
      for (const k of keys) await press(k)
      expect(app.view).toBe(view)
    }
    await press('5')
    await press('/')
    expect(app.view).toBe('brief')
    await press('g')
    await press('x')
    await press('h') // the chord was over
    expect(app.view).toBe('brief')
  })

  it('are not taken with modifiers, while composing, or while text is typed', async () => {
    const { app, press } = await open(afternoon('en', now))
    for (const init of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }, { isComposing: true }, { keyCode: 229 }]) await press('3', init)
    expect(app.view).toBe('brief')
    await press('3')
    await press('n')
    expect(app.composing).toBe(true)
    for (const target of document.querySelectorAll('form input, form textarea, form select')) {
      for (const k of ['1', 'j', 'n', 'g', 'b', '?', 'Enter', 'ArrowDown']) {
        const e = await press(k, { target })
        expect(e.defaultPrevented).toBe(false)
      }
    }
    expect([app.view, app.composing, app.help]).toEqual(['handoffs', true, false])
    const editable = document.createElement('div')
    editable.setAttribute('contenteditable', 'true')
    document.body.append(editable)
    await press('1', { target: editable })
    expect(app.view).toBe('handoffs')
  })

  it('leave a form by Esc and keep what was written', async () => {
    const { app, press, click } = await open(afternoon('en', now))
    await press('3')
    await press('n')
    const area = document.querySelector('textarea')!
    area.value = 'half a thought'
    area.dispatchEvent(new Event('input', { bubbles: true }))
    await press('Escape', { target: area })
    expect(app.composing).toBe(false)
    await click(byRole('button', 'New handoff'))
    expect(document.querySelector('textarea')!.value).toBe('half a thought')
  })

  it('move along the rows and open them', async () => {
    const { app, press } = await open(afternoon('en', now))
    await press('j')
    expect(document.activeElement?.getAttribute('data-row')).toBe(`event-${app.brief.data!.failures.items[0]!.id}`)
    expect(app.failure).toBe(app.brief.data!.failures.items[0]!.id)
    await press('ArrowDown')
    await press('k')
    await press('k')
    expect(document.activeElement?.getAttribute('data-row')).toBe(`event-${app.brief.data!.failures.items[0]!.id}`)
    const e = await press('Enter')
    expect(e.defaultPrevented).toBe(false) // the row is a button and opens by itself
    ;(document.activeElement as HTMLElement).click()
    await settle()
    expect(app.eventId).toBe(app.brief.data!.failures.items[0]!.id)
    await press('Escape')
    expect(app.eventId).toBe(0)
    expect(document.activeElement?.getAttribute('data-row')).toBe(`event-${app.brief.data!.failures.items[0]!.id}`)
  })

  it('go back first and then fold, in a window only', async () => {
    const { app, fake, press } = await open(afternoon('en', now), { shape: 'panel' })
    await press('Enter')
    expect(app.deep).toBe(true)
    await press('Escape')
    expect([app.deep, fake.asked]).toEqual([false, []])
    await press('Escape')
    expect(fake.asked).toEqual(['fold'])
    expect(app.shape).toBe('orb')
    const browser = await open(afternoon('en', now))
    await browser.press('Escape')
    expect(browser.app.shape).toBe('panel')
  })

  it('do nothing when single letters are off, but for arrows, Enter and Esc', async () => {
    const world = afternoon('en', now)
    world.settings.single_keys = false
    const { app, press } = await open(world)
    for (const k of ['2', 'g', 'h', '?', 'j']) await press(k)
    expect([app.view, app.help, document.activeElement?.getAttribute('data-row') ?? null]).toEqual(['brief', false, null])
    await press('ArrowDown')
    expect(document.activeElement?.hasAttribute('data-row')).toBe(true)
    expect(actions.flatMap((a) => keysOf(a, app)).filter(single)).toEqual([])
  })

  it('are the dialog’s own while one is open', async () => {
    const { app, press } = await open(afternoon('en', now))
    await press('?')
    await press('2', { target: document.querySelector('dialog button')! })
    await press('2', { target: document.body })
    expect([app.view, app.help]).toEqual(['brief', true])
    document.querySelector('dialog')!.dispatchEvent(new Event('cancel', { cancelable: true }))
    await settle()
    expect(app.help).toBe(false)
  })

  it('work in an empty ledger without harm', async () => {
    const { press } = await open(emptyWorld(now), { shape: 'panel' })
    for (const k of ['j', 'k', 'Enter', 'a', 'c', 'd', 'f', 'x', 'r', 'y', '2', '1', 'Enter', 'i', 'u', 's', 'j', 'k', 'g', 'h', 'c', 'd', 'Enter']) await press(k)
    expect(text('h1')).toBe('No open handoffs.')
  })
})
