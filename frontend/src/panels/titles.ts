// The one sentence at the top, for each view and what is open in it.

import { t } from '../i18n/i18n.svelte'
import type { App } from '../store/app.svelte'
import { firstLine } from '../ui/text'
import { decisionLine, handoffLine, headline, lineOf } from '../words'

/** title is the sentence, and in full what it may have been cut from. */
export function title(app: App): { text: string; full?: string } {
  const b = app.brief.data
  if (app.view === 'settings') return { text: t('head.settings') }
  if (app.view === 'decide') return { text: b ? decisionLine(b) : t('head.reading') }
  if (app.view === 'handoffs') {
    if (app.composing) return { text: t('head.new') }
    if (app.handoffs.open !== '') {
      const what = firstLine(app.handoffs.detail?.handoff.instruction ?? '')
      return what ? { text: t('head.review', { what }) } : { text: t('head.reading') }
    }
    return { text: b ? handoffLine(b) : t('head.reading') }
  }
  if (app.eventId !== 0) {
    const e = app.event?.event
    if (!e) return { text: t('head.event', { id: String(app.eventId) }) }
    const l = lineOf(e, b?.handoffs.open)
    return { text: `${l.you ? t('brief.you') : l.actor} ${l.main}` }
  }
  return { text: b ? headline(b) : t('head.reading') }
}
