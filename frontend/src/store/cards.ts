// Tickets as a person sees them: the same question of several agents is one card,
// cards stand in groups by stream. Everything here is a function of what it is
// given.

import type { Ticket } from '../types'

/** One question, and everybody who asked it. */
export interface Card {
  /** Tickets' `card`; the ticket's id where the card was split. */
  key: string
  /** Oldest first, at least one. The answer goes to all of them. */
  tickets: readonly Ticket[]
  /** The highest of its tickets'. */
  urgency: Ticket['urgency']
  /** When the first of its tickets expires, ms since 1970. */
  expires: number
  /** Each once, oldest asker first. */
  streams: readonly string[]
  /** It was split off and could be joined again. */
  apart: boolean
}

export interface Group {
  key: string
  /** Empty for the cards that were skipped. */
  stream: string
  /** When the stream last asked, ms since 1970; of skipped ones 0. */
  asked: number
  cards: readonly Card[]
}

/** What one answer reached. */
export interface Answered {
  key: string
  tickets: readonly Ticket[]
  answer: string
  /** ms since 1970; 0 while it is on its way */
  at: number
}

/** What this page alone does with the order. */
export interface Own {
  /** The `card`s whose tickets stand alone. */
  split: ReadonlySet<string>
  /** Keys of cards, in the order in which they were skipped. */
  skipped: readonly string[]
}

const rank = { blocking: 0, normal: 1, low: 2 } as const
const ms = (s: string): number => Date.parse(s)
const older = (a: Ticket, b: Ticket): number => ms(a.created_at) - ms(b.created_at) || (a.id < b.id ? -1 : 1)

/** The first of a card's tickets: it names the card, and its stream has the place. */
export const first = (c: Card): Ticket => c.tickets[0] as Ticket

/** keyOf is the key of the card that a ticket stands in. */
export const keyOf = (t: Ticket, own: Own): string => (own.split.has(t.card) ? t.id : t.card)

/** shortTicket is what people see of an id. */
export const shortTicket = (id: string): string => (id.startsWith('tkt_') ? `T-${id.slice(-4)}` : id)

function cardOf(key: string, tickets: readonly Ticket[], apart: boolean): Card {
  return {
    key,
    tickets,
    urgency: tickets.reduce<Ticket['urgency']>((u, t) => (rank[t.urgency] < rank[u] ? t.urgency : u), 'low'),
    expires: Math.min(...tickets.map((t) => ms(t.expires_at))),
    streams: [...new Set(tickets.map((t) => t.stream))],
    apart,
  }
}

/** arrange puts pending tickets into cards and cards into groups. */
export function arrange(pending: readonly Ticket[], own: Own): Group[] {
  const asked = new Map<string, number>()
  const alike = new Map<string, number>()
  const byKey = new Map<string, Ticket[]>()
  for (const t of [...pending].sort(older)) {
    asked.set(t.stream, Math.max(asked.get(t.stream) ?? 0, ms(t.created_at)))
    alike.set(t.card, (alike.get(t.card) ?? 0) + 1)
    const key = keyOf(t, own)
    const same = byKey.get(key)
    if (same) same.push(t)
    else byKey.set(key, [t])
  }
  const groups = new Map<string, Card[]>()
  const skipped: Card[] = []
  for (const [key, tickets] of byKey) {
    const t = tickets[0] as Ticket
    const card = cardOf(key, tickets, own.split.has(t.card) && (alike.get(t.card) ?? 0) > 1)
    if (own.skipped.includes(key)) skipped.push(card)
    else groups.set(t.stream, [...(groups.get(t.stream) ?? []), card])
  }
  const order = (a: Card, b: Card) => rank[a.urgency] - rank[b.urgency] || a.expires - b.expires || older(first(a), first(b))
  const out = [...groups].map(([stream, cards]): Group => ({ key: `s ${stream}`, stream, asked: asked.get(stream) ?? 0, cards: cards.sort(order) }))
  const blocks = (g: Group) => (g.cards[0]?.urgency === 'blocking' ? 0 : 1)
  out.sort((a, b) => blocks(a) - blocks(b) || b.asked - a.asked || (a.stream < b.stream ? -1 : 1))
  if (skipped.length > 0) {
    const at = (c: Card) => own.skipped.indexOf(c.key)
    out.push({ key: 'skipped', stream: '', asked: 0, cards: skipped.sort((a, b) => at(a) - at(b)) })
  }
  return out
}

/**
 * hold is the new arrangement for somebody who is in the middle of something:
 * what is shown keeps its place and its askers, what is gone goes, and what is new
 * comes at the end. A new asker of a card that is shown waits.
 */
export function hold(shown: readonly Group[], ideal: readonly Group[]): Group[] {
  const alive = new Map(ideal.flatMap((g) => g.cards.flatMap((c) => c.tickets)).map((t) => [t.id, t]))
  const keys = new Set<string>()
  const ids = new Set<string>()
  const out: Group[] = []
  for (const g of shown) {
    const cards = g.cards.flatMap((c) => {
      const tickets = c.tickets.flatMap((t) => alive.get(t.id) ?? [])
      if (tickets.length === 0) return []
      keys.add(c.key)
      for (const t of tickets) ids.add(t.id)
      return [cardOf(c.key, tickets, c.apart)]
    })
    if (cards.length > 0) out.push({ ...g, cards })
  }
  for (const g of ideal) {
    const cards = g.cards.filter((c) => !keys.has(c.key) && c.tickets.every((t) => !ids.has(t.id)))
    if (cards.length > 0) out.push({ ...g, key: `${g.key} new`, cards })
  }
  // A second hold finds the late group there already.
  const merged = new Map<string, Group>()
  for (const g of out) {
    const was = merged.get(g.key)
    merged.set(g.key, was ? { ...was, cards: [...was.cards, ...g.cards] } : g)
  }
  return [...merged.values()]
}

/** answersOf puts answered tickets together as they were answered, newest first. */
export function answersOf(tickets: readonly Ticket[]): Answered[] {
  const rows = new Map<string, Ticket[]>()
  for (const t of tickets) {
    if (t.status !== 'answered' || t.answered_by !== 'human' || !t.answered_at) continue
    const key = `${t.answered_at} ${t.card} ${t.answer}`
    rows.set(key, [...(rows.get(key) ?? []), t])
  }
  return [...rows.values()]
    .map((all): Answered => {
      const t = all.sort(older)[0] as Ticket
      return { key: t.id, tickets: all, answer: t.answer ?? '', at: ms(t.answered_at ?? '') }
    })
    .sort((a, b) => b.at - a.at || (a.key < b.key ? 1 : -1))
}
