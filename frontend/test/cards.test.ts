import { describe, expect, it } from 'vitest'
import { answersOf, arrange, first, hold, shortTicket, type Group, type Own } from '../src/store/cards'
import { invented } from '../src/transport/fake'
import type { Ticket } from '../src/types'

const now = Date.parse('2026-11-30T14:22:10.000Z')
const minute = 60_000
const iso = (ms: number) => new Date(ms).toISOString()
const none: Own = { split: new Set(), skipped: [] }

/** ticket is one of a stream, asked and expiring so many minutes from now. */
const ticket = (id: string, stream: string, ago: number, left: number, o: Partial<Ticket> = {}): Ticket =>
  invented({ id: `tkt_${id}`, stream, question: `Question ${id}?`, created_at: iso(now - ago * minute), expires_at: iso(now + left * minute), ...o })

const seen = (groups: readonly Group[]) => groups.map((g) => [g.stream, g.cards.map((c) => c.tickets.map((t) => t.id.slice(4)).join('+'))])

describe('arrange', () => {
  it('puts a group with a blocking question first, then the stream that asked last', () => {
    const all = [
      ticket('A1', 'a', 30, 10),
      ticket('B1', 'b', 20, 10),
      ticket('C1', 'c', 40, 90, { urgency: 'blocking' }),
      ticket('D1', 'd', 50, 90, { urgency: 'blocking' }),
      ticket('A2', 'a', 5, 10),
      ticket('E1', 'e', 10, 1, { urgency: 'low' }),
    ]
    expect(arrange(all, none).map((g) => g.stream)).toEqual(['c', 'd', 'a', 'e', 'b'])
  })

  it('puts blocking, normal and low in this order in a group, then the nearest expiry', () => {
    const all = [
      ticket('L', 'a', 9, 1, { urgency: 'low' }),
      ticket('N2', 'a', 8, 20),
      ticket('N1', 'a', 7, 10),
      ticket('B', 'a', 6, 60, { urgency: 'blocking' }),
      ticket('N0', 'a', 5, 10),
    ]
    expect(seen(arrange(all, none))).toEqual([['a', ['B', 'N1', 'N0', 'N2', 'L']]])
  })

  const same = { question: 'May I?', options: ['Yes', 'No'] }
  const three = [
    ticket('3', 'late', 1, 90, { ...same, urgency: 'blocking' }),
    ticket('1', 'early', 9, 60, { ...same, urgency: 'low' }),
    ticket('2', 'middle', 5, 30, same),
    ticket('4', 'early', 4, 80, same),
  ]

  it('makes one card of the same question: the oldest asker’s place, every stream, the highest urgency, the nearest expiry', () => {
    const [group] = arrange(three, none)
    expect([group?.stream, group?.cards.length]).toEqual(['early', 1])
    const card = group!.cards[0]!
    expect(card.tickets.map((t) => t.id)).toEqual(['tkt_1', 'tkt_2', 'tkt_4', 'tkt_3'])
    expect(card.streams).toEqual(['early', 'middle', 'late'])
    expect(card.urgency).toBe('blocking')
    expect(card.expires).toBe(now + 30 * minute)
    expect(card.apart).toBe(false)
    expect(first(card).id).toBe('tkt_1')
  })

  it('never makes one of what differs in anything', () => {
    const base = { ...same, context: 'c', default_answer: 'Yes', reversible: true }
    const others: Partial<Ticket>[] = [{ question: 'May I ?' }, { options: ['No', 'Yes'] }, { context: 'd' }, { default_answer: 'No' }, { reversible: false }]
    const all = [base, ...others.map((o) => ({ ...base, ...o }))].map((o, i) => ticket(String(i), 'a', 10 - i, 10, o))
    expect(arrange(all, none)[0]?.cards.length).toBe(6)
  })

  it('splits a card, and puts the parts where each belongs', () => {
    const own: Own = { split: new Set([three[0]!.card]), skipped: [] }
    const groups = arrange(three, own)
    expect(seen(groups)).toEqual([['late', ['3']], ['early', ['4', '1']], ['middle', ['2']]])
    expect(groups.flatMap((g) => g.cards).every((c) => c.apart)).toBe(true)
    expect(arrange(three.slice(0, 1), own)[0]?.cards[0]?.apart).toBe(false) // nothing left to join
  })

  it('puts what was skipped at the end, in the order of skipping', () => {
    const all = [ticket('B', 'a', 1, 1, { urgency: 'blocking' }), ticket('N', 'a', 2, 9), ticket('X', 'x', 3, 9)]
    const key = (i: number) => all[i]!.card
    expect(seen(arrange(all, { split: new Set(), skipped: [key(1), key(0)] }))).toEqual([['x', ['X']], ['', ['N', 'B']]])
  })
})

describe('hold', () => {
  const a = ticket('A', 'a', 9, 30)
  const b = ticket('B', 'b', 8, 30)
  const b2 = ticket('B2', 'q', 1, 5, { question: b.question, urgency: 'blocking' })
  const shown = arrange([a, b], none)

  it('keeps place and askers, lets go what is gone, and puts what is new at the end', () => {
    const c = ticket('C', 'c', 1, 1, { urgency: 'blocking' })
    const d = ticket('D', 'b', 1, 1)
    const wait = ticket('B2', 'q', 1, 5, { question: b.question })
    expect(seen(shown)).toEqual([['b', ['B']], ['a', ['A']]])
    const ideal = arrange([a, b, wait, c, d], none)
    expect(seen(ideal)[0]).toEqual(['c', ['C']])
    const held = hold(shown, ideal)
    expect(seen(held)).toEqual([['b', ['B']], ['a', ['A']], ['c', ['C']], ['b', ['D']]])
    expect(held[0]?.cards[0]).toMatchObject({ urgency: 'normal', streams: ['b'] })
    expect(new Set(held.map((g) => g.key)).size).toBe(4)
    expect(seen(hold(held, arrange([b, wait, c, d, ticket('E', 'c', 0, 1)], none)))).toEqual([['b', ['B']], ['c', ['C', 'E']], ['b', ['D']]])
  })

  it('keeps a card of which some are answered', () => {
    const both = arrange([b, b2], none)
    expect(seen(hold(both, arrange([b2], none)))).toEqual([['b', ['B2']]])
  })
})

describe('answersOf', () => {
  it('has what one answer reached in one row, the newest first, and only a person’s', () => {
    const at = (m: number) => ({ status: 'answered', answered_by: 'human', answered_at: iso(now - m * minute), answer: 'Yes' }) as const
    const q = { question: 'May I?' }
    const all = [ticket('2', 'b', 8, 9, { ...q, ...at(2) }), ticket('1', 'a', 9, 9, { ...q, ...at(2) }), ticket('3', 'c', 7, 9, { ...q, ...at(1) }), ticket('4', 'd', 7, 9), ticket('5', 'd', 7, 9, { ...at(1), answered_by: 'default' })]
    expect(answersOf(all).map((r) => r.tickets.map((t) => t.id))).toEqual([['tkt_3'], ['tkt_1', 'tkt_2']])
  })
})

it('a ticket is called by its last four', () => {
  expect([shortTicket('tkt_01KBB4Z3V0E5XJ8QWY2M010192'), shortTicket('other')]).toEqual(['T-0192', 'other'])
})
