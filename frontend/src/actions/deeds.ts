// What actions do to handoffs and failures: call, word the outcome, refresh.

import { t, isKey } from '../i18n/i18n.svelte'
import type { HandoffCreateArgs } from '../ops.gen'
import { asError, StewardError } from '../transport/transport'
import type { App, Current, Settling } from '../store/app.svelte'
import { shortId } from '../store/handoffs.svelte'
import { isolated } from '../ui/text'

const statusWord = (s: string): string => (isKey(`status.${s}`) ? t(`status.${s}` as 'status.done') : isolated(s))

// meanwhile refreshes after a refusal that depends on the state, and says what
// the state is when the refusal carries it.
async function meanwhile(app: App, e: StewardError, short: string): Promise<void> {
  const now = e.current
  if ((e.code === 'conflict' || e.code === 'closed') && typeof now === 'object' && now !== null && 'status' in now && typeof now.status === 'string') {
    app.note = { text: t('note.changed', { id: short, status: statusWord(now.status) }), hint: '', bad: true }
  } else app.fail(e)
  if (e.code !== 'offline') await Promise.all([app.handoffs.refresh(), app.brief.refresh()])
}

/** acknowledge takes note of a failure. */
export async function acknowledge(app: App, eventId: number): Promise<void> {
  const rows = app.brief.data?.failures.items ?? []
  const i = rows.findIndex((f) => f.id === eventId)
  const next = rows[i + 1] ?? rows[i - 1]
  try {
    await app.transport.call('failure_acknowledge', { event_id: eventId })
    app.failure = 0
    app.say(t('note.acknowledged'))
  } catch (e) {
    app.fail(asError(e))
  }
  await app.brief.refresh()
  await app.focusOn(next ? `[data-row="event-${next.id}"]` : '[data-focus="head"]')
}

/** claim takes a pending handoff for the person, or starts one that is theirs. */
export async function claim(app: App, h: Current): Promise<void> {
  try {
    const r = await app.transport.call('handoff_claim', { handoff_id: h.id, worker_session_id: 'user' })
    if (r.claimed) app.say(t(r.status === 'running' ? 'note.started' : 'note.claimed', { id: h.short }))
    else {
      const status = statusWord(r.status)
      app.say(r.owner ? t('note.notClaimed', { id: h.short, status, owner: isolated(r.owner) }) : t('note.notClaimedEnded', { id: h.short, status }))
    }
    await Promise.all([app.handoffs.refresh(), app.brief.refresh()])
  } catch (e) {
    await meanwhile(app, asError(e), h.short)
  }
}

/** ask opens the question before something final. */
export function ask(app: App, h: Current, to: Settling['to']): void {
  app.settling = { to, id: h.id, fence: h.fence, worker: h.worker }
}

/** settle does what the question asked for, with the fence of what was on the screen. */
export async function settle(app: App, s: Settling, words: string): Promise<void> {
  const short = shortId(s.id)
  const said = words.trim()
  try {
    if (s.to === 'released') {
      await app.transport.call('handoff_release', { handoff_id: s.id, fence: s.fence, ...(said ? { reason: said } : {}) })
    } else {
      const part = said === '' ? {} : s.to === 'done' ? { outcome: said } : { reason: said }
      await app.transport.call('handoff_settle', { handoff_id: s.id, status: s.to, fence: s.fence, ...part })
    }
    app.settling = null
    app.say(t(`note.${s.to}`, { id: short }))
    await Promise.all([app.handoffs.refresh(), app.brief.refresh()])
  } catch (e) {
    const error = asError(e)
    if (error.code === 'invalid') throw error // the question shows it beside its field
    app.settling = null
    await meanwhile(app, error, short)
  }
}

/** create hands work over and opens it. An error of a field is thrown. */
export async function create(app: App, args: HandoffCreateArgs): Promise<void> {
  const r = await app.transport.call('handoff_create', args)
  const id = shortId(r.handoff.id)
  if (r.conflict) throw new StewardError('conflict', t('field.keyUsed', { what: id }), { field: 'idempotency_key', current: r.handoff })
  app.say(t(r.duplicate ? 'note.duplicate' : 'note.created', { id }))
  app.composing = false
  app.openHandoff(r.handoff.id)
  await app.brief.refresh()
}

/** openAttachment lets the system open a file; where there is no window its path is copied. */
export async function openAttachment(app: App, id: string, index: number, path: string): Promise<void> {
  if (!app.windowed) return app.copy(path)
  try {
    const r = await app.transport.call('attachment_open', { handoff_id: id, index })
    app.say(t(r.opened === 'file' ? 'note.openedFile' : 'note.openedFolder'))
  } catch (e) {
    app.fail(asError(e))
  }
}
