// Everything the page knows and where it stands. Components read it, actions
// change it.

import { getContext, setContext, tick } from 'svelte'
import { lost } from '../actions/decide'
import { sayError } from '../errors'
import { t } from '../i18n/i18n.svelte'
import type { EventGetResult } from '../ops.gen'
import {
  asError,
  type Change,
  type Link,
  type Shape,
  type ShapeName,
  type StewardError,
  type Transport,
} from '../transport/transport'
import { isolated } from '../ui/text'
import type { Draft } from '../panels/handoffs/draft'
import { final, type Status } from '../types'
import { BriefStore } from './brief.svelte'
import { Clock } from './clock.svelte'
import { HandoffStore } from './handoffs.svelte'
import { SettingsStore } from './settings.svelte'
import { TicketStore } from './tickets.svelte'

/** The views there are, in the order of their tabs and number keys. */
export const views = ['brief', 'decide', 'handoffs', 'settings'] as const
export type View = (typeof views)[number]
export const isView = (s: unknown): s is View => views.includes(s as View)

/** A question that must be answered before something final is done. */
export interface Settling {
  to: 'done' | 'failed' | 'cancelled' | 'released'
  id: string
  fence: number
  worker: string
}

export interface Note {
  text: string
  hint: string
  bad: boolean
}

/** The handoff that keys and buttons act on. */
export interface Current {
  id: string
  short: string
  status: Status
  fence: number
  worker: string
}

const noteFor = 6_000 // ms

export class App {
  readonly transport: Transport
  readonly clock = new Clock()
  readonly brief: BriefStore
  readonly tickets: TicketStore
  readonly handoffs: HandoffStore
  readonly settings: SettingsStore

  link = $state.raw<Link>({ state: 'opening' })
  shape = $state<ShapeName>('panel')
  inside = $state.raw<NonNullable<Shape['inside']>>({ x: 'right', y: 'bottom' })
  compositor = $state(true)
  view = $state<View>('brief')
  /** The event that is open in full in Brief; 0 for none. */
  eventId = $state(0)
  event = $state.raw<EventGetResult | null>(null)
  eventError = $state.raw<StewardError | null>(null)
  /** The failure that keys act on. */
  failure = $state(0)
  /** What was written into the form for a new handoff and not sent. */
  draft = $state<Draft | null>(null)
  /** Whether the form for a new handoff is open. */
  composing = $state(false)
  settling = $state.raw<Settling | null>(null)
  help = $state(false)
  note = $state.raw<Note | null>(null)
  /** What a screen reader is told. */
  spoken = $state('')
  visible = $state(true)

  #linkSaid = $state(false)
  #noteTimer: ReturnType<typeof setTimeout> | undefined
  #ends: (() => void)[] = []

  constructor(transport: Transport) {
    this.transport = transport
    this.brief = new BriefStore(transport, this.clock)
    this.tickets = new TicketStore(transport, this.clock, (gone) => lost(this, gone))
    this.handoffs = new HandoffStore(transport)
    this.settings = new SettingsStore(transport)
  }

  /** Whether the page stands in Steward's window, where it can fold. */
  get windowed(): boolean {
    return this.transport.shell !== null
  }

  /** Whether the ledger can be read, as far as anybody said. */
  get readable(): boolean {
    return this.link.state === 'live' || !this.#linkSaid
  }

  /** Whether something lies over the view that Esc goes back from. */
  get deep(): boolean {
    return (this.view === 'brief' && this.eventId !== 0) || (this.view === 'handoffs' && (this.composing || this.handoffs.open !== ''))
  }

  /** Whether the queue of questions is on the screen. */
  get deciding(): boolean {
    return this.shape === 'panel' && this.view === 'decide' && this.link.state !== 'signed-out'
  }

  get current(): Current | null {
    if (this.view !== 'handoffs' || this.composing) return null
    const { open, detail, selected, list } = this.handoffs
    if (open !== '') {
      if (!detail) return null
      const h = detail.handoff
      return { id: h.id, short: detail.short_id, status: h.status, fence: h.fence, worker: h.worker_session_id ?? '' }
    }
    const h = list?.find((s) => s.id === selected)
    return h ? { id: h.id, short: `H-${h.id.slice(-4)}`, status: h.status, fence: h.fence, worker: h.worker_session_id ?? '' } : null
  }

  get claimable(): boolean {
    return this.current?.status === 'pending'
  }

  get startable(): boolean {
    return this.current?.status === 'claimed' && this.current.worker === 'user'
  }

  get releasable(): boolean {
    return this.current?.status === 'claimed' || this.current?.status === 'running'
  }

  get settleable(): boolean {
    return this.current !== null && !final(this.current.status)
  }

  /** start connects the page to its transport; stop undoes it. */
  async start(): Promise<void> {
    const { shell } = this.transport
    this.#ends.push(this.transport.follow({ change: (c) => this.#changed(c), link: (l) => this.#linked(l) }))
    const on = (target: Window | Document, type: string, f: () => void) => {
      target.addEventListener(type, f)
      this.#ends.push(() => target.removeEventListener(type, f))
    }
    on(document, 'visibilitychange', () => this.#seen(document.visibilityState === 'visible'))
    on(window, 'pagehide', () => void this.brief.left())
    this.visible = document.visibilityState === 'visible'
    if (shell) {
      this.shape = 'orb'
      shell.onShape((s) => this.reshape(s))
      try {
        const ready = await shell.ready()
        this.compositor = ready.compositor
        if (this.shape !== ready.shape) this.reshape({ shape: ready.shape })
      } catch (e) {
        this.fail(asError(e))
      }
    }
    this.clock.run(this.visible && this.shape === 'panel')
    if (this.link.state !== 'signed-out') await this.reload()
  }

  stop(): void {
    for (const end of this.#ends.splice(0)) end()
    this.clock.run(false)
    this.brief.stop()
    this.tickets.rest()
    clearTimeout(this.#noteTimer)
  }

  /** reload reads everything that is on the page anew. */
  async reload(): Promise<void> {
    await Promise.all([
      this.brief.refresh(),
      this.settings.load().catch(() => {}), // the copy in the browser stands in
      this.deciding ? this.tickets.show() : null,
      this.view === 'handoffs' ? this.handoffs.refresh() : null,
    ])
  }

  #changed(c: Change): void {
    if (this.link.state === 'signed-out') return
    if (this.deciding) void this.tickets.refresh()
    if (c.type === 'ticket') return // the brief came with its events
    void this.brief.refresh()
    if (c.type !== 'ledger') void this.settings.load().catch(() => {})
    if (this.shape === 'panel' && this.view === 'handoffs') void this.handoffs.refresh()
  }

  #linked(l: Link): void {
    const was = this.link.state
    this.link = l
    this.#linkSaid = true
    if (l.state === 'live' && (was === 'lost' || was === 'stalled')) {
      this.spoken = t('link.back')
      void this.reload()
    } else if (l.state === 'live' && was === 'opening' && this.brief.data === null) void this.brief.refresh()
  }

  #seen(visible: boolean): void {
    if (visible === this.visible) return
    this.visible = visible
    this.clock.run(visible && this.shape === 'panel')
    if (!visible) void this.brief.left()
    else if (this.link.state !== 'signed-out') void this.reload()
  }

  /** reshape follows the window: orb, menu or panel. */
  reshape(s: Shape): void {
    const was = this.shape
    this.shape = s.shape
    if (s.inside) this.inside = s.inside
    if (s.compositor !== undefined) this.compositor = s.compositor
    if (isView(s.view)) this.view = s.view
    this.clock.run(this.visible && s.shape === 'panel')
    if (s.shape !== 'panel') {
      this.help = false
      this.settling = null
    }
    if (this.deciding) void this.tickets.show()
    else this.tickets.rest()
    if (was === 'panel' && s.shape !== 'panel') {
      void this.brief.left()
      this.eventId = 0
    }
    if (s.shape === 'panel' && this.view === 'handoffs') void this.handoffs.refresh()
    if (was !== s.shape) void this.focusOn(s.shape === 'orb' ? '[data-focus="orb"]' : s.shape === 'menu' ? '[role="menuitem"]' : '[data-focus="head"]')
  }

  /** go shows a view, and its list rather than what was open in it when it is shown already. */
  go(view: View, focus = true): void {
    if (view === this.view) this.back()
    this.#look(view)
    if (view === 'handoffs') void this.handoffs.refresh()
    if (view === 'settings') void this.settings.load().catch((e) => this.fail(asError(e)))
    if (focus) void this.focusOn('[data-focus="head"]')
  }

  // look changes the view; the queue keeps time only while somebody sees it.
  #look(view: View): void {
    const was = this.view
    this.view = view
    if (this.deciding) void this.tickets.show()
    else if (was === 'decide') this.tickets.rest()
  }

  /** back leaves what is open over the view, and puts the focus where it came from. */
  back(): void {
    if (this.view === 'brief' && this.eventId !== 0) {
      const id = this.eventId
      this.eventId = 0
      this.event = null
      void this.focusOn(`[data-row="event-${id}"]`)
    } else if (this.view === 'handoffs' && this.composing) {
      this.composing = false
      void this.focusOn('[data-action="handoff.new"]')
    } else if (this.view === 'handoffs' && this.handoffs.open) {
      const id = this.handoffs.open
      void this.handoffs.review('')
      void this.focusOn(`[data-row="handoff-${id}"]`)
    }
  }

  /** openEvent shows an event in full. */
  async openEvent(id: number): Promise<void> {
    this.#look('brief')
    this.eventId = id
    this.event = null
    this.eventError = null
    void this.focusOn('[data-focus="head"]')
    try {
      const e = await this.transport.call('event_get', { event_id: id })
      if (this.eventId === id) this.event = e
    } catch (e) {
      if (this.eventId === id) this.eventError = asError(e)
    }
  }

  /** openHandoff shows a handoff under review. */
  openHandoff(id: string): void {
    this.#look('handoffs')
    this.composing = false
    void this.handoffs.review(id)
    void this.focusOn('[data-focus="head"]')
  }

  /** focusOn puts the focus on the first element that matches, once it is there. */
  async focusOn(selector: string): Promise<void> {
    await tick()
    const it = document.querySelector<HTMLElement>(selector) ?? document.querySelector<HTMLElement>('[data-focus="head"]')
    it?.focus({ preventScroll: selector === '[data-focus="head"]' })
  }

  /** say shows a note for a while and tells the screen reader. */
  say(text: string): void {
    this.#show({ text, hint: '', bad: false })
    this.#noteTimer = setTimeout(() => (this.note = null), noteFor)
  }

  /** fail shows an error until it is dismissed or something else is said. */
  fail(e: StewardError): void {
    if (e.code === 'signed_out') return // the sign-in page says it
    this.#show({ ...sayError(e), bad: true })
  }

  /** warn shows a note until it is dismissed or something else is said. */
  warn(text: string): void {
    this.#show({ text, hint: '', bad: true })
  }

  #show(n: Note): void {
    clearTimeout(this.#noteTimer)
    this.note = n
  }

  dismiss(): void {
    clearTimeout(this.#noteTimer)
    this.note = null
  }

  /** copy puts text on the clipboard, or shows it where that is not allowed. */
  async copy(text: string): Promise<void> {
    try {
      if (this.transport.shell) await this.transport.shell.copy(text)
      else await navigator.clipboard.writeText(text)
      this.say(t('note.copied'))
    } catch {
      this.#show({ text: t('note.notCopied', { text: isolated(text, 400) }), hint: '', bad: true })
    }
  }
}

const key = Symbol('app')

/** provide makes the app known to all components below. */
export const provide = (app: App): App => setContext(key, app)

/** contextOf is provide for a component that is mounted by itself. */
export const contextOf = (app: App): Map<symbol, App> => new Map([[key, app]])

/** useApp is the app that the page was started with. */
export const useApp = (): App => getContext<App>(key)
