import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { afternoon, crowd, hostile } from '../dev/fixtures'
import { emptyWorld } from '../src/transport/fake'
import { StewardError } from '../src/transport/transport'
import { steps } from '../src/panels/brief/steps'
import { byRole, open, settle, text } from './page'

const now = Date.parse('2026-11-30T14:22:10.000Z')

beforeEach(() => void vi.useFakeTimers({ now, toFake: ['Date', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

// The rest of a long list comes after the first paint.
const painted = async () => {
  await new Promise((next) => requestAnimationFrame(next))
  await vi.advanceTimersByTimeAsync(0)
  await settle()
}

const section = (title: string) => [...document.querySelectorAll('section')].find((s) => s.querySelector('h2')?.textContent === title)
const seen = (calls: { name: string; args: unknown }[]) => calls.filter((c) => c.name === 'brief_seen').map((c) => c.args)

describe('the brief', () => {
  it('says what goes on in the language of the person', async () => {
    const { app } = await open(afternoon('en', now))
    expect(text('h1')).toBe('Six moving, two failures, one handoff waits.')
    expect(text('header p')).toBe(`Since you last looked, 42 min ago · ${app.brief.data!.fresh.total} events`)
    await app.settings.set({ language: 'zh-CN' })
    await settle()
    expect(text('h1')).toBe('6 个在忙，2 项失败，1 件交接在等。')
    expect(document.documentElement.lang).toBe('zh-CN')
    await app.settings.set({ language: 'en' })
  })

  it('sets what is new apart from what was there at the last look', async () => {
    const { app, fake } = await open(afternoon('en', now))
    await painted()
    const keys = section('Key events')!
    const groups = [...keys.querySelectorAll('h3')].map((h) => h.textContent)
    expect(groups).toEqual(['New since you last looked', 'Earlier'])
    const [fresh, earlier] = [...keys.querySelectorAll('ul')].map((u) => [...u.querySelectorAll('[data-row]')].map((r) => Number(r.getAttribute('data-row')!.slice(6))))
    expect(Math.min(...fresh!)).toBeGreaterThan(fake.world.lookedThrough)
    expect(Math.max(...earlier!)).toBeLessThanOrEqual(fake.world.lookedThrough)
    expect(fresh!.length + earlier!.length).toBe(app.brief.data!.key_events.length)
  })

  it('folds repeated failures with a count', async () => {
    await open(afternoon('en', now))
    const lines = section('Unresolved')!.querySelectorAll('li')
    expect(lines.length).toBe(2)
    expect(lines[0]!.textContent).toContain('api-server migration 0042 failed')
    expect(lines[0]!.textContent).toContain('×2 · duplicate column')
  })

  it('acknowledges a failure by button and by key', async () => {
    const { app, fake, click, press } = await open(afternoon('en', now))
    const [first, second] = app.brief.data!.failures.items
    await click(byRole('button', /^Acknowledge: api-server/))
    expect(fake.acknowledged.has(first!.id)).toBe(true)
    expect(section('Unresolved')!.querySelectorAll('li').length).toBe(1)
    expect(text('.note')).toContain('Noted')
    expect(document.activeElement?.getAttribute('data-row')).toBe(`event-${second!.id}`)
    await press('a')
    expect(fake.acknowledged.has(second!.id)).toBe(true)
    expect(section('Unresolved')).toBeUndefined()
  })

  it('says when a failure could not be acknowledged', async () => {
    const { fake, click } = await open(afternoon('en', now))
    fake.fails.set('failure_acknowledge', new StewardError('conflict', 'event 5 is not the newest', { current: {} }))
    await click(byRole('button', /^Acknowledge: api-server/))
    expect(text('[role=alert]')).toContain('It changed meanwhile')
  })

  it('opens an event in full, and its handoff from there', async () => {
    const { app, fake, click } = await open(afternoon('en', now))
    const created = fake.world.events.find((e) => e.type === 'handoff_created')!
    await click(document.querySelector(`[data-row="event-${created.id}"]`))
    expect(fake.calls.at(-1)).toMatchObject({ name: 'event_get', args: { event_id: created.id } })
    expect(text('main')).toContain('handoff_created')
    await click(byRole('button', 'Open the handoff'))
    expect([app.view, app.handoffs.open]).toEqual(['handoffs', created.object_id])
  })

  it('says so when an event cannot be read, and tries again', async () => {
    const { app, fake, click } = await open(afternoon('en', now))
    fake.fails.set('event_get', new StewardError('unavailable', 'x'))
    await app.openEvent(fake.world.events[0]!.id)
    await settle()
    expect(text('[role=alert]')).toContain('Steward cannot do this now')
    fake.fails.clear()
    await click(byRole('button', 'Try again'))
    expect(document.querySelector('dl')).not.toBeNull()
  })

  it('shows what happens as it happens, and tells a screen reader when the sentence changes', async () => {
    const { fake } = await open(afternoon('en', now))
    expect(text('.sr[aria-live]')).toBe('')
    fake.report({ actor: 'new-one', type: 'failed', object_id: 'deploy' })
    await settle()
    expect(section('Unresolved')!.textContent).toContain('new-one deploy failed')
    expect(text('.sr[aria-live]')).toBe('Seven moving, three failures, one handoff waits.')
  })

  it('asks once for many events that come together', async () => {
    const { fake } = await open(afternoon('en', now))
    fake.calls.length = 0
    for (let i = 0; i < 50; i++) fake.report({ actor: 'burst', type: 'progress' })
    await settle()
    expect(fake.calls.filter((c) => c.name === 'brief_get').length).toBe(2)
  })

  it('explains how to connect a workspace when nothing was ever reported', async () => {
    await open(emptyWorld(now))
    expect(text('h1')).toBe('Nothing has been reported yet.')
    expect(text('main')).toContain('steward mcp')
  })

  it('bounds a crowd and says how much more there is', async () => {
    const { app, click } = await open(crowd('en', now))
    expect(section('Key events')!.querySelectorAll('li').length).toBe(12)
    await painted()
    expect(section('Key events')!.querySelectorAll('li').length).toBe(40)
    const failed = section('Unresolved')!
    expect(failed.querySelectorAll('li').length).toBe(5)
    await click(byRole('button', `and ${app.brief.data!.failures.total - 5} more`))
    expect(failed.querySelectorAll('li').length).toBe(app.brief.data!.failures.items.length)
    const moving = section('Moving now')!
    expect(moving.querySelectorAll('li').length).toBe(6)
    await click([...moving.querySelectorAll('button')].at(-1)!)
    expect(moving.querySelectorAll('li').length).toBe(12)
    expect(moving.textContent).toContain('more')
    expect(section('Key events')!.textContent).toContain('Older key events are in the ledger')
  })

  it('renders hostile text as text', async () => {
    await open(hostile(now))
    expect(document.querySelector('main img, main script, main i, main u')).toBeNull()
    expect([...document.querySelectorAll('main b')].every((b) => b.querySelector('bdi'))).toBe(true)
    expect(/[\u202a-\u202e\u0000-\u0008\u001b\u009b]/.test(document.body.textContent!)).toBe(false)
    for (const el of document.querySelectorAll('[title],[aria-label]')) expect(/[\u202a-\u202e\u0007]/.test(`${el.getAttribute('title')}${el.getAttribute('aria-label')}`)).toBe(false)
    expect(text('main').length).toBeLessThan(6_000)
  })
})

describe('the watermark', () => {
  it('moves when the panel is folded, to what was on the screen', async () => {
    const { app, fake } = await open(afternoon('en', now), { shape: 'panel' })
    const last = app.brief.data!.last_event_id
    expect(seen(fake.calls)).toEqual([])
    fake.shape({ shape: 'orb' })
    await settle()
    expect(seen(fake.calls)).toEqual([{ through_id: last }])
    fake.report({ actor: 'x', type: 'done' })
    await settle()
    fake.shape({ shape: 'menu' })
    fake.shape({ shape: 'orb' })
    await settle()
    expect(seen(fake.calls).length).toBe(1) // the orb shows no news
    fake.shape({ shape: 'panel' })
    await settle()
    expect(text('header p')).toContain('1 event')
  })

  it('moves when the page is hidden or left, and not when only another view was open', async () => {
    const { app, fake } = await open(afternoon('en', now))
    const visible = vi.spyOn(document, 'visibilityState', 'get')
    visible.mockReturnValue('hidden')
    document.dispatchEvent(new Event('visibilitychange'))
    await settle()
    expect(seen(fake.calls).length).toBe(1)
    app.go('handoffs')
    visible.mockReturnValue('visible')
    document.dispatchEvent(new Event('visibilitychange'))
    await settle()
    window.dispatchEvent(new Event('pagehide'))
    await settle()
    expect(seen(fake.calls).length).toBe(1)
    app.go('brief')
    await settle()
    window.dispatchEvent(new Event('pagehide'))
    await settle()
    expect(seen(fake.calls).length).toBe(2)
  })
})

describe('the link', () => {
  it('keeps what it shows when it is lost, says since when, and recovers', async () => {
    const { fake } = await open(afternoon('en', now))
    const said = text('h1')
    fake.link({ state: 'lost', reason: 'ECONNREFUSED \u202e' })
    await settle()
    const at = /from (\d\d:\d\d);/.exec(text('.banner'))?.[1]
    expect(text('.banner')).toMatch(/^Steward does not answer\. What you see is from \d\d:\d\d; it comes back by itself\. ?Reason: ECONNREFUSED ⟨RLO⟩$/)
    expect(text('h1')).toBe('The ledger is out of reach.') // what was known is not told as what is
    expect(text('header p')).toBe(`As of ${at}: ${said}`)
    expect(document.querySelector('header svg.orb .dash')).not.toBeNull()
    expect(section('Key events')).toBeDefined()
    fake.world.events.push({ ...fake.world.events.at(-1)!, id: 99_999, type: 'failed', object_id: 'late' })
    fake.link({ state: 'live' })
    await settle()
    expect(document.querySelector('.banner')).toBeNull()
    expect(section('Unresolved')!.textContent).toContain('late')
    expect(text('.sr[aria-live]')).not.toBe('')
    expect(text('h1')).not.toBe('The ledger is out of reach.')
  })

  it('says when it is stalled, and when the ledger is being opened', async () => {
    const { fake } = await open(afternoon('en', now))
    fake.link({ state: 'stalled' })
    await settle()
    expect(text('.banner')).toContain('30 seconds')
    fake.link({ state: 'opening' })
    await settle()
    expect(text('.banner')).toBe('The ledger is being opened.')
  })
})

describe('timers', () => {
  it('are none while folded, and one while the panel is open', async () => {
    const { fake } = await open(afternoon('en', now), { shape: 'panel' })
    await painted() // also what the browser sets for itself
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(1_100)
    await settle()
    expect(text('main')).toContain('13 s ago')
    fake.shape({ shape: 'orb' })
    await settle()
    await vi.advanceTimersByTimeAsync(0)
    expect(vi.getTimerCount()).toBe(0)
    const n = fake.calls.length
    await vi.advanceTimersByTimeAsync(600_000)
    expect(fake.calls.length).toBe(n)
  })
})

it('steps draws a line from one side to the other', () => {
  expect(steps([0, 0, 4, 4, 0], 10, 10)).toBe('M0 9.0H2.0H4.0V1.0H6.0H8.0V9.0H10.0')
  expect(steps([], 10, 10)).toBe('')
  expect(steps([1_000_000, 1], 10, 10)).not.toMatch(/NaN|-/)
})
