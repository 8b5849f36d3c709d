// The queue of questions: what waits, in the order of this page, and what was
// answered a moment ago.

import { asError, type StewardError, type Transport } from '../transport/transport'
import type { TicketAnswerResult } from '../ops.gen'
import type { Ticket } from '../types'
import { answersOf, arrange, first, hold, keyOf, shortTicket, type Answered, type Card, type Group } from './cards'
import type { Clock } from './clock.svelte'
import { coalesce } from './refresh'

/** How long an answer can be taken back, ms. */
export const undoWithin = 5 * 60_000
export const maxAnswer = 2_000 // characters

const holdFor = 3_000 // ms that the order stands still after a person touched a card
const startle = 400 // ms in which nobody can have read the card that took another's place
const deafFor = 1_000 // ms without a key until somebody who was writing has noticed
const atOnce = 201 // tickets that one call answers
const pageOf = 50 // cards that are shown before one asks for more

/** What a person has chosen or written for a card and not sent. */
export interface Draft {
  /** The option, from 1; 0 for none: then the text counts. */
  pick: number
  text: string
  /** Which of this page's turns touched it last. */
  turn: number
}

/** A card that went away without this page's doing. */
export interface Gone {
  card: Card
  became: 'answered' | 'expired' | 'cancelled'
  /** It was the selected one. */
  selected: boolean
  /** What was written for it, '' for nothing. */
  text: string
}

interface Sending {
  card: Card
  answer: string
  done: Promise<unknown>
}

/** An answer for everybody whom a card named. */
export type Reached = Pick<TicketAnswerResult, 'answered'> & { missed: Ticket[] }

const blank: Draft = { pick: 0, text: '', turn: 0 }
const clock = () => performance.now()

/** TicketStore holds what ticket_list said last, and what this page does with it. */
export class TicketStore {
  list = $state.raw<Ticket[] | null>(null)
  error = $state.raw<StewardError | null>(null)
  groups = $state.raw<Group[]>([])
  answered = $state.raw<Answered[]>([])
  /** The card that keys act on, by its key. */
  selected = $state('')
  /** The card that is being written for, '' for none. */
  writing = $state('')
  drafts = $state<Record<string, Draft>>({})
  /** How many cards are on the page at most, but for the selected one. */
  limit = $state(pageOf)
  /** What a screen reader is told of the queue. */
  spoken = $state('')

  /** The answer that the next undo takes back, by its key; '' for the last one. */
  marked = ''

  #transport: Transport
  #clock: Clock
  #gone: (g: Gone[]) => void
  #on = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #holdTimer: ReturnType<typeof setTimeout> | undefined
  #heldUntil = -Infinity
  #turn = 0 // drafts and replacements in the order in which they came
  #replacedAt = -Infinity // when the selected card took another's place
  #replacedTurn = 0
  #foreign = false // it did so without this page's doing
  #deafUntil = -Infinity
  #split = new Set<string>()
  #skipped: string[] = []
  #sending: Sending[] = []
  #since = new Map<string, number>() // ticket id → when it came onto its card

  readonly refresh: () => Promise<void>

  constructor(transport: Transport, pageClock: Clock, gone: (g: Gone[]) => void) {
    this.#transport = transport
    this.#clock = pageClock
    this.#gone = gone
    this.refresh = coalesce(() => this.#load())
  }

  get cards(): readonly Card[] {
    return this.groups.flatMap((g) => g.cards)
  }

  /** The card that keys act on. */
  get current(): Card | null {
    return this.cards.find((c) => c.key === this.selected) ?? null
  }

  /** How many cards the page shows: as many as it should, and the one that keys act on in any case. */
  get room(): number {
    return Math.max(this.limit, this.cards.findIndex((c) => c.key === this.selected) + 1)
  }

  /** What the next undo takes back. */
  get undoable(): Answered | null {
    return this.answered.find((a) => a.key === this.marked && a.at > 0) ?? this.answered[0] ?? null
  }

  draft(key: string): Draft {
    return this.drafts[key] ?? blank
  }

  async #load(): Promise<void> {
    try {
      const r = await this.#transport.call('ticket_list', {})
      this.#clock.set(Date.parse(r.now))
      this.list = r.tickets
      this.error = null
      this.arrange()
    } catch (e) {
      this.error = asError(e)
    }
  }

  /** show starts to keep the queue, rest stops its timers. */
  show(): Promise<void> {
    this.#on = true
    return this.refresh()
  }

  rest(): void {
    this.#on = false
    this.writing = ''
    clearTimeout(this.#timer)
    clearTimeout(this.#holdTimer)
    this.#heldUntil = -Infinity
  }

  /**
   * arrange brings cards and order up to date. While a person is in the middle of
   * something only what they did themselves (own) changes what is there.
   */
  arrange(own = false): void {
    if (!this.list) return
    const now = this.#clock.read()
    const busy = new Set(this.#sending.flatMap((s) => s.card.tickets).map((t) => t.id))
    const waits = (t: Ticket) => t.status === 'pending' && Date.parse(t.expires_at) > now
    const pending = this.list.filter((t) => waits(t) && !busy.has(t.id))
    const ideal = arrange(pending, { split: this.#split, skipped: this.#skipped })
    const before = this.cards
    this.groups = !own && this.#held() ? hold(this.groups, ideal) : ideal

    const settled = answersOf(this.list.filter((t) => t.status === 'answered' && Date.parse(t.answered_at ?? '') + undoWithin > now))
    const known = new Set(settled.flatMap((a) => a.tickets).map((t) => t.id))
    const sending = this.#sending
      .filter((s) => !s.card.tickets.some((t) => known.has(t.id)))
      .map((s): Answered => ({ key: first(s.card).id, tickets: s.card.tickets, answer: s.answer, at: 0 }))
    this.answered = [...sending.reverse(), ...settled]

    this.#follow(before, busy)
    this.#arm(now)
  }

  // follow keeps the selection and the drafts with the cards that are there.
  #follow(before: readonly Card[], busy: ReadonlySet<string>): void {
    const cards = this.cards
    const keys = new Set(cards.map((c) => c.key))
    const at = clock()
    const since = new Map<string, number>()
    for (const c of cards) for (const t of c.tickets) since.set(t.id, this.#since.get(t.id) ?? at)
    this.#since = since

    const shown = new Set(cards.flatMap((c) => c.tickets).map((t) => t.id))
    const lost = before.filter((c) => !keys.has(c.key) && !c.tickets.some((t) => shown.has(t.id) || busy.has(t.id)))
    const gone = lost.map((card): Gone => {
      const d = this.draft(card.key)
      return { card, became: this.#became(card), selected: card.key === this.selected, text: d.pick === 0 ? d.text.trim() : '' }
    })
    for (const g of gone) {
      delete this.drafts[g.card.key]
      if (this.writing === g.card.key) {
        this.writing = ''
        this.#deafUntil = at + deafFor
      }
    }
    if (!keys.has(this.selected)) {
      const i = before.findIndex((c) => c.key === this.selected)
      const near = [...before.slice(i + 1), ...before.slice(0, Math.max(0, i)).reverse()].find((c) => keys.has(c.key))
      const was = this.selected
      this.selected = (near ?? cards[0])?.key ?? ''
      if (was !== '') {
        this.#replacedAt = at
        this.#replacedTurn = ++this.#turn
        this.#foreign = gone.some((g) => g.selected)
      }
    }
    if (gone.length > 0) this.#gone(gone)
  }

  #became(card: Card): Gone['became'] {
    const ids = new Set(card.tickets.map((t) => t.id))
    if (this.list?.some((t) => ids.has(t.id) && t.status === 'answered')) return 'answered'
    return card.expires <= this.#clock.read() + 50 ? 'expired' : 'cancelled'
  }

  // arm waits for the next moment at which time alone changes the queue.
  #arm(now: number): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!this.#on) return
    const next = Math.min(...this.cards.map((c) => c.expires), ...this.answered.filter((a) => a.at > 0).map((a) => a.at + undoWithin))
    if (next === Infinity) return
    this.#timer = setTimeout(() => {
      this.arrange() // also while nobody answers: silence is no answer
      void this.refresh()
    }, Math.min(2 ** 31 - 1, Math.max(0, next - now) + 20))
  }

  #held(): boolean {
    return this.writing !== '' || clock() < this.#heldUntil
  }

  /** touch lets the order stand still for a moment. */
  touch(): void {
    this.#heldUntil = clock() + holdFor
    clearTimeout(this.#holdTimer)
    this.#holdTimer = setTimeout(() => this.arrange(), holdFor + 5)
  }

  /** select makes a card the one that keys act on. */
  select(key: string): void {
    if (this.cards.some((c) => c.key === key)) this.selected = key
  }

  /** step selects the next card, or the one before, and tells which it is. */
  step(by: 1 | -1): Card | null {
    const { cards } = this
    const i = cards.findIndex((c) => c.key === this.selected)
    const to = cards[Math.min(cards.length - 1, Math.max(0, i + by))] ?? null
    if (to && to.key !== this.selected) {
      this.selected = to.key
      this.#replacedAt = -Infinity
    }
    if (cards.length > this.limit && cards.findIndex((c) => c.key === to?.key) >= this.limit) this.more()
    return to
  }

  /** more puts more cards on the page. */
  more(): void {
    this.limit += pageOf
  }

  pick(key: string, n: number): void {
    this.drafts[key] = { ...this.draft(key), pick: n, turn: ++this.#turn }
    this.touch()
  }

  write(key: string, text: string): void {
    this.drafts[key] = { pick: 0, text, turn: ++this.#turn }
    this.touch()
  }

  /** wrote is called when the text is left. */
  wrote(key: string): void {
    if (this.writing !== key) return
    this.writing = ''
    this.touch()
  }

  /**
   * blocks tells whether a key comes too soon after the card under the hands was
   * replaced to have been meant for the new one.
   */
  blocks(key: string): boolean {
    const at = clock()
    const letter = [...key].length === 1
    if (at < this.#deafUntil && (letter || key === 'Enter')) {
      this.#deafUntil = at + deafFor
      return true
    }
    return this.#foreign && at - this.#replacedAt < startle && (key === 'Enter' || key === 's' || /^[1-9]$/.test(key))
  }

  /** ready tells whether a card's draft can have been meant for it. */
  ready(key: string): boolean {
    return clock() - this.#replacedAt >= startle || this.draft(key).turn > this.#replacedTurn
  }

  /** skip moves a card to the end of this page's order. */
  skip(key: string): void {
    const before = this.cards
    const i = before.findIndex((c) => c.key === key)
    if (i < 0) return
    this.#skipped = [...this.#skipped.filter((k) => k !== key && before.some((c) => c.key === k)), key]
    if (this.selected === key) this.selected = (before[i + 1] ?? before[0])?.key ?? ''
    this.arrange(true)
  }

  /** split lets each ticket of a card stand alone, join puts them together again. */
  split(card: Card): void {
    this.#regroup(card, true)
  }

  join(card: Card): void {
    this.#regroup(card, false)
  }

  #regroup(card: Card, apart: boolean): void {
    const t = first(card)
    if (apart) this.#split.add(t.card)
    else this.#split.delete(t.card)
    const key = keyOf(t, { split: this.#split, skipped: [] })
    const d = this.drafts[card.key]
    delete this.drafts[card.key]
    if (d) this.drafts[key] = d
    this.#skipped = this.#skipped.map((k) => (k === card.key ? key : k))
    this.selected = key
    this.arrange(true)
  }

  /** idsOf is whom an answer to the card reaches: those it has shown for long enough to be seen. */
  idsOf(card: Card): string[] {
    const at = clock()
    const ids = card.tickets.map((t) => t.id)
    const seen = ids.filter((id) => at - (this.#since.get(id) ?? at) >= startle)
    return seen.length > 0 ? seen : ids
  }

  /**
   * send answers a card. The card leaves at once, and comes back with its draft
   * when the answer was not taken.
   */
  async send(card: Card, answer: string): Promise<Reached> {
    const ids = this.idsOf(card)
    const sent = { ...card, tickets: card.tickets.filter((t) => ids.includes(t.id)) }
    const job = this.#answer(ids, answer)
    const entry: Sending = { card: sent, answer, done: job.catch(() => {}) }
    const draft = this.drafts[card.key]
    delete this.drafts[card.key]
    if (this.writing === card.key) this.writing = ''
    this.#sending.push(entry)
    this.#heldUntil = -Infinity
    this.arrange(true)
    const forget = () => (this.#sending = this.#sending.filter((s) => s !== entry))
    try {
      const r = await job
      this.#merge([...r.answered, ...r.missed])
      // A list that was asked for before the answer still has the card.
      void this.refresh().finally(() => {
        forget()
        this.arrange()
      })
      return r
    } catch (e) {
      forget()
      if (draft) this.drafts[card.key] ??= draft
      this.arrange()
      throw e
    }
  }

  async #answer(ids: readonly string[], answer: string): Promise<Reached> {
    const out: Reached = { answered: [], missed: [] }
    for (let i = 0; i < ids.length; i += atOnce) {
      const [id, ...others] = ids.slice(i, i + atOnce) as [string, ...string[]]
      try {
        const r = await this.#transport.call('ticket_answer', { id, answer, ...(others.length > 0 ? { ids: others } : {}) })
        out.answered.push(...r.answered)
        out.missed.push(...(r.missed ?? []))
      } catch (e) {
        if (out.answered.length === 0) throw e
        break // the rest is pending and shows as it is
      }
    }
    return out
  }

  #merge(changed: readonly Ticket[]): void {
    const by = new Map(changed.map((t) => [t.id, t]))
    this.list = this.list?.map((t) => by.get(t.id) ?? t) ?? null
    this.arrange()
  }

  /** undo takes an answer back and returns the card that waits again. */
  async undo(what: Answered): Promise<string> {
    await this.sent()
    const back: Ticket[] = []
    const ids = what.tickets.map((t) => t.id)
    for (let i = 0; i < ids.length; i += atOnce) {
      const [id, ...others] = ids.slice(i, i + atOnce) as [string, ...string[]]
      const r = await this.#transport.call('ticket_undo', { id, ...(others.length > 0 ? { ids: others } : {}) })
      back.push(...r.tickets)
    }
    await this.refresh()
    const t = back[0]
    const key = t ? keyOf(t, { split: this.#split, skipped: [] }) : ''
    this.arrange(true)
    if (this.cards.some((c) => c.key === key)) {
      this.selected = key
      this.#replacedAt = clock()
      this.#replacedTurn = ++this.#turn
      this.#foreign = false
    }
    return key
  }

  /** sent waits for the answers that are on their way. */
  async sent(): Promise<void> {
    await Promise.all(this.#sending.map((s) => s.done))
  }
}

/** nameOf is how a card is called: by the id of its first ticket. */
export const nameOf = (tickets: readonly Ticket[]): string => shortTicket(tickets[0]?.id ?? '')
