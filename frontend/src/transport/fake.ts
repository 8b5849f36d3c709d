// Steward invented: the operations over data in memory, with the rules a page can
// notice. For tests and for working on the page; never in what ships.

import type { Ops } from '../ops.gen'
import type { Brief, Event, Handoff, KeyEvent, Mover, Settings, Summary, Ticket, Transition } from '../types'
import { final, statuses, type Status } from '../types'
import { failing } from '../words'
import {
  StewardError,
  type Args,
  type CallOptions,
  type Change,
  type Door,
  type Link,
  type OpName,
  type Result,
  type Shape,
  type ShapeName,
  type Shell,
  type Transport,
} from './transport'

/** What a fake begins with. */
export interface World {
  now: number
  events: Event[]
  handoffs: Handoff[]
  tickets: Ticket[]
  lookedThrough: number
  lookedAt: number | null
  focus: Brief['focus']
  settings: Settings
}

const iso = (ms: number) => new Date(ms).toISOString()

export const emptyWorld = (now = Date.parse('2026-11-30T14:22:10.000Z')): World => ({
  now,
  events: [],
  handoffs: [],
  tickets: [],
  lookedThrough: 0,
  lookedAt: null,
  focus: null,
  settings: {
    theme: 'system',
    language: 'system',
    single_keys: true,
    update_check: false,
    about: {
      version: '0.4.0', ledger: '/home/ada/.local/share/steward/ledger.db', state_folder: '/home/ada/.local/share/steward',
      config: '/home/ada/.local/share/steward/config.json', log: '/home/ada/.local/share/steward/logs/steward.log', role: 'window',
      http: 'http://127.0.0.1:8971', license: 'AGPL-3.0', targets: ['studio', 'dj', 'library'],
      update: { state: 'off' },
    },
  },
})

const summary = (h: Handoff): Summary => ({
  id: h.id, target: h.target, status: h.status, preview: h.instruction.replace(/\s+/g, ' ').slice(0, 120), attachment_count: h.attachments.length, fence: h.fence, created_at: h.created_at,
  ...(h.source_session_id ? { source_session_id: h.source_session_id } : {}), ...(h.worker_session_id ? { worker_session_id: h.worker_session_id } : {}),
  ...(h.outcome ? { outcome: h.outcome } : {}), ...(h.claimed_at ? { claimed_at: h.claimed_at } : {}), ...(h.running_at ? { running_at: h.running_at } : {}), ...(h.finished_at ? { finished_at: h.finished_at } : {}),
})

// hashOf tells texts apart, as the service's cards are told apart.
function hashOf(s: string): string {
  let h = 0xcbf29ce484222325n
  for (const c of new TextEncoder().encode(s)) h = ((h ^ BigInt(c)) * 0x100000001b3n) & 0xffffffffffffffffn
  return h.toString(16).padStart(32, '0')
}

/** invented is a ticket with what is not said filled in. */
export const invented = (t: Partial<Ticket> & Pick<Ticket, 'id' | 'question' | 'created_at'>): Ticket => ({
  stream: 'web-app', asked_by: 'web-app', options: [], urgency: 'normal', reversible: true, status: 'pending', expires_at: iso(Date.parse(t.created_at) + 30 * 60_000), ...t,
  card: t.card ?? hashOf(JSON.stringify([t.question, t.options ?? [], t.context ?? '', t.default_answer ?? '', t.reversible ?? true])),
})

const undoWithin = 5 * 60_000

type Listener = { change(c: Change): void; link(l: Link): void }

/** FakeTransport answers from memory. */
export class FakeTransport implements Transport {
  readonly shell: Shell | null
  door: Door | null = null
  world: World
  /** Every call in order, for tests to look at. */
  calls: { name: OpName; args: unknown; options: CallOptions }[] = []
  /** Makes the next calls of an operation fail. */
  fails = new Map<OpName, StewardError>()
  /** What the window was asked for, for tests to look at. */
  asked: string[] = []
  acknowledged = new Set<number>()
  #on: Listener | null = null
  #shape: ((s: Shape) => void) | null = null
  #history = new Map<string, Transition[]>()
  #started = Date.now()
  #frozen: boolean

  constructor(world: World, o: { shape?: ShapeName; compositor?: boolean; frozen?: boolean } = {}) {
    this.world = world
    this.#frozen = o.frozen ?? false
    for (const h of world.handoffs) this.#history.set(h.id, historyOf(h))
    this.shell = o.shape ? this.#makeShell(o.shape, o.compositor ?? true) : null
  }

  get now(): number {
    return this.world.now + (this.#frozen ? 0 : Date.now() - this.#started)
  }

  follow(on: Listener): () => void {
    this.#on = on
    queueMicrotask(() => this.#on?.link({ state: 'live' }))
    return () => (this.#on = null)
  }

  /** link changes the state of the connection. */
  link(l: Link): void {
    this.#on?.link(l)
  }

  /** change tells the page that something moved. */
  change(c: Change): void {
    this.#on?.change(c)
  }

  /** shape gives the window another shape. */
  shape(s: Shape): void {
    this.#shape?.(s)
  }

  /** report appends an event and tells the page. */
  report(e: Partial<Event> & Pick<Event, 'actor' | 'type'>): Event {
    const event: Event = { id: (this.world.events.at(-1)?.id ?? 0) + 1, at: iso(this.now), injectable: true, source: 'claimed', ...e }
    this.world.events.push(event)
    this.change({ type: 'ledger', lastId: event.id })
    return event
  }

  /** ask puts a question into the queue and tells the page. */
  ask(t: Partial<Ticket> & Pick<Ticket, 'question'>): Ticket {
    const ticket = invented({ id: `tkt_01KBFAKE00000000000000${String(this.world.tickets.length + 1000)}`, created_at: iso(this.now), ...t })
    this.world.tickets.push(ticket)
    this.#tell(ticket, 'ticket_asked', { actor: ticket.asked_by, outcome: ticket.question })
    return ticket
  }

  /** turn changes a ticket as somebody else would, and tells the page. */
  turn(t: Ticket, change: Partial<Ticket>): void {
    Object.assign(t, change)
    this.#tell(t, `ticket_${t.status === 'pending' ? 'undone' : t.status}`, t.answered_by === 'human' ? { actor: 'user', source: 'person' } : { actor: 'steward' })
  }

  #tell(t: Ticket, type: string, e: Partial<Event> & Pick<Event, 'actor'>): void {
    const { id } = this.report({ type, object_id: t.id, object_type: 'ticket', workspace: t.stream, ...e })
    this.change({ type: 'ticket', lastId: id })
  }

  // at is a ticket as everybody sees it now: silence ends it at its time.
  #at(t: Ticket): Ticket {
    if (t.status !== 'pending' || Date.parse(t.expires_at) > this.now) return { ...t }
    return { ...t, status: 'expired', ...(t.default_answer ? { answer: t.default_answer, answered_by: 'default' as const, answered_at: t.expires_at } : {}) }
  }

  #pending(): Ticket[] {
    return this.world.tickets.filter((t) => this.#at(t).status === 'pending')
  }

  #tickets(ids: readonly string[]): Ticket[] {
    return [...new Set(ids)].map((id) => {
      const t = this.world.tickets.find((x) => x.id === id)
      if (!t) throw new StewardError('not_found', 'ticket not found')
      return t
    })
  }

  #answer(a: Ops['ticket_answer']['args']): Result<'ticket_answer'> {
    if (a.answer.trim() === '' || [...a.answer].length > 2000) throw new StewardError('invalid', 'answer: 1 to 2000 characters', { field: 'answer' })
    const all = this.#tickets([a.id, ...(a.ids ?? [])])
    if (all.some((t) => t.card !== all[0]?.card)) throw new StewardError('invalid', 'ids: tickets of the same question as id', { field: 'ids' })
    const open = all.filter((t) => this.#at(t).status === 'pending')
    const missed = all.filter((t) => !open.includes(t)).map((t) => this.#at(t))
    if (open.length === 0) throw new StewardError('closed', `${a.id} is ${missed[0]?.status}: too late`, { current: missed[0] })
    const at = iso(this.now)
    for (const t of open) this.turn(t, { status: 'answered', answer: a.answer, answered_by: 'human', answered_at: at })
    return { ticket: { ...(all[0] as Ticket) }, answered: open.map((t) => ({ ...t })), ...(missed.length > 0 ? { missed } : {}) }
  }

  #undo(a: Ops['ticket_undo']['args']): Result<'ticket_undo'> {
    const all = this.#tickets([a.id, ...(a.ids ?? [])])
    const can = all.filter((t) => t.status === 'answered' && this.now - Date.parse(t.answered_at ?? '') <= undoWithin)
    if (can.length === 0) throw new StewardError('closed', `${a.id}: it cannot be undone`, { current: this.#at(all[0] as Ticket) })
    for (const t of can) {
      const left = Math.max(undoWithin, Date.parse(t.expires_at) - Date.parse(t.answered_at ?? ''))
      this.turn(t, { status: 'pending', answer: undefined, answered_by: undefined, answered_at: undefined, expires_at: iso(this.now + left) })
    }
    return { tickets: can.map((t) => ({ ...t })) }
  }

  async call<N extends OpName>(name: N, args: Args<N>, options: CallOptions = {}): Promise<Result<N>> {
    this.calls.push({ name, args, options })
    await Promise.resolve()
    const fail = this.fails.get(name)
    if (fail) throw fail
    const ops: { [K in OpName]?: (a: Args<K>) => Result<K> } = {
      brief_get: () => this.#brief(),
      brief_seen: (a) => {
        this.world.lookedThrough = Math.max(this.world.lookedThrough, Math.min(a.through_id, this.world.events.at(-1)?.id ?? 0))
        this.world.lookedAt = this.now
        queueMicrotask(() => this.change({ type: 'changed' }))
        return { through_id: this.world.lookedThrough, at: iso(this.now) }
      },
      event_get: (a) => {
        const event = this.world.events.find((e) => e.id === a.event_id)
        if (!event) throw new StewardError('not_found', `event ${a.event_id}: not found`)
        const of = this.world.handoffs.find((h) => h.id === event.object_id)
        return { event, ...(of ? { handoff: of.id } : {}) }
      },
      failure_acknowledge: (a) => {
        this.acknowledged.add(a.event_id)
        const e = this.report({ actor: 'user', type: 'failure_acknowledged', source: 'person' })
        return { event_id: e.id, recorded_at: e.at } as Result<'failure_acknowledge'>
      },
      recent_events: (a) => {
        const all = this.world.events.filter((e) => e.id > (a.since_id ?? 0))
        const events = a.since_id === undefined ? all.slice(-(a.limit ?? 20)) : all.slice(0, a.limit ?? 20)
        return { events, last_id: events.at(-1)?.id ?? a.since_id ?? 0, has_more: events.length < all.length }
      },
      handoff_list: (a) => {
        const all = this.world.handoffs.filter((h) => (!a.status || h.status === a.status) && (!a.target || h.target === a.target))
        const limit = a.limit ?? 10
        return { handoffs: all.slice(0, limit).map(summary), has_more: all.length > limit }
      },
      handoff_get: (a) => {
        const h = this.#find(a.handoff_id)
        return { handoff: { ...h }, short_id: `H-${h.id.slice(-4)}`, transitions: [...(this.#history.get(h.id) ?? [])] }
      },
      handoff_create: (a) => this.#create(a),
      handoff_claim: (a) => this.#claim(a),
      handoff_settle: (a) => ({ handoff: this.#end(a) }),
      handoff_release: (a) => ({ handoff: this.#release(a) }),
      attachment_open: (a) => {
        const path = this.#find(a.handoff_id).attachments[a.index]?.path
        if (!path) throw new StewardError('not_found', 'no such attachment')
        return { opened: /\.(sh|exe|app)$/.test(path) ? 'folder' : 'file', path }
      },
      ticket_list: () => {
        const answered = this.world.tickets.filter((t) => t.status === 'answered' && this.now - Date.parse(t.answered_at ?? '') <= undoWithin)
        return { now: iso(this.now), tickets: [...this.#pending(), ...answered].map((t) => ({ ...t })) }
      },
      ticket_answer: (a) => this.#answer(a),
      ticket_undo: (a) => this.#undo(a),
      settings_get: () => structuredClone(this.world.settings),
      settings_set: (a) => {
        Object.assign(this.world.settings, a)
        if (a.update_check !== undefined) this.world.settings.about.update = { state: a.update_check ? 'unknown' : 'off' }
        return structuredClone(this.world.settings)
      },
    }
    const op = ops[name] as ((a: Args<N>) => Result<N>) | undefined
    if (!op) throw new StewardError('not_found', `no operation ${name}`)
    return op(args)
  }

  #find(id: string): Handoff {
    const h = this.world.handoffs.find((x) => x.id === id)
    if (!h) throw new StewardError('not_found', 'handoff not found')
    return h
  }

  #record(h: Handoff, from: string | undefined, type: string, more: Partial<Transition> = {}): void {
    const e = this.report({ actor: 'user', type, object_id: h.id, object_type: 'handoff', outcome: h.status, source: 'person' })
    const list = this.#history.get(h.id) ?? []
    list.push({ event_id: e.id, at: e.at, type, actor: 'user', source: 'person', ...(from ? { from: from as Status } : {}), to: h.status, target: h.target, fence: h.fence, ...more } as Transition)
    this.#history.set(h.id, list)
  }

  #fenced(h: Handoff, fence: number | undefined): void {
    if (final(h.status)) throw new StewardError('closed', `${h.id} is ${h.status}: it has ended`, { current: { ...h } })
    if (fence !== undefined && fence !== h.fence) throw new StewardError('conflict', `${h.id} has changed`, { current: { ...h } })
  }

  #create(a: Ops['handoff_create']['args']): Result<'handoff_create'> {
    const same = this.world.handoffs.find((h) => h.idempotency_key === a.idempotency_key)
    if (same) {
      const equal = same.instruction === a.instruction && same.target === a.target
      return { handoff: { ...same }, created: false, duplicate: equal, conflict: !equal }
    }
    if (!this.world.settings.about.targets.includes(a.target)) throw new StewardError('invalid', `target: one of ${this.world.settings.about.targets.join(', ')}`, { field: 'target' })
    const h: Handoff = {
      id: `hnd_01KBFAKE0000000000000${String(this.world.handoffs.length + 1000)}`, target: a.target, status: 'pending', instruction: a.instruction, attachments: (a.attachments ?? []) as Handoff['attachments'],
      context: a.context ?? null, idempotency_key: a.idempotency_key, source_session_id: 'user', worker_session_id: null, fence: 0, outcome: null, metrics: null, error: null,
      created_at: iso(this.now), claimed_at: null, running_at: null, finished_at: null,
    }
    this.world.handoffs.unshift(h)
    this.#record(h, undefined, 'handoff_created')
    return { handoff: { ...h }, created: true, duplicate: false, conflict: false }
  }

  #claim(a: Ops['handoff_claim']['args']): Result<'handoff_claim'> {
    const h = this.#find(a.handoff_id)
    let changed = false
    if (h.status === 'pending') {
      Object.assign(h, { status: 'claimed', worker_session_id: a.worker_session_id, claimed_at: iso(this.now), fence: h.fence + 1 })
      this.#record(h, 'pending', 'handoff_claimed', { worker: a.worker_session_id })
      changed = true
    } else if (h.worker_session_id !== a.worker_session_id || final(h.status)) {
      return { claimed: false, changed: false, status: h.status, owner: h.worker_session_id ?? '', fence: h.fence, handoff: { ...h } }
    } else if (h.status === 'claimed') {
      Object.assign(h, { status: 'running', running_at: iso(this.now) })
      this.#record(h, 'claimed', 'handoff_running', { worker: a.worker_session_id })
      changed = true
    }
    return { claimed: true, changed, status: h.status, owner: h.worker_session_id ?? '', fence: h.fence, handoff: { ...h } }
  }

  #end(a: Ops['handoff_settle']['args']): Handoff {
    const h = this.#find(a.handoff_id)
    this.#fenced(h, a.fence)
    const from = h.status
    const previous = h.worker_session_id
    Object.assign(h, { status: a.status, outcome: a.outcome ?? null, finished_at: iso(this.now), worker_session_id: null, fence: h.fence + 1 })
    this.#record(h, from, 'handoff_settled', { decided_by: 'human', ...(a.reason ? { reason: a.reason } : {}), ...(previous ? { previous_owner: previous } : {}) })
    return { ...h }
  }

  #release(a: Ops['handoff_release']['args']): Handoff {
    const h = this.#find(a.handoff_id)
    this.#fenced(h, a.fence)
    if (h.status === 'pending') throw new StewardError('conflict', `${h.id} is pending: nobody holds it`, { current: { ...h } })
    const from = h.status
    const previous = h.worker_session_id ?? ''
    Object.assign(h, { status: 'pending', worker_session_id: null, claimed_at: null, running_at: null, fence: h.fence + 1 })
    this.#record(h, from, 'handoff_released', { previous_owner: previous, decided_by: 'human', ...(a.reason ? { reason: a.reason } : {}) })
    return { ...h }
  }

  #brief(): Brief {
    const { events, handoffs } = this.world
    const now = this.now
    const since = (ms: number) => events.filter((e) => now - Date.parse(e.at) < ms && e.type !== 'focus' && e.source !== 'import')
    const movers = new Map<string, Mover>()
    for (const e of since(30 * 60_000)) {
      const m = movers.get(e.actor) ?? { actor: e.actor, workspace: e.workspace, last_at: e.at, last: { id: e.id, type: e.type }, count: 0, buckets: new Array<number>(15).fill(0) }
      const bucket = 14 - Math.min(14, Math.floor((now - Date.parse(e.at)) / 120_000))
      m.buckets[bucket] = (m.buckets[bucket] ?? 0) + 1
      movers.set(e.actor, { ...m, last_at: e.at, count: m.count + 1, last: { id: e.id, type: e.type, object_id: e.object_id, outcome: e.outcome } } as Mover)
    }
    const items = [...movers.values()].filter((m) => m.actor !== 'user').sort((a, b) => b.last.id - a.last.id)
    const working = items.filter((m) => now - Date.parse(m.last_at) < 5 * 60_000).length
    const failures = new Map<string, KeyEvent>()
    const keys: KeyEvent[] = []
    for (const e of events) {
      const id = [e.workspace, e.actor, e.object_id].join('\n')
      if (failing(e)) {
        const was = failures.get(id)
        failures.delete(id)
        failures.set(id, { ...e, count: (was?.count ?? 0) + 1, first_id: was?.first_id ?? e.id, first_at: was?.first_at ?? e.at } as KeyEvent)
      } else if (e.type === 'done' || e.type === 'resolved') failures.delete(id)
      if (!e.injectable) continue
      const same = failing(e) ? keys.findIndex((k) => failing(k) && k.actor === e.actor && k.workspace === e.workspace && k.object_id === e.object_id && k.type === e.type) : -1
      const was = same >= 0 ? keys.splice(same, 1)[0] : undefined
      keys.push({ ...e, count: (was?.count ?? 0) + 1, first_id: was?.first_id ?? e.id, first_at: was?.first_at ?? e.at } as KeyEvent)
    }
    const standing = [...failures.values()].filter((f) => !this.acknowledged.has(f.id)).reverse()
    const counts = Object.fromEntries(statuses.map((s) => [s, handoffs.filter((h) => h.status === s).length])) as unknown as Brief['handoffs']['counts']
    const waiting = handoffs.filter((h) => h.status === 'pending' && now - Date.parse(h.created_at) >= 600_000).length
    const last = events.at(-1)?.id ?? 0
    const cards = new Map<string, boolean>()
    for (const t of this.#pending()) cards.set(t.card, cards.get(t.card) === true || t.urgency === 'blocking')
    const needs = cards.size + waiting
    const fresh = events.filter((e) => e.id > this.world.lookedThrough)
    return {
      now: iso(now),
      last_event_id: last,
      looked: { through_id: this.world.lookedThrough, at: this.world.lookedAt === null ? null : iso(this.world.lookedAt) },
      fresh: { total: fresh.length, key: fresh.filter((e) => e.injectable).length, key_more: false },
      key_events: keys.reverse().slice(0, 40),
      key_events_more: keys.length > 40,
      failures: { total: standing.length, items: standing.slice(0, 50) },
      movers: { total: items.length, more: false, items: items.slice(0, 12) },
      working: { total: working, more: false },
      focus: this.world.focus,
      decisions: { pending: cards.size, blocking: [...cards.values()].filter(Boolean).length },
      handoffs: { counts, waiting, open: handoffs.filter((h) => !final(h.status)).slice(0, 10).map(summary) },
      orb: {
        face: needs > 0 && standing.length > 0 ? 'both' : standing.length > 0 ? 'failure' : needs > 0 ? 'needs' : working > 0 ? 'working' : 'idle',
        needs, failures: standing.length, working,
      },
      changes_at: null,
    } as Brief
  }

  #makeShell(shape: ShapeName, compositor: boolean): Shell {
    const ask = (what: string, then?: Shape) => {
      this.asked.push(what)
      if (then) queueMicrotask(() => this.shape(then))
    }
    return {
      ready: () => Promise.resolve({ shape, attached: false, compositor }),
      open: (view) => ask('open', { shape: 'panel', inside: { x: 'right', y: 'bottom' }, ...(view ? { view } : {}) }),
      fold: () => ask('fold', { shape: 'orb' }),
      menu: () => ask('menu', { shape: 'menu', inside: { x: 'right', y: 'bottom' } }),
      quit: () => ask('quit'),
      drag: () => ask('drag'),
      copy: (text) => {
        ask(`copy ${text}`)
        return Promise.resolve()
      },
      onShape: (on) => (this.#shape = on),
    }
  }
}

function historyOf(h: Handoff): Transition[] {
  const out: Transition[] = []
  const add = (to: string, at: string | null, actor: string | null, type: string) => {
    if (at) out.push({ event_id: out.length + 1, at, type, actor: actor ?? 'unknown', source: 'claimed', to, target: h.target, fence: out.length } as Transition)
  }
  add('pending', h.created_at, h.source_session_id, 'handoff_created')
  add('claimed', h.claimed_at, h.worker_session_id, 'handoff_claimed')
  add('running', h.running_at, h.worker_session_id, 'handoff_running')
  add(h.status, h.finished_at, h.worker_session_id, 'handoff_finished')
  return out
}
