import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { flushSync } from 'svelte'
import { BriefStore } from '../src/store/brief.svelte'
import { Clock } from '../src/store/clock.svelte'
import { HandoffStore, shortId } from '../src/store/handoffs.svelte'
import { coalesce } from '../src/store/refresh'
import { SettingsStore } from '../src/store/settings.svelte'
import { FakeTransport, emptyWorld } from '../src/transport/fake'
import { StewardError } from '../src/transport/transport'
import { afternoon } from '../dev/fixtures'

const now = Date.parse('2026-11-30T14:22:10.000Z')

beforeEach(() => void vi.useFakeTimers({ now }))
afterEach(() => void vi.useRealTimers())

describe('coalesce', () => {
  it('runs one at work and one waiting, however often it is called', async () => {
    let runs = 0
    const ends: (() => void)[] = []
    const go = coalesce(() => new Promise<void>((ok) => (runs++, ends.push(ok))))
    const first = go()
    const [second, third] = [go(), go()]
    expect(runs).toBe(1)
    ends[0]?.()
    await first
    await vi.advanceTimersByTimeAsync(0)
    expect(runs).toBe(2)
    expect(second).toBe(third)
    const fourth = go() // came while the second was at work
    ends[1]?.()
    await second
    await vi.advanceTimersByTimeAsync(0)
    expect(runs).toBe(3)
    ends[2]?.()
    await fourth
    expect(runs).toBe(3)
  })

  it('goes on after a failure', async () => {
    let fail = true
    const go = coalesce(() => (fail ? Promise.reject(new Error('x')) : Promise.resolve()))
    const first = go()
    const second = go()
    fail = false
    await expect(first).rejects.toThrow('x')
    await second
    await go()
  })
})

describe('Clock', () => {
  it('wakes once, when a word changes, and not while it stands', async () => {
    const clock = new Clock()
    const ticks: number[] = []
    let until = now + 10_000
    clock.watch(() => ({ text: '', until }))
    await vi.advanceTimersByTimeAsync(0)
    expect(vi.getTimerCount()).toBe(0)
    clock.run(true)
    await vi.advanceTimersByTimeAsync(0)
    expect(vi.getTimerCount()).toBe(1)
    until = Infinity
    await vi.advanceTimersByTimeAsync(10_100)
    ticks.push(clock.now)
    expect(ticks[0]).toBeGreaterThanOrEqual(now + 10_000)
    expect(vi.getTimerCount()).toBe(0)
    clock.run(false)
  })

  it('follows the clock of the service', () => {
    const clock = new Clock()
    clock.set(now + 3_600_000)
    expect(clock.read()).toBe(now + 3_600_000)
    clock.set(NaN)
    expect(clock.read()).toBe(now + 3_600_000)
  })

  it('forgets a word that is gone', async () => {
    const clock = new Clock()
    clock.run(true)
    const end = clock.watch(() => ({ text: '', until: now + 1_000 }))
    await vi.advanceTimersByTimeAsync(0)
    end()
    await vi.advanceTimersByTimeAsync(0)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('BriefStore', () => {
  it('asks again once, when time alone changes something', async () => {
    const fake = new FakeTransport(afternoon('en', now), { frozen: true })
    const call = fake.call.bind(fake)
    let changes: string | null = new Date(now + 30_000).toISOString()
    vi.spyOn(fake, 'call').mockImplementation(async (name, args) => {
      const r = await call(name, args)
      return (name === 'brief_get' ? { ...r, changes_at: changes } : r) as never
    })
    const store = new BriefStore(fake, new Clock())
    await store.refresh()
    changes = null
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(29_000)
    expect(fake.calls.length).toBe(1)
    await vi.advanceTimersByTimeAsync(1_100)
    expect(fake.calls.length).toBe(2)
    expect(vi.getTimerCount()).toBe(0)
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(fake.calls.length).toBe(2)
  })

  it('keeps what it has when the ledger cannot be read', async () => {
    const fake = new FakeTransport(afternoon('en', now))
    const store = new BriefStore(fake, new Clock())
    await store.refresh()
    const had = store.data
    fake.fails.set('brief_get', new StewardError('unavailable', 'locked'))
    await store.refresh()
    expect(store.data).toBe(had)
    expect(store.error?.code).toBe('unavailable')
  })

  it('moves the watermark to what was shown, once, in a call that outlives the page', async () => {
    const fake = new FakeTransport(afternoon('en', now))
    const store = new BriefStore(fake, new Clock())
    await store.left()
    await store.refresh()
    await store.left() // read, but never on the screen
    expect(fake.calls.filter((c) => c.name === 'brief_seen')).toEqual([])
    store.shown()
    const seen = store.data!.last_event_id
    fake.report({ actor: 'x', type: 'done' }) // not on the screen yet
    await store.left()
    await store.left()
    expect(fake.calls.filter((c) => c.name === 'brief_seen')).toEqual([{ name: 'brief_seen', args: { through_id: seen }, options: { keepalive: true } }])
  })
})

describe('HandoffStore', () => {
  it('filters, and does not show an answer to an older question', async () => {
    const fake = new FakeTransport(afternoon('en', now))
    const store = new HandoffStore(fake)
    const first = store.refresh()
    await store.filter('done', 'library')
    await first
    expect(store.list?.map((h) => h.status)).toEqual(['done'])
    await store.filter('', 'dj')
    expect(store.list?.map((h) => h.target)).toEqual(['dj'])
  })

  it('opens one in full and keeps an error beside it', async () => {
    const fake = new FakeTransport(afternoon('en', now))
    const store = new HandoffStore(fake)
    await store.refresh()
    const id = store.list![0]!.id
    await store.review(id)
    expect(store.detail?.handoff.id).toBe(id)
    await store.review('hnd_gone')
    expect([store.detail, store.error?.code]).toEqual([null, 'not_found'])
    await store.review('')
    expect(store.error).toBeNull()
  })

  it('shortens ids', () => {
    expect(shortId('hnd_01KBB4Z3V0E5XJ8QWY2MTN7Q2M')).toBe('H-7Q2M')
    expect(shortId('other')).toBe('other')
  })
})

describe('SettingsStore', () => {
  it('puts theme and language on the page and remembers them for the next start', async () => {
    const world = emptyWorld(now)
    world.settings.theme = 'light'
    world.settings.language = 'zh-CN'
    await new SettingsStore(new FakeTransport(world)).load()
    flushSync()
    expect([document.documentElement.dataset.theme, document.documentElement.lang]).toEqual(['light', 'zh-CN'])
    delete document.documentElement.dataset.theme
    new SettingsStore(new FakeTransport(emptyWorld(now)))
    expect(document.documentElement.dataset.theme).toBe('light')
  })

  it('takes a change back that the service refuses', async () => {
    const fake = new FakeTransport(emptyWorld(now))
    const store = new SettingsStore(fake)
    await store.load()
    fake.fails.set('settings_set', new StewardError('unavailable', 'config.json cannot be read'))
    const set = store.set({ theme: 'dark' })
    expect([store.theme, document.documentElement.dataset.theme]).toEqual(['dark', 'dark'])
    await expect(set).rejects.toMatchObject({ code: 'unavailable' })
    expect([store.theme, document.documentElement.dataset.theme]).toEqual(['system', undefined])
  })

  it('does not trust what lies in the browser', () => {
    localStorage.setItem('steward.look', '{"theme":"<b>","language":5,"single_keys":"no"}')
    const s = new SettingsStore(new FakeTransport(emptyWorld(now)))
    expect([s.theme, s.language, s.singleKeys]).toEqual(['system', 'system', true])
    localStorage.setItem('steward.look', 'nonsense')
    expect(new SettingsStore(new FakeTransport(emptyWorld(now))).theme).toBe('system')
  })
})
