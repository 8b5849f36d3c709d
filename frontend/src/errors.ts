// Errors in the person's language. Steward's own sentences are English and made
// for programs; they only come along where they name what the page cannot know.

import { t } from './i18n/i18n.svelte'
import type { StewardError } from './transport/transport'
import { isolated } from './ui/text'

export interface Said {
  text: string
  hint: string
}

/** sayError words an error: what happened, and what to do. */
export function sayError(e: StewardError): Said {
  const why = isolated(e.message || e.code, 300)
  const hint = e.hint && e.code !== 'internal' ? t('error.hint', { hint: isolated(e.hint, 300) }) : ''
  switch (e.code) {
    case 'internal':
      return { text: e.id ? t('error.internal', { id: e.id }) : t('error.internalNoId', { why }), hint: '' }
    case 'conflict': // with nothing that changed meanwhile, only the service knows what is in the way
      return e.current === undefined ? { text: t('error.inTheWay', { why }), hint } : { text: t('error.conflict'), hint }
    case 'invalid':
    case 'forbidden':
      return { text: t(`error.${e.code}`, { why }), hint }
    case 'unavailable':
      return { text: t('error.unavailable'), hint }
    default:
      return { text: t(`error.${e.code}`), hint: '' }
  }
}
