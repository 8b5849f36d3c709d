// What actions do to questions: answer, take back, skip; and what is said of it.

import { lang, t } from '../i18n/i18n.svelte'
import { stamp } from '../i18n/times'
import type { App } from '../store/app.svelte'
import { first, shortTicket } from '../store/cards'
import { maxAnswer, nameOf, type Gone } from '../store/tickets.svelte'
import { asError, type StewardError } from '../transport/transport'
import type { Ticket } from '../types'
import { isolated, points } from '../ui/text'

const rowOf = (key: string): string => `[data-row="card-${key}"]`

const short = (s: string): string => isolated(s.replace(/\s+/g, ' ').trim(), 80)

/** cardBy moves to another card and puts the focus on it. */
export async function cardBy(app: App, by: 1 | -1): Promise<void> {
  const to = app.tickets.step(by)
  if (!to) return
  await app.focusOn(rowOf(to.key))
  document.activeElement?.scrollIntoView({ block: 'nearest' })
}

/** pick marks an option of the selected card. It never answers. */
export function pick(app: App, n: number): void {
  const card = app.tickets.current
  const option = card ? first(card).options[n - 1] : undefined
  if (!card || option === undefined) return
  app.tickets.pick(card.key, n)
  app.tickets.spoken = t('decide.picked', { what: short(option) })
  const row = document.querySelector<HTMLElement>(rowOf(card.key))
  if (row && !row.contains(document.activeElement)) row.focus({ preventScroll: true })
  row?.querySelector('.picked')?.scrollIntoView({ block: 'nearest' })
}

/** write puts the focus into the selected card's text. */
export async function write(app: App): Promise<void> {
  const card = app.tickets.current
  if (card) await app.focusOn(`${rowOf(card.key)} textarea`)
}

/** leave goes from the text to its card. */
export function leave(app: App, key: string): void {
  app.tickets.wrote(key)
  void app.focusOn(rowOf(key))
}

/** skip moves the selected card to the end of this page's order. */
export async function skip(app: App): Promise<void> {
  const card = app.tickets.current
  if (!card) return
  app.tickets.skip(card.key)
  app.tickets.spoken = t('decide.skippedSaid', { id: nameOf(card.tickets) })
  const next = app.tickets.current
  if (next) await app.focusOn(rowOf(next.key))
}

/** answer sends what was picked or written for the selected card. */
export async function answer(app: App): Promise<void> {
  const { tickets } = app
  const card = tickets.current
  if (!card || !tickets.ready(card.key)) return
  const draft = tickets.draft(card.key)
  const words = draft.pick > 0 ? (first(card).options[draft.pick - 1] ?? '') : draft.text.trim()
  if (words === '') return app.say(t(first(card).options.length > 0 ? 'note.nothingPicked' : 'note.nothingWritten'))
  const n = points(words)
  if (n > maxAnswer) return app.say(t('field.tooLong', { max: maxAnswer, n }))
  const id = nameOf(card.tickets)
  try {
    const r = await tickets.send(card, words)
    tickets.spoken = t('decide.answeredSaid', { id, what: short(words) })
    if (r.missed.length > 0) app.say(t('note.missed', { id, what: r.missed.map((m) => became(m, app.clock.now)).join(t('list.comma')) }))
  } catch (e) {
    refused(app, asError(e))
    await tickets.refresh()
  }
  await app.brief.refresh()
}

/** undo takes the last answer back, or the one that was pointed at. */
export async function undo(app: App): Promise<void> {
  const { tickets } = app
  await tickets.sent()
  const what = tickets.undoable
  tickets.marked = ''
  if (!what || what.at === 0 || undoing.has(what.key)) return
  undoing.add(what.key)
  try {
    const key = await tickets.undo(what)
    app.say(t('note.undone', { id: nameOf(what.tickets) }))
    if (key) {
      await app.focusOn(rowOf(key))
      document.activeElement?.scrollIntoView({ block: 'nearest' })
    }
  } catch (e) {
    const error = asError(e)
    if (error.code === 'closed') app.warn(t('note.noUndo', { id: nameOf(what.tickets) }))
    else app.fail(error)
    await tickets.refresh()
  } finally {
    undoing.delete(what.key)
  }
  await app.brief.refresh()
}

const undoing = new Set<string>() // a key that is held down takes back once

function isTicket(v: unknown): v is Ticket {
  return typeof v === 'object' && v !== null && 'status' in v && 'id' in v && typeof v.id === 'string'
}

// refused tells what the question has become, where the refusal says it.
function refused(app: App, e: StewardError): void {
  if (e.code === 'closed' && isTicket(e.current)) {
    app.warn(t('note.tooLate', { what: became(e.current, app.clock.now) }))
  } else app.fail(e)
}

/** became says what a question has come to, and by whom. */
export function became(ticket: Ticket, now: number): string {
  const id = shortTicket(ticket.id)
  const what = short(ticket.answer ?? '')
  switch (ticket.status) {
    case 'answered':
      return t('decide.becameAnswered', { id, what, at: stamp(lang(), Date.parse(ticket.answered_at ?? ''), now).text })
    case 'expired':
      return ticket.answered_by === 'default' ? t('decide.becameDefault', { id, what }) : t('decide.becameExpired', { id })
    case 'cancelled':
      return t('decide.becameCancelled', { id, who: isolated(ticket.stream) })
    default:
      return t('decide.becamePending', { id })
  }
}

/** lost tells of cards that went away by themselves. What was written for one is not lost. */
export function lost(app: App, gone: readonly Gone[]): void {
  const said = gone.find((g) => g.selected)
  if (said) {
    const next = app.tickets.current
    const what = t(`gone.${said.became}`, { id: nameOf(said.card.tickets) })
    app.tickets.spoken = next ? t('decide.goneNext', { what, next: short(first(next).question) }) : what
  }
  const unsent = gone.find((g) => g.text !== '')
  if (unsent) {
    const what = t(`gone.${unsent.became}`, { id: nameOf(unsent.card.tickets) })
    app.warn(t('note.unsent', { what, text: isolated(unsent.text, maxAnswer) }))
  }
}

/** splitOrJoin changes how the selected card's tickets stand. */
export async function splitOrJoin(app: App, how: 'split' | 'join'): Promise<void> {
  const card = app.tickets.current
  if (!card) return
  app.tickets[how](card)
  await app.focusOn(rowOf(app.tickets.selected))
}
