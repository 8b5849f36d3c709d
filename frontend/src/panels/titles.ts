// The one sentence at the top, for each view and what is open in it.

import { t } from '../i18n/i18n.svelte'
import type { App } from '../store/app.svelte'
import { firstLine } from '../ui/text'
import { decisionLine, handoffLine, headline, lineOf } from '../words'

/** state is the view's sentence as last known; '' before anything is. */
export function state(app: App): string {
  const b = app.brief.data
  if (!b) return ''
  return app.view === 'decide' ? decisionLine(b) : app.view === 'handoffs' ? handoffLine(b) : headline(b)
}

/** clauses are the parts of a sentence of ours, between which alone it should break. */
export const clauses = (s: string): string[] => s.split(/(?<=, |，)/)

/** title is the sentence, and in full what it may have been cut from. */
export function title(app: App): { text: string; parts?: string[]; full?: string } {
  const known = state(app)
  const now = app.readable ? known || t('head.reading') : known || app.link.state !== 'opening' ? t('head.lost') : t('head.reading')
  if (app.view === 'settings') return { text: t('head.settings') }
  if (app.view === 'decide') return { text: now, parts: clauses(now) }
  if (app.view === 'handoffs') {
    if (app.composing) return { text: t('head.new') }
    if (app.handoffs.open !== '') {
      const what = firstLine(app.handoffs.detail?.handoff.instruction ?? '')
      return what ? { text: t('head.review', { what }) } : { text: t('head.reading') }
    }
    return { text: now, parts: clauses(now) }
  }
  if (app.eventId !== 0) {
    const e = app.event?.event
    if (!e) return { text: t('head.event', { id: String(app.eventId) }) }
    const l = lineOf(e, app.brief.data?.handoffs.open)
    return { text: `${l.you ? t('brief.you') : l.actor} ${l.main}` }
  }
  return { text: now, parts: clauses(now) }
}
