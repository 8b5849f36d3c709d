// The page in a browser: calls by POST, events by a stream read with fetch, so
// that the token travels in a header and never in an address. Where a stream
// cannot be had it asks every five seconds.

import { SseReader, type ServerEvent } from './sse'
import {
  asError,
  errorOf,
  StewardError,
  type Args,
  type CallOptions,
  type Change,
  type Door,
  type Link,
  type OpName,
  type Result,
  type Transport,
} from './transport'

const tokenKey = 'steward.token'
const helloWithin = 5_000 // ms from the stream's opening to its first line
const retryStream = 30_000 // ms between tries of a stream while asking instead
const pollEvery = 5_000 // ms
const askInstead = 4 // streams in a row that broke before their first line
const firstRetry = 100 // ms, doubled with each failure
const lastRetry = 5_000 // ms
const callWithin = 20_000 // ms for one call's answer
const grace = 1_000 // ms a connection may be gone before the page says so: a service that hands over is back sooner

// Operations that have an address of their own.
const short: { [N in OpName]?: readonly ['GET' | 'POST', string] } = {
  ticket_list: ['GET', '/api/tickets'],
  ticket_answer: ['POST', '/api/answer'],
  ticket_undo: ['POST', '/api/undo'],
}

export interface HttpOptions {
  base?: string
  fetch?: typeof fetch
  storage?: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
}

type Listener = { change(c: Change): void; link(l: Link): void }

/** HttpTransport speaks to `steward serve`. */
export class HttpTransport implements Transport, Door {
  readonly shell = null
  readonly door: Door = this

  #base: string
  #fetch: typeof fetch
  #storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  #on: Listener | null = null
  #link: Link = { state: 'opening' }
  #lastId = ''
  #failures = 0
  #streamFailed = 0 // when a stream was last refused, to ask instead; 0 never
  #run: AbortController | null = null
  #graceTimer: ReturnType<typeof setTimeout> | undefined

  constructor(o: HttpOptions = {}) {
    this.#base = o.base ?? ''
    this.#fetch = o.fetch ?? ((...a) => fetch(...a))
    this.#storage = o.storage ?? localStorage
  }

  get #token(): string | null {
    return this.#storage.getItem(tokenKey)
  }

  async call<N extends OpName>(name: N, args: Args<N>, options: CallOptions = {}): Promise<Result<N>> {
    const token = this.#token
    if (!token) {
      this.#say({ state: 'signed-out' })
      throw new StewardError('signed_out', 'not signed in')
    }
    const [method, path] = short[name] ?? (['POST', `/api/call/${name}`] as const)
    return (await this.#ask(method, path, args, token, options)) as Result<N>
  }

  async #ask(method: 'GET' | 'POST', path: string, body: unknown, token: string | null, options: CallOptions = {}): Promise<unknown> {
    let res: Response
    let answer: unknown = null
    const headers: Record<string, string> = method === 'POST' ? { 'Content-Type': 'application/json' } : {}
    if (token) headers.Authorization = `Bearer ${token}`
    const given = new AbortController()
    const timer = setTimeout(() => given.abort(), callWithin)
    try {
      res = await this.#fetch(this.#base + path, {
        method, headers, ...(method === 'POST' ? { body: JSON.stringify(body) } : {}), cache: 'no-store', credentials: 'omit',
        keepalive: options.keepalive ?? false, signal: given.signal,
      })
      const text = await res.text()
      try {
        answer = JSON.parse(text)
      } catch {
        // said below: an answer of no use
      }
    } catch (e) {
      throw new StewardError('offline', e instanceof Error ? e.message : String(e))
    } finally {
      clearTimeout(timer)
    }
    if (res.ok) {
      if (answer === null) throw new StewardError('internal', 'the answer was no JSON')
      return answer
    }
    if (res.status === 401 && token) this.#refused(token)
    const known = errorOf(answer)
    if (known && res.status !== 401) throw known
    throw new StewardError(res.status === 401 ? 'signed_out' : res.status >= 500 ? 'unavailable' : 'internal', known?.message ?? `HTTP ${res.status}`)
  }

  // refused drops a token that the service does not take, and only that one: a
  // late 401 must not undo a fresh sign-in.
  #refused(token: string): void {
    if (this.#token !== token) return
    this.#storage.removeItem(tokenKey)
    this.#stop()
    this.#say({ state: 'signed-out' })
  }

  async signInWithCode(code: string): Promise<void> {
    const answer = await this.#ask('POST', '/api/signin', { code }, null)
    const token = typeof answer === 'object' && answer !== null && 'token' in answer ? answer.token : undefined
    if (typeof token !== 'string' || token === '') throw new StewardError('internal', 'the answer held no token')
    this.#enter(token)
  }

  async signInWithToken(token: string): Promise<void> {
    await this.#ask('POST', '/api/call/recent_events', { limit: 1 }, token)
    this.#enter(token)
  }

  #enter(token: string): void {
    this.#storage.setItem(tokenKey, token)
    this.#failures = 0
    this.#streamFailed = 0
    if (this.#on) this.#start()
  }

  signOut(): void {
    this.#storage.removeItem(tokenKey)
    this.#stop()
    this.#say({ state: 'signed-out' })
  }

  follow(on: Listener): () => void {
    this.#on = on
    const other = (e: StorageEvent) => {
      if (e.key !== tokenKey) return
      if (e.newValue) this.#start()
      else this.signOut()
    }
    const back = () => {
      // The machine's network is back, or it woke up: do not wait out the pause.
      if (this.#link.state === 'lost' || this.#link.state === 'stalled') this.#start()
    }
    if (typeof window !== 'undefined') {
      window.addEventListener('storage', other)
      window.addEventListener('online', back)
    }
    this.#start()
    return () => {
      this.#stop()
      this.#on = null
      if (typeof window !== 'undefined') {
        window.removeEventListener('storage', other)
        window.removeEventListener('online', back)
      }
    }
  }

  #say(l: Link): void {
    clearTimeout(this.#graceTimer)
    this.#graceTimer = undefined
    if (l.state === this.#link.state && l.reason === this.#link.reason) return
    this.#link = l
    this.#on?.link(l)
  }

  // sayLost lets a short absence pass unsaid. What is said stays said until the
  // ledger answers again.
  #sayLost(reason: string): void {
    if (this.#link.state !== 'live' && this.#link.state !== 'opening') return
    if (this.#graceTimer !== undefined) return
    this.#graceTimer = setTimeout(() => this.#say({ state: 'lost', reason }), grace)
  }

  #stop(): void {
    this.#run?.abort()
    this.#run = null
    clearTimeout(this.#graceTimer)
    this.#graceTimer = undefined
  }

  #start(): void {
    this.#stop()
    if (!this.#token) {
      this.#say({ state: 'signed-out' })
      return
    }
    if (this.#link.state === 'signed-out') this.#say({ state: 'opening' })
    const run = new AbortController()
    this.#run = run
    void this.#loop(run.signal)
  }

  async #loop(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const stream = this.#streamFailed === 0 || Date.now() - this.#streamFailed >= retryStream
      if (stream) await this.#stream(signal)
      else await this.#poll(signal)
    }
  }

  // stream reads events until the connection ends, then waits as long as it
  // should before the next try.
  async #stream(signal: AbortSignal): Promise<void> {
    const token = this.#token
    if (!token) return this.#say({ state: 'signed-out' })
    const own = new AbortController()
    const abort = () => own.abort()
    signal.addEventListener('abort', abort)
    let stalled = false
    let beat = 15_000
    let watch: ReturnType<typeof setTimeout> | undefined
    const arm = (ms: number) => {
      clearTimeout(watch)
      watch = setTimeout(() => {
        stalled = true
        own.abort()
      }, ms)
    }
    let greeted = false
    let reason = ''
    try {
      arm(10_000) // for the answer's head
      const headers: Record<string, string> = { Accept: 'text/event-stream', Authorization: `Bearer ${token}` }
      if (this.#lastId) headers['Last-Event-ID'] = this.#lastId
      const res = await this.#fetch(this.#base + '/api/events', { headers, cache: 'no-store', credentials: 'omit', signal: own.signal })
      if (res.status === 401) return this.#refused(token)
      if (!res.ok || !res.body || !(res.headers.get('content-type') ?? '').startsWith('text/event-stream')) {
        void res.body?.cancel().catch(() => {})
        const passing = res.status === 502 || res.status === 503 || res.status === 504 // it is on its way out, or in
        if (!passing || this.#failures >= 4) this.#streamFailed = Date.now()
        if (!passing) return
        throw new Error(`HTTP ${res.status}`)
      }
      const reader = new SseReader({
        event: (e) => {
          if (e.event === 'hello') {
            greeted = true
            beat = (numberIn(e.data, 'heartbeat') || 15) * 1000
            this.#hello(e)
          } else this.#event(e)
        },
      })
      arm(helloWithin)
      const body = res.body.getReader()
      for (;;) {
        const { done, value } = await body.read()
        if (done) break
        reader.feed(value)
        if (greeted) arm(2 * beat)
      }
    } catch (e) {
      // What the browser itself says of a connection is in its language and tells nothing.
      reason = e instanceof Error && e.name !== 'AbortError' && !(e instanceof TypeError) ? e.message : ''
    } finally {
      clearTimeout(watch)
      signal.removeEventListener('abort', abort)
    }
    if (signal.aborted) return
    if (stalled && !greeted) {
      // It took the call and says nothing: something between holds the stream back.
      this.#streamFailed = Date.now()
      return
    }
    if (!greeted && this.#failures >= askInstead) {
      // The stream breaks each time: perhaps calls still come through. The next one
      // tells whether the service is there, however long it takes.
      this.#streamFailed = Date.now()
      return
    }
    if (stalled) this.#say({ state: 'stalled' })
    else this.#sayLost(reason)
    await pause(Math.min(lastRetry, firstRetry * 2 ** this.#failures++), signal)
  }

  #hello(e: ServerEvent): void {
    this.#failures = 0
    this.#streamFailed = 0
    if (!this.#lastId) this.#lastId = String(numberIn(e.data, 'last_id') || '')
    this.#say({ state: 'live' })
    this.#on?.change({ type: 'changed', lastId: numberIn(e.data, 'last_id') }) // what moved while nobody listened
  }

  #event(e: ServerEvent): void {
    if (e.id) this.#lastId = e.id
    if (e.event === 'ledger') this.#on?.change({ type: 'ledger', lastId: numberIn(e.data, 'last_id') })
    else if (e.event === 'ticket' || e.event === 'changed' || e.event === 'reset') this.#on?.change({ type: e.event })
  }

  // poll asks once and waits. Recent events tell whether anything happened; what
  // moves without an event is only seen with the next event or stream. The queue of
  // questions is asked for every time: a person may be waiting before it.
  async #poll(signal: AbortSignal): Promise<void> {
    const began = this.#lastId
    try {
      const known = Number(began) || 0
      const page = await this.call('recent_events', known > 0 ? { since_id: known, limit: 200 } : { limit: 1 })
      if (signal.aborted) return
      const recovered = this.#link.state !== 'live'
      const back = this.#link.state === 'lost' || this.#link.state === 'stalled'
      this.#say({ state: 'live' })
      if (page.last_id > 0) this.#lastId = String(page.last_id)
      if (recovered) this.#on?.change({ type: 'changed', lastId: page.last_id })
      else if (page.last_id > known) this.#on?.change({ type: 'ledger', lastId: page.last_id })
      if (!recovered) this.#on?.change({ type: 'ticket', lastId: page.last_id })
      if (back) this.#streamFailed = 0 // it may have been the service that was away, not the stream that breaks
      if (back || (page.has_more && known > 0)) return
    } catch (e) {
      if (signal.aborted) return
      const said = asError(e)
      this.#sayLost(said.code === 'offline' ? '' : said.message)
    }
    await pause(pollEvery, signal)
  }
}

function numberIn(json: string, key: string): number {
  try {
    const v: unknown = JSON.parse(json)
    const n = typeof v === 'object' && v !== null ? (v as Record<string, unknown>)[key] : undefined
    return typeof n === 'number' ? n : 0
  } catch {
    return 0
  }
}

/** pause waits, but no longer than the signal lives. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) return done()
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      done()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
