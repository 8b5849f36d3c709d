import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { mount, unmount } from 'svelte'
import { afternoon } from '../dev/fixtures'
import { sayError } from '../src/errors'
import { speak } from '../src/i18n/i18n.svelte'
import Orb from '../src/orb/Orb.svelte'
import { codeInAddress } from '../src/start'
import { emptyWorld, FakeTransport } from '../src/transport/fake'
import { asError, errorOf, StewardError, type Code, type Door } from '../src/transport/transport'
import type { Face } from '../src/types'
import { byRole, open, openOver, settle, text } from './page'

const now = Date.parse('2026-11-30T14:22:10.000Z')

beforeEach(() => speak('en'))
afterEach(() => vi.useRealTimers())

describe('the orb’s faces', () => {
  const look = (props: { face: Face; needs?: number; failures?: number; working?: number }) => {
    const c = mount(Orb, { target: document.body, props })
    const svg = document.querySelector('svg.orb')!
    const seen = {
      sign: svg.querySelector('.sign')?.textContent ?? (svg.querySelector('.dash') ? '–' : ''),
      badge: svg.querySelector('.badge-text')?.textContent ?? '',
      arcs: svg.querySelectorAll('.ring:not(.under)').length,
      brass: svg.querySelector('.disc')?.getAttribute('fill')?.includes('brass') ?? false,
      hollow: svg.querySelector('.hollow') !== null,
    }
    void unmount(c)
    document.body.replaceChildren()
    return seen
  }
  const counts = { needs: 2, failures: 1, working: 3 }
  const plain = { sign: '', badge: '', arcs: 0, brass: false, hollow: false }

  it.each([
    ['idle', {}, {}],
    ['working', {}, { sign: '3', arcs: 3 }],
    ['working', { working: 9 }, { sign: '9', arcs: 6 }],
    ['needs', {}, { sign: '2', brass: true }],
    ['needs', { needs: 240 }, { sign: '99+', brass: true }],
    ['failure', {}, { sign: '!', badge: '✕ 1' }],
    ['both', {}, { sign: '2', badge: '✕ 1', brass: true }],
    ['both', { failures: 100 }, { sign: '2', badge: '✕ 99+', brass: true }],
    ['unreachable', {}, { sign: '–', hollow: true }],
  ] as [Face, object, object][])('%s %o', (face, more, want) => expect(look({ face, ...counts, ...more })).toEqual({ ...plain, ...want }))

  it('draw arcs that end inside the window', () => {
    for (let n = 1; n <= 6; n++) {
      const c = mount(Orb, { target: document.body, props: { face: 'working', working: n } })
      for (const p of document.querySelectorAll('.ring')) for (const v of p.getAttribute('d')!.match(/[\d.]+ [\d.]+(?=A|$)/g)!.flatMap((s) => s.split(' ').map(Number))) expect(v > 1 && v < 79).toBe(true)
      void unmount(c)
      document.body.replaceChildren()
    }
  })
})

describe('the folded window', () => {
  const pointer = (type: string, x: number, y: number, o: object = {}) => Object.assign(new MouseEvent(type, { bubbles: true, button: 0, buttons: 1, screenX: x, screenY: y, ...o }), { pointerId: 1 })
  const orb = () => document.querySelector<HTMLElement>('[data-focus=orb]')!

  it('is a button that says what it shows', async () => {
    await open(afternoon('en', now), { shape: 'orb' })
    expect(orb().tagName).toBe('BUTTON')
    expect(orb().getAttribute('aria-label')).toBe('Steward: 1 waiting for you, 2 failures')
    expect(orb().title).toBe('')
    expect(document.querySelector('[data-face=both]')).not.toBeNull()
  })

  it('has the reason as its title when the ledger cannot be read', async () => {
    const { fake } = await open(afternoon('en', now), { shape: 'orb' })
    fake.link({ state: 'lost', reason: 'ledger.db is locked\u202e' })
    await settle()
    expect(orb().getAttribute('aria-label')).toBe('Steward: the ledger cannot be read')
    expect(orb().title).toBe('ledger.db is locked⟨RLO⟩')
    expect(document.querySelector('[data-face=unreachable]')).not.toBeNull()
  })

  it('opens by a click, also one that trembles, and takes its shape from the window alone', async () => {
    const { app, fake } = await open(afternoon('en', now), { shape: 'orb' })
    orb().dispatchEvent(pointer('pointerdown', 100, 100))
    window.dispatchEvent(pointer('pointermove', 104, 100))
    window.dispatchEvent(pointer('pointerup', 104, 100))
    orb().dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }))
    expect(fake.asked).toEqual(['open'])
    expect(app.shape).toBe('orb')
    await settle()
    expect(app.shape).toBe('panel')
    expect(document.activeElement?.tagName).toBe('H1')
  })

  it('is moved by a drag of more than four pixels, which is no click', async () => {
    const { fake } = await open(afternoon('en', now), { shape: 'orb' })
    orb().dispatchEvent(pointer('pointerdown', 100, 100))
    window.dispatchEvent(pointer('pointermove', 103, 104))
    window.dispatchEvent(pointer('pointermove', 140, 140))
    orb().dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }))
    expect(fake.asked).toEqual(['drag'])
    // No release follows a drag; the next press is a click again.
    orb().dispatchEvent(pointer('pointerdown', 140, 140))
    window.dispatchEvent(pointer('pointermove', 300, 300, { buttons: 0 }))
    orb().dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }))
    expect(fake.asked).toEqual(['drag', 'open'])
  })

  it('opens by keyboard right after a drag', async () => {
    const { fake } = await open(afternoon('en', now), { shape: 'orb' })
    orb().dispatchEvent(pointer('pointerdown', 1, 1))
    window.dispatchEvent(pointer('pointermove', 90, 90))
    orb().dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 0 }))
    expect(fake.asked).toEqual(['drag', 'open'])
  })

  it('has a menu at the other button, which folds by Esc', async () => {
    const { app, fake, press, click } = await open(afternoon('en', now), { shape: 'orb' })
    const e = new MouseEvent('contextmenu', { bubbles: true, cancelable: true })
    orb().dispatchEvent(e)
    await settle()
    expect([e.defaultPrevented, fake.asked, app.shape]).toEqual([true, ['menu'], 'menu'])
    const items = [...document.querySelectorAll('[role=menuitem]')]
    expect(items.map((i) => i.textContent!.trim().split(/\s{2,}|\n/)[0])).toEqual(['Open Steward', 'Quit Steward'].map((s) => expect.stringContaining(s) as string))
    expect(document.activeElement).toBe(items[0])
    await press('ArrowDown')
    expect(document.activeElement).toBe(items[1])
    await press('ArrowDown')
    expect(document.activeElement).toBe(items[0])
    await click(items[1]!)
    await press('Escape')
    expect(fake.asked).toEqual(['menu', 'quit', 'fold'])
    expect(app.shape).toBe('orb')
  })

  it('opens the view that the window names', async () => {
    const { app, fake } = await open(afternoon('en', now), { shape: 'orb' })
    fake.shape({ shape: 'panel', inside: { x: 'left', y: 'top' }, view: 'handoffs' })
    await settle()
    expect([app.view, app.inside]).toEqual(['handoffs', { x: 'left', y: 'top' }])
    expect(document.querySelectorAll('main [data-row]').length).toBe(6)
  })
})

describe('the panel', () => {
  it('folds by the orb in its header, and is dragged by it', async () => {
    const { fake, click } = await open(afternoon('en', now), { shape: 'panel' })
    const handle = byRole('button', 'Fold')!
    handle.dispatchEvent(new MouseEvent('pointerdown', { bubbles: true, screenX: 1, screenY: 1 }))
    window.dispatchEvent(new MouseEvent('pointermove', { bubbles: true, buttons: 1, screenX: 30, screenY: 1 }))
    handle.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }))
    expect(fake.asked).toEqual(['drag'])
    await click(handle)
    expect(fake.asked).toEqual(['drag', 'fold'])
  })

  it('cannot fold in a browser', async () => {
    const { app } = await open(afternoon('en', now))
    expect([app.shape, byRole('button', 'Fold')]).toEqual(['panel', null])
    expect(byRole('img', 'Steward: 1 waiting for you, 2 failures')).not.toBeNull()
  })

  it('moves along its tabs by arrows and keeps the focus there', async () => {
    const { app, press } = await open(afternoon('en', now))
    byRole('tab', /^Brief/)!.focus()
    await press('ArrowRight')
    expect([app.view, document.activeElement?.id]).toEqual(['decide', 'tab-decide'])
    await press('End')
    await press('ArrowRight')
    expect([app.view, document.activeElement?.id]).toEqual(['brief', 'tab-brief'])
    expect(byRole('tab', /^Handoffs/)!.getAttribute('aria-label')).toBe('Handoffs, 1 waiting for you')
    expect([...document.querySelectorAll('[role=tab]')].map((x) => x.getAttribute('aria-selected'))).toEqual(['true', 'false', 'false', 'false'])
    expect(document.querySelector('[role=tabpanel]')!.getAttribute('aria-labelledby')).toBe('tab-brief')
  })
})

describe('settings', () => {
  it('changes theme, language and keys at once and in the service', async () => {
    const { app, fake, click } = await open(afternoon('en', now))
    app.go('settings')
    await settle()
    const radio = (name: string) => [...document.querySelectorAll<HTMLInputElement>('[type=radio]')].find((r) => r.labels?.[0]?.textContent?.trim() === name)!
    await click(radio('Light'))
    expect(document.documentElement.dataset.theme).toBe('light')
    await click(byRole('switch', 'Single-letter keys'))
    await click(radio('简体中文'))
    expect(text('h1')).toBe('设置')
    expect(fake.world.settings).toMatchObject({ theme: 'light', language: 'zh-CN', single_keys: false })
    expect(text('main')).toContain('/home/ada/.local/share/steward/config.json')
    expect(app.settings.singleKeys).toBe(false)
  })

  it('ask nobody for updates until that is turned on, and then say in one line what is known', async () => {
    const { app, fake, click } = await open(afternoon('en', now))
    app.go('settings')
    await settle()
    const look = () => byRole('switch', 'Look for a newer version once a day')! as HTMLInputElement
    const found = () => document.querySelector('.found')?.textContent?.replace(/\s+/g, ' ').trim()
    expect([look().checked, found()]).toEqual([false, undefined])
    expect(document.getElementById(look().getAttribute('aria-describedby')!)?.textContent).toMatch(/^Off: Steward asks nobody\./)
    await click(look())
    expect([fake.world.settings.update_check, look().checked, found()]).toEqual([true, true, 'Not asked yet.'])
    const at = new Date(now - 60_000).toISOString()
    const states: [typeof fake.world.settings.about.update, string, string][] = [
      [{ state: 'unset' }, 'This build knows no address for updates, so nobody is asked.', '这个构建不知道更新地址，因此不会查询。'],
      [{ state: 'current', checked_at: at }, 'This is the newest version, as of ', '截至 '],
      [{ state: 'failed', checked_at: at, problem: 'no route <b>' }, 'The last look failed: \u2068no route <b>\u2069. The next is in a day.', '上次查询失败：\u2068no route <b>\u2069。一天后再试。'],
      [{ state: 'newer', version: '9.1.0', notes: 'https://example.org/news', checked_at: at }, 'Steward \u20689.1.0\u2069 is there. Type steward update to fetch it. What is new: https://example.org/news', '已有 Steward \u20689.1.0\u2069。输入 steward update 即可下载。 新内容：https://example.org/news'],
    ]
    for (const language of ['en', 'zh-CN'] as const) {
      fake.world.settings.language = language
      for (const [state, en, zh] of states) {
        fake.world.settings.about.update = state
        fake.change({ type: 'changed' })
        await settle()
        expect(found()?.startsWith(language === 'en' ? en : zh), found()).toBe(true)
        expect(document.querySelector('[aria-describedby="update-help"]') === null).toBe(state.state === 'unset') // it could do nothing
      }
    }
    expect(document.querySelectorAll('[role=alert]').length).toBe(0)
    await click(document.querySelector('[aria-describedby="update-help"]')!)
    expect([fake.world.settings.update_check, found()]).toEqual([false, undefined])
  })

  it('follow a change made in another window', async () => {
    const { fake, app } = await open(afternoon('en', now))
    fake.world.settings.language = 'zh-CN'
    fake.change({ type: 'changed' })
    await settle()
    expect([app.settings.language, text('[role=tab]')]).toEqual(['zh-CN', expect.stringContaining('简报') as string])
  })

  it('say when they could not be kept', async () => {
    const { app, fake } = await open(afternoon('en', now))
    app.go('settings')
    await settle()
    fake.fails.set('settings_set', new StewardError('unavailable', 'x', { hint: 'mend config.json' }))
    ;[...document.querySelectorAll<HTMLInputElement>('[type=radio]')].at(-1)!.click()
    await settle()
    expect(text('[role=alert]')).toContain('mend config.json')
    expect(app.settings.language).toBe('en')
  })
})

describe('signing in', () => {
  function doorOf(fake: FakeTransport, code: 'taken' | 'used', tried: string[] = []): string[] {
    const refuse = (what: string) => (tried.push(what), Promise.reject(new StewardError('signed_out', 'no')))
    const door: Door = {
      signInWithCode: (c) => (code === 'used' ? refuse(c) : (tried.push(c), fake.link({ state: 'live' }), Promise.resolve())),
      signInWithToken: (x) => (x === 'good' ? (tried.push(x), fake.link({ state: 'live' }), Promise.resolve()) : refuse(x)),
      signOut: () => fake.link({ state: 'signed-out' }),
    }
    fake.door = door
    return tried
  }

  it('takes a code from the link and shows the brief', async () => {
    const fake = new FakeTransport(afternoon('en', now), { frozen: true })
    const tried = doorOf(fake, 'taken')
    await openOver(fake, 'abc')
    expect(tried).toEqual(['abc'])
    expect(text('h1')).toContain('Six moving')
  })

  it('says when the link is used up, and takes a token that is pasted', async () => {
    const fake = new FakeTransport(afternoon('en', now), { frozen: true })
    const tried = doorOf(fake, 'used')
    const o = await openOver(fake, 'old')
    fake.link({ state: 'signed-out' })
    await settle()
    expect(text('h1')).toBe('Sign in to Steward')
    const input = document.querySelector<HTMLInputElement>('input[type=password]')!
    const paste = async (s: string) => {
      input.value = s
      input.dispatchEvent(new Event('input', { bubbles: true }))
      document.querySelector('form')!.requestSubmit()
      await settle()
    }
    await paste(' ')
    expect(text('form')).toContain('Required.')
    await paste('wrong')
    expect(text('form')).toContain('Steward does not know this token.')
    await paste(' good ')
    expect(tried).toEqual(['old', 'wrong', 'good'])
    expect(o.app.link.state).toBe('live')
    expect(text('h1')).toContain('Six moving')
  })

  it('asks again when the token was dropped, and can be asked for', async () => {
    const fake = new FakeTransport(emptyWorld(now), { frozen: true })
    doorOf(fake, 'taken')
    const o = await openOver(fake)
    o.app.go('settings')
    await settle()
    await o.click(byRole('button', 'Sign out'))
    expect(text('h1')).toBe('Sign in to Steward')
  })

  it('takes the code out of the address before anything else', () => {
    history.replaceState(null, '', '/?a=1#code=AB%2Fc')
    expect(codeInAddress()).toBe('AB/c')
    expect(location.href).toMatch(/\/\?a=1$/)
    history.replaceState(null, '', '/#code=%zz')
    expect(codeInAddress()).toBe('')
    expect(location.hash).toBe('')
    history.replaceState(null, '', '/#other')
    expect(codeInAddress()).toBe('')
    expect(location.hash).toBe('#other')
    history.replaceState(null, '', '/')
  })
})

describe('errors', () => {
  const codes: Code[] = ['invalid', 'not_found', 'conflict', 'closed', 'forbidden', 'unavailable', 'version', 'corrupt', 'internal', 'offline', 'signed_out']

  it('have words for every code in both languages', () => {
    for (const l of ['en', 'zh-CN'] as const) {
      speak(l)
      const said = codes.map((c) => sayError(new StewardError(c, 'why', { id: 'err_1', hint: 'do this' })).text)
      expect(new Set(said).size).toBe(codes.length)
      for (const s of said) expect(s).not.toContain('{')
    }
  })

  it('give the id of an internal one and never its text as ours', () => {
    expect(sayError(new StewardError('internal', 'why', { id: 'err_1' }))).toEqual({ text: 'Sorry, that is a fault of Steward\u2019s own. The log has the cause under err_1.'.replace('\u2019', "'"), hint: '' })
    expect(sayError(new StewardError('invalid', 'a\u202eb')).text).toBe('Steward did not take this: \u2068a⟨RLO⟩b\u2069')
    expect(sayError(new StewardError('conflict', 'config.json is no JSON')).text).toBe('Nothing was done: \u2068config.json is no JSON\u2069')
    expect(sayError(new StewardError('conflict', 'x', { current: {} })).text).toBe('It changed meanwhile. Nothing was done; look again.')
    expect(sayError(new StewardError('unavailable', 'x', { hint: 'h' })).hint).toBe('What to do: \u2068h\u2069')
  })

  it('are read from any answer', () => {
    expect(errorOf({ error: { code: 'closed', message: 'm', field: 1 }, current: 5 })).toMatchObject({ code: 'closed', message: 'm', field: '', current: 5 })
    for (const bad of [null, 'x', {}, { error: null }, { error: 'x' }]) expect(errorOf(bad)).toBeNull()
    expect(asError('x')).toMatchObject({ code: 'internal', message: 'x' })
    expect(asError(new TypeError('t'))).toMatchObject({ code: 'internal', message: 't' })
  })
})
