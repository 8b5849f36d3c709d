// Sentences worded from counts and codes, in the person's language.

import { lang, number, t, type Key, isKey } from './i18n/i18n.svelte'
import type { Brief, Event, Face, Summary } from './types'
import { shortTicket } from './store/cards'
import { shortId } from './store/handoffs.svelte'

const words = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve']

/** count is a number in words where a sentence reads better so: English up to twelve. */
export const count = (n: number): string => (lang() === 'en' && words[n]) || number(n)

/** sentence joins clauses and begins with a capital. */
export function sentence(clauses: string[]): string {
  const s = clauses.join(t('list.comma')) + t('list.end')
  return s.charAt(0).toUpperCase() + s.slice(1)
}

const clause = (key: Key, n: number) => t(key, { n, word: count(n) })

/** toneOf is the colour of a handoff's status, the same in every view. */
export const toneOf = (status: string): 'fail' | 'ok' | 'info' | 'plain' =>
  status === 'failed' ? 'fail' : status === 'done' ? 'ok' : status === 'running' || status === 'claimed' ? 'info' : 'plain'

/** headline is the state of everything in one sentence. */
export function headline(b: Brief): string {
  const parts: string[] = []
  const { movers, failures, decisions, handoffs } = b
  if (movers.total > 0) parts.push(movers.more ? t('head.movingMore', { n: movers.total }) : clause('head.moving', movers.total))
  if (failures.total > 0) parts.push(clause('head.failures', failures.total))
  if (decisions.pending > 0) parts.push(clause('head.decisions', decisions.pending))
  if (handoffs.waiting > 0) parts.push(clause('head.waits', handoffs.waiting))
  if (parts.length > 0) return sentence(parts)
  return b.last_event_id === 0 ? t('head.nothing') : t('head.quiet')
}

/** decisionLine is the state of the queue in one sentence. */
export const decisionLine = (b: Brief): string => (b.decisions.pending > 0 ? sentence([clause('head.decide', b.decisions.pending)]) : t('head.decideNone'))

/** handoffLine is the state of the handoffs in one sentence. */
export function handoffLine(b: Brief): string {
  const c = b.handoffs.counts
  const parts: string[] = []
  if (c.pending > 0) parts.push(clause('head.pending', c.pending))
  const working = c.claimed + c.running
  if (working > 0) parts.push(clause('head.working', working))
  return parts.length > 0 ? sentence(parts) : t('head.handoffsNone')
}

/** faceOf is the orb's face for what is known. */
export const faceOf = (b: Brief | null, readable: boolean): Face => (readable ? (b?.orb.face ?? 'idle') : 'unreachable')

/** orbName is what a screen reader says of the orb. */
export function orbName(b: Brief | null, readable: boolean): string {
  if (!readable) return t('orb.unreachable')
  if (!b) return t('orb.starting')
  const what = orbWords(b)
  return what ? t('orb.says', { what }) : t('orb.idle')
}

/** orbWords is what the orb shows, in words; '' when nothing is open. */
export function orbWords(b: Brief): string {
  const { face, needs, failures, working } = b.orb
  const parts: string[] = []
  const decisions = b.decisions.pending
  if (decisions > 0) parts.push(t('orb.decisions', { n: decisions }))
  if (needs > decisions) parts.push(t('orb.needs', { n: needs - decisions }))
  if (failures > 0) parts.push(t('orb.failures', { n: failures }))
  if (face === 'working') parts.push(t('orb.working', { n: working }))
  return parts.join(t('list.comma'))
}

/** atMost is a number as a small round thing can show it. */
export const atMost = (n: number): string => (n > 99 ? '99+' : String(n))

export type GlyphName = 'done' | 'failed' | 'cancelled' | 'progress' | 'handoff' | 'asked' | 'focus'

type Told = Pick<Event, 'type' | 'outcome' | 'source'>

/** failing follows the ledger's rule for what reports a failure. */
export function failing(e: Told): boolean {
  if (e.source === 'import') return false
  if (['failed', 'error', 'failure'].includes((e.outcome ?? '').toLowerCase())) return true
  return /(^|[_.-])(failed|error)$/.test(e.type.toLowerCase())
}

// Only the question itself carries the sign of one: the rest asks nobody anything.
const ticketSigns: Record<string, GlyphName> = { ticket_asked: 'asked', ticket_answered: 'done', ticket_expired: 'cancelled', ticket_cancelled: 'cancelled' }

/** glyphOf tells an event's kind by a sign. */
export function glyphOf(e: Told): GlyphName {
  if (failing(e)) return 'failed'
  if (e.type.startsWith('handoff_')) {
    const ended = e.type === 'handoff_finished' || e.type === 'handoff_settled'
    return ended && (e.outcome === 'done' || e.outcome === 'cancelled') ? e.outcome : 'handoff'
  }
  if (e.type === 'focus') return 'focus'
  if (e.type.startsWith('ticket_')) return ticketSigns[e.type] ?? 'progress'
  if (e.type === 'progress' || e.type === 'heartbeat' || e.type === 'note' || e.type === 'started') return 'progress'
  return 'done'
}

export interface LineWords {
  /** Who, as it is written. Empty for the person: then `you` is true. */
  actor: string
  you: boolean
  /** What happened. */
  main: string
  /** The quieter second line, in parts. */
  rest: string[]
  /** A handoff's status, for the one chip of the line. */
  chip: string
}

type Line = Pick<Event, 'actor' | 'type' | 'object_id' | 'object_type' | 'workspace' | 'outcome' | 'file' | 'metrics' | 'source'>

/** typeWord is an event type in words; a workspace's own type is shown as it is. */
function typeWord(type: string): string {
  const key = `type.${type}`
  return isKey(key) ? t(key) : type.replace(/[_.-]+/g, ' ').trim()
}

/** lineOf puts an event into a ledger line. open are the handoffs whose target is known. */
export function lineOf(e: Line, open: readonly Summary[] = []): LineWords {
  const rest: string[] = []
  let main: string
  let chip = ''
  const object = e.object_id ?? ''
  const outcome = e.outcome ?? ''
  if (e.type.startsWith('handoff_')) {
    const id = object.startsWith('hnd_') ? shortId(object) : object
    const known = open.find((h) => h.id === object)
    const what = known ? t('type.toTarget', { what: id, target: known.target }) : id
    const key = `type.${e.type}`
    const failed = failing(e)
    main = failed ? t('type.handoff_failed', { what }) : isKey(key) ? t(key, { what }) : `${typeWord(e.type)} ${what}`
    // The chip tells how it stands now, where that is known.
    if (known) chip = known.status
    else if (isKey(`status.${outcome}`)) chip = outcome
    else if (outcome) rest.push(outcome)
  } else if (e.type.startsWith('ticket_')) {
    const id = shortTicket(object)
    const key = `type.${e.type}`
    const asked = e.type === 'ticket_asked' && outcome !== ''
    main = isKey(key) ? t(key, { what: asked ? outcome : id }) : `${typeWord(e.type)} ${id}`
    if (asked) rest.push(id)
    else if (outcome) rest.push(e.type === 'ticket_expired' ? t('type.ticketDefault', { what: outcome }) : outcome)
    else if (e.type === 'ticket_expired') rest.push(t('type.ticketUnanswered'))
  } else if (e.type === 'focus') {
    const what = [e.workspace, e.object_id].filter(Boolean).join(' / ')
    main = what ? t('type.focus', { what }) : t('type.focusNowhere')
  } else if (failing(e)) {
    const plain = ['failed', 'error', 'failure'].includes(outcome.toLowerCase())
    main = object ? t('type.object', { object, word: typeWord(plain && !failing({ ...e, outcome: '' }) ? 'failed' : e.type) }) : typeWord(e.type)
    if (outcome && !plain) rest.push(outcome)
  } else if (outcome) {
    main = outcome
    if (object) rest.push(object)
  } else {
    main = object ? t('type.object', { object, word: typeWord(e.type) }) : typeWord(e.type)
  }
  if (e.file) rest.push(e.file)
  for (const [k, v] of Object.entries(e.metrics ?? {})) rest.push(`${k} ${number(v)}`)
  const you = e.source === 'person' && e.actor === 'user'
  if (!you && e.workspace && e.workspace !== e.actor && e.type !== 'focus') rest.push(e.workspace)
  return { actor: you ? '' : e.actor, you, main, rest, chip }
}
