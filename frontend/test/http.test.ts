import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { HttpTransport } from '../src/transport/http'
import { StewardError, type Change, type Link } from '../src/transport/transport'

const hello = (last = 7) => `event: hello\ndata: {"version":"1","last_id":${last},"heartbeat":15}\n\n`

/** A service that the test plays. */
class Service {
  requests: { url: string; init: RequestInit }[] = []
  streams: { push(s: string): void; close(): void; signal: AbortSignal }[] = []
  events: (init: RequestInit) => Promise<Response> = (init) => Promise.resolve(this.stream(init))
  call: (name: string, init: RequestInit) => Promise<Response> = () => Promise.resolve(Response.json({ events: [], last_id: 0, has_more: false }))

  fetch = (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const url = String(input)
    this.requests.push({ url, init })
    if (url === '/api/events') return this.events(init)
    return this.call(url.replace('/api/', ''), init)
  }

  stream(init: RequestInit): Response {
    let controller!: ReadableStreamDefaultController<Uint8Array>
    const body = new ReadableStream<Uint8Array>({ start: (c) => void (controller = c) })
    const signal = init.signal as AbortSignal
    signal.addEventListener('abort', () => {
      try {
        controller.error(new DOMException('aborted', 'AbortError'))
      } catch {
        // closed already
      }
    })
    this.streams.push({ push: (s) => controller.enqueue(new TextEncoder().encode(s)), close: () => controller.close(), signal })
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
  }

  get last() {
    return this.streams.at(-1)!
  }

  headers(i: number): Record<string, string> {
    return this.requests[i]?.init.headers as Record<string, string>
  }
}

let service: Service
let links: Link[]
let changes: Change[]
let transport: HttpTransport
let end: () => void

const flush = () => vi.advanceTimersByTimeAsync(0)
const down = () => Promise.reject(new TypeError('Failed to fetch'))

function start(token: string | null = 'secret') {
  if (token) localStorage.setItem('steward.token', token)
  transport = new HttpTransport({ fetch: service.fetch as typeof fetch })
  end = transport.follow({ change: (c) => changes.push(c), link: (l) => links.push(l) })
}

beforeEach(() => {
  vi.useFakeTimers()
  service = new Service()
  links = []
  changes = []
  end = () => {}
})

afterEach(() => {
  end()
  vi.useRealTimers()
})

const state = () => links.at(-1)?.state

describe('calls', () => {
  it('post the arguments with the token in a header and nowhere else', async () => {
    start()
    service.call = () => Promise.resolve(Response.json({ through_id: 3, at: 'x' }))
    expect(await transport.call('brief_seen', { through_id: 3 }, { keepalive: true })).toEqual({ through_id: 3, at: 'x' })
    const r = service.requests.at(-1)!
    expect(r.url).toBe('/api/call/brief_seen')
    expect(r.init).toMatchObject({ method: 'POST', body: '{"through_id":3}', keepalive: true, credentials: 'omit' })
    expect(r.init.headers).toMatchObject({ Authorization: 'Bearer secret' })
    expect(service.requests.some((x) => x.url.includes('secret'))).toBe(false)
  })

  it('reach the queue at its own addresses', async () => {
    start()
    service.call = () => Promise.resolve(Response.json({ now: 'x', tickets: [] }))
    await transport.call('ticket_list', {})
    await transport.call('ticket_answer', { id: 'T-1', answer: 'Yes', ids: ['T-2'] })
    await transport.call('ticket_undo', { id: 'T-1' })
    const [list, answer, undo] = service.requests.slice(-3)
    expect([list?.url, list?.init.method, list?.init.body]).toEqual(['/api/tickets', 'GET', undefined])
    expect([answer?.url, answer?.init.method, answer?.init.body]).toEqual(['/api/answer', 'POST', '{"id":"T-1","answer":"Yes","ids":["T-2"]}'])
    expect([undo?.url, undo?.init.body]).toEqual(['/api/undo', '{"id":"T-1"}'])
    for (const r of [list, answer, undo]) expect(r?.init.headers).toMatchObject({ Authorization: 'Bearer secret' })
  })

  it('throw what the service says, with its state', async () => {
    start()
    service.call = () => Promise.resolve(Response.json({ error: { code: 'conflict', field: 'fence', message: 'm', hint: 'h' }, current: { status: 'done' } }, { status: 409 }))
    const e = await transport.call('handoff_settle', { handoff_id: 'x', status: 'done' }).catch((x: unknown) => x)
    expect(e).toBeInstanceOf(StewardError)
    expect(e).toMatchObject({ code: 'conflict', field: 'fence', message: 'm', hint: 'h', current: { status: 'done' } })
  })

  it('are offline when no answer comes, and give up after 20 s', async () => {
    start()
    service.call = down
    await expect(transport.call('brief_get', {})).rejects.toMatchObject({ code: 'offline' })
    service.call = (_, init) => new Promise((_ok, no) => init.signal?.addEventListener('abort', () => no(new DOMException('aborted', 'AbortError'))))
    const late = expect(transport.call('brief_get', {})).rejects.toMatchObject({ code: 'offline' })
    await vi.advanceTimersByTimeAsync(20_000)
    await late
  })

  it('do not take an answer that is no JSON', async () => {
    start()
    service.call = () => Promise.resolve(new Response('<html>'))
    await expect(transport.call('brief_get', {})).rejects.toMatchObject({ code: 'internal' })
    service.call = () => Promise.resolve(new Response('<html>', { status: 503 }))
    await expect(transport.call('brief_get', {})).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('drop the token on a 401 and ask for another', async () => {
    start()
    service.call = () => Promise.resolve(Response.json({ error: { code: 'forbidden', message: 'no' } }, { status: 401 }))
    await expect(transport.call('brief_get', {})).rejects.toMatchObject({ code: 'signed_out' })
    expect(localStorage.getItem('steward.token')).toBeNull()
    expect(state()).toBe('signed-out')
    const n = service.requests.length
    await vi.advanceTimersByTimeAsync(60_000)
    expect(service.requests.length).toBe(n)
  })

  it('keep a token that came while an older one was refused', async () => {
    start()
    let answer!: (r: Response) => void
    service.call = () => new Promise((ok) => (answer = ok))
    const call = transport.call('brief_get', {}).catch(() => {})
    localStorage.setItem('steward.token', 'fresh')
    answer(Response.json({}, { status: 401 }))
    await call
    expect(localStorage.getItem('steward.token')).toBe('fresh')
  })
})

describe('signing in', () => {
  it('asks for it when there is no token, and asks the service nothing', async () => {
    start(null)
    await flush()
    expect(state()).toBe('signed-out')
    expect(service.requests).toEqual([])
  })

  it('exchanges a code and begins to listen', async () => {
    start(null)
    service.call = (name) => Promise.resolve(name === 'signin' ? Response.json({ token: 'fresh' }) : Response.json({}))
    await transport.door.signInWithCode('abc')
    await flush()
    expect(service.requests[0]).toMatchObject({ url: '/api/signin', init: { body: '{"code":"abc"}' } })
    expect(service.headers(0).Authorization).toBeUndefined()
    expect(localStorage.getItem('steward.token')).toBe('fresh')
    expect(service.headers(1).Authorization).toBe('Bearer fresh')
    service.last.push(hello())
    await flush()
    expect(state()).toBe('live')
  })

  it('keeps no token that the service does not take, and loses none over a bad code', async () => {
    start('old')
    service.call = () => Promise.resolve(Response.json({ error: { code: 'forbidden', message: 'no' } }, { status: 401 }))
    await expect(transport.door.signInWithCode('used')).rejects.toMatchObject({ code: 'signed_out' })
    expect(localStorage.getItem('steward.token')).toBe('old')
    await expect(transport.door.signInWithToken('wrong')).rejects.toMatchObject({ code: 'signed_out' })
    expect(localStorage.getItem('steward.token')).toBe('old')
  })
})

describe('events', () => {
  it('tell of changes, and replay after the last id when the connection was lost', async () => {
    start()
    await flush()
    service.last.push(hello(7))
    service.last.push('id: 9\nevent: ledger\ndata: {"last_id":9,"events":[]}\n\nid: 9\nevent: changed\ndata: {}\n\n')
    await flush()
    expect(state()).toBe('live')
    expect(changes).toEqual([{ type: 'changed', lastId: 7 }, { type: 'ledger', lastId: 9 }, { type: 'changed' }])
    expect(service.headers(0)['Last-Event-ID']).toBeUndefined()
    service.last.close()
    await vi.advanceTimersByTimeAsync(150)
    expect(service.headers(1)['Last-Event-ID']).toBe('9')
  })

  it('stay live over a short absence, as when a service hands over', async () => {
    start()
    await flush()
    service.last.push(hello())
    await flush()
    service.last.push('event: bye\ndata: {}\n\n')
    service.last.close()
    await vi.advanceTimersByTimeAsync(150)
    service.last.push(hello())
    await vi.advanceTimersByTimeAsync(3_000)
    expect(links.map((l) => l.state)).toEqual(['live'])
  })

  it('are lost within 2 s of a closed connection and come back by themselves', async () => {
    start()
    await flush()
    service.last.push(hello())
    await flush()
    service.events = down
    service.call = down
    service.last.close()
    await vi.advanceTimersByTimeAsync(2_000)
    expect(links.at(-1)).toEqual({ state: 'lost', reason: expect.any(String) as string })
    const tries = service.requests.length
    await vi.advanceTimersByTimeAsync(60_000)
    expect(service.requests.length - tries).toBeLessThan(20) // it backs off
    service.events = (init) => Promise.resolve(service.stream(init))
    service.call = () => Promise.resolve(Response.json({ events: [], last_id: 7, has_more: false }))
    await vi.advanceTimersByTimeAsync(6_000)
    service.last.push(hello())
    await flush()
    expect(state()).toBe('live')
    expect(changes.at(-1)?.type).toBe('changed')
  })

  it('are stalled when nothing came for 30 s, and not when heartbeats come', async () => {
    start()
    await flush()
    const first = service.last
    first.push(hello())
    for (let i = 0; i < 4; i++) {
      await vi.advanceTimersByTimeAsync(15_000)
      first.push(': \n\n')
    }
    await vi.advanceTimersByTimeAsync(29_000)
    expect(state()).toBe('live')
    await vi.advanceTimersByTimeAsync(1_100)
    expect(state()).toBe('stalled')
    expect(first.signal.aborted).toBe(true)
    await vi.advanceTimersByTimeAsync(200)
    service.last.push(hello())
    await flush()
    expect(state()).toBe('live')
  })

  it('end with the token that a 401 refuses', async () => {
    service.events = () => Promise.resolve(new Response('', { status: 401 }))
    start()
    await flush()
    expect(state()).toBe('signed-out')
    expect(localStorage.getItem('steward.token')).toBeNull()
  })

  it('wait out a service that is on its way and do not ask every 5 s instead', async () => {
    service.events = () => Promise.resolve(new Response('', { status: 503 }))
    start()
    await vi.advanceTimersByTimeAsync(120)
    service.events = (init) => Promise.resolve(service.stream(init))
    await vi.advanceTimersByTimeAsync(300)
    service.last.push(hello())
    await flush()
    expect(links.map((l) => l.state)).toEqual(['live'])
  })

  for (const [name, answer] of [
    ['answers 501', () => Promise.resolve(new Response('', { status: 501 }))],
    ['answers something that is no stream', () => Promise.resolve(new Response('<html>', { headers: { 'Content-Type': 'text/html' } }))],
  ] as const) {
    it(`ask every 5 s when the stream ${name}, and try it again after 30 s`, async () => {
      service.events = answer
      let last = 3
      service.call = () => Promise.resolve(Response.json({ events: [], last_id: last, has_more: false }))
      start()
      await flush()
      expect(state()).toBe('live')
      const streams = () => service.requests.filter((r) => r.url === '/api/events').length
      const asked = () => service.requests.filter((r) => r.url === '/api/call/recent_events').length
      expect([streams(), asked()]).toEqual([1, 1])
      await vi.advanceTimersByTimeAsync(4_900)
      expect(asked()).toBe(1)
      last = 4
      await vi.advanceTimersByTimeAsync(200)
      expect(asked()).toBe(2)
      expect(changes.slice(-2)).toEqual([{ type: 'ledger', lastId: 4 }, { type: 'ticket', lastId: 4 }])
      const n = changes.length
      await vi.advanceTimersByTimeAsync(5_000)
      expect(changes.slice(n)).toEqual([{ type: 'ticket', lastId: 4 }]) // nothing new but what a person may wait for
      await vi.advanceTimersByTimeAsync(20_000)
      expect(streams()).toBe(2)
      service.call = down
      await vi.advanceTimersByTimeAsync(6_500)
      expect(state()).toBe('lost')
    })
  }

  it('ask instead when the stream breaks each time before its first line', async () => {
    let broken = true
    service.events = (init) => (broken ? down() : Promise.resolve(service.stream(init)))
    service.call = () => Promise.resolve(Response.json({ events: [], last_id: 3, has_more: false }))
    start()
    await vi.advanceTimersByTimeAsync(8_000)
    expect(state()).toBe('live')
    const tried = service.requests.filter((r) => r.url === '/api/events').length
    await vi.advanceTimersByTimeAsync(10_000)
    expect(state()).toBe('live') // it stays so, and says nothing meanwhile
    expect(links.filter((l) => l.state === 'lost').length).toBeLessThanOrEqual(1)
    expect(service.requests.filter((r) => r.url === '/api/events').length - tried).toBeLessThanOrEqual(1)
    broken = false
    await vi.advanceTimersByTimeAsync(31_000)
    expect(service.streams.length).toBe(1)
  })

  it('keep their pause where the stream breaks and calls are slow', async () => {
    service.events = down
    service.call = () => new Promise((answer) => setTimeout(() => answer(Response.json({ events: [], last_id: 3, has_more: false })), 1_500))
    start()
    await vi.advanceTimersByTimeAsync(8_000)
    expect(state()).toBe('live')
    const asked = service.requests.length
    await vi.advanceTimersByTimeAsync(20_000)
    // 6.5 s for each, and none of them is taken for the return of a service that was away.
    expect(service.requests.length - asked).toBeLessThanOrEqual(4)
    expect(links.filter((l) => l.state === 'lost').length).toBeLessThanOrEqual(1)
  })

  it('find the stream again soon after a long absence of the whole service', async () => {
    start()
    await flush()
    service.last.push(hello())
    await flush()
    service.events = down
    service.call = down
    service.last.close()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(state()).toBe('lost')
    service.events = (init) => Promise.resolve(service.stream(init))
    service.call = () => Promise.resolve(Response.json({ events: [], last_id: 7, has_more: false }))
    await vi.advanceTimersByTimeAsync(6_000)
    expect(service.streams.length).toBe(2)
  })

  it('ask instead when a proxy holds the stream back', async () => {
    service.call = () => Promise.resolve(Response.json({ events: [], last_id: 3, has_more: false }))
    start()
    await vi.advanceTimersByTimeAsync(5_100)
    expect(service.requests.map((r) => r.url)).toEqual(['/api/events', '/api/call/recent_events'])
    expect(state()).toBe('live')
  })

  it('stop when nobody follows', async () => {
    start()
    await flush()
    end()
    expect(service.last.signal.aborted).toBe(true)
    const n = service.requests.length
    await vi.advanceTimersByTimeAsync(60_000)
    expect(service.requests.length).toBe(n)
    expect(vi.getTimerCount()).toBe(0)
  })
})
