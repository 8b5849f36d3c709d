import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bound, inWindow, WailsTransport } from '../src/transport/wails'
import type { Change, Link, Shape } from '../src/transport/transport'

type Push = (...data: unknown[]) => void
let push: Record<string, Push>
let calls: [string, unknown][]
let answer: (name: string) => unknown
const invoked: string[] = []

beforeEach(() => {
  push = {}
  calls = []
  answer = () => ({ result: {} })
  invoked.length = 0
  Object.assign(window, {
    go: { app: { App: { Call: (name: string, args: string) => (calls.push([name, JSON.parse(args)]), Promise.resolve(JSON.stringify(answer(name)))) } } },
    runtime: { EventsOn: (name: string, on: Push) => ((push[name] = on), () => delete push[name]) },
    WailsInvoke: (m: string) => invoked.push(m),
    wails: { flags: { enableResize: true } },
  })
})

afterEach(() => {
  for (const k of ['go', 'runtime', 'WailsInvoke', 'wails']) delete (window as unknown as Record<string, unknown>)[k]
})

const make = async () => new WailsTransport(await bound())

describe('WailsTransport', () => {
  it('knows the window, and waits for its method', async () => {
    expect(inWindow()).toBe(true)
    const app = (window as unknown as { go: unknown }).go
    delete (window as unknown as { go?: unknown }).go
    const wait = bound()
    setTimeout(() => Object.assign(window, { go: app }), 20)
    expect(await wait).toBeDefined()
  })

  it('calls by name with JSON and opens the envelope', async () => {
    const t = await make()
    answer = () => ({ result: { through_id: 4, at: 'x' } })
    expect(await t.call('brief_seen', { through_id: 4 })).toEqual({ through_id: 4, at: 'x' })
    expect(calls).toEqual([['brief_seen', { through_id: 4 }]])
    answer = () => ({ error: { code: 'closed', message: 'm' }, current: { status: 'done' } })
    await expect(t.call('handoff_get', { handoff_id: 'h' })).rejects.toMatchObject({ code: 'closed', current: { status: 'done' } })
    answer = () => ({ error: { code: 'something new', message: 'm' } })
    await expect(t.call('brief_get', {})).rejects.toMatchObject({ code: 'internal' })
  })

  it('tells of events and of the link, and reads anew when the ledger is back', async () => {
    const t = await make()
    const links: Link[] = []
    const changes: Change[] = []
    const end = t.follow({ change: (c) => changes.push(c), link: (l) => links.push(l) })
    push['steward:event']?.({ type: 'ledger', data: { last_id: 5 } })
    push['steward:event']?.({ type: 'ticket', data: { last_id: 6, ids: ['tkt_1'] } })
    push['steward:event']?.({ type: 'nonsense' })
    push['steward:link']?.({ state: 'lost', reason: 'locked', code: 'unavailable', hint: 'steward doctor' })
    push['steward:link']?.({ state: 'lost', reason: 'locked', code: 'unavailable', hint: 'steward doctor' })
    push['steward:link']?.({ state: 'live' })
    expect(changes).toEqual([{ type: 'ledger', lastId: 5 }, { type: 'ticket', lastId: 6 }, { type: 'reset' }])
    expect(links).toEqual([{ state: 'lost', reason: 'locked', code: 'unavailable', hint: 'steward doctor' }, { state: 'live' }])
    end()
    expect(Object.keys(push)).toEqual([])
  })

  it('asks the window for its verbs and takes only known shapes', async () => {
    const t = await make()
    answer = () => ({ result: { shape: 'orb', attached: true, compositor: false } })
    expect(await t.shell.ready()).toEqual({ shape: 'orb', attached: true, compositor: false })
    const flags = (window as unknown as { wails: { flags: { enableResize: boolean } } }).wails.flags
    expect(flags.enableResize).toBe(false)
    const shapes: Shape[] = []
    t.shell.onShape((s) => shapes.push(s))
    push['steward:shape']?.({ shape: 'panel', inside: { x: 'left', y: 'top' }, view: 'handoffs' })
    push['steward:shape']?.({ shape: 'cube' })
    expect(shapes).toEqual([{ shape: 'panel', inside: { x: 'left', y: 'top' }, view: 'handoffs' }])
    expect(flags.enableResize).toBe(true)
    t.shell.open('brief')
    t.shell.fold()
    t.shell.menu()
    t.shell.quit()
    t.shell.drag()
    await t.shell.copy('abc')
    expect(calls.map(([n, a]) => [n, a])).toEqual([['window.ready', {}], ['window.open', { view: 'brief' }], ['window.fold', {}], ['window.menu', {}], ['window.quit', {}], ['window.drag', {}], ['window.copy', { text: 'abc' }]])
    expect(invoked).toEqual(['drag'])
  })

  it('is offline when the method rejects', async () => {
    const t = await make()
    vi.spyOn((window as unknown as { go: { app: { App: { Call: () => Promise<string> } } } }).go.app.App, 'Call').mockRejectedValue(new Error('gone'))
    await expect(t.call('brief_get', {})).rejects.toMatchObject({ code: 'offline' })
  })
})
