// What a person writes into the form for a new handoff, and what is wrong with it
// before it is sent. The limits are Steward's own.

import { number, t } from '../../i18n/i18n.svelte'
import type { HandoffCreateArgs } from '../../ops.gen'
import { bytes, isolated, points } from '../../ui/text'

export interface Draft {
  target: string
  instruction: string
  key: string
  files: string[]
  context: string
}

export type Field = 'target' | 'instruction' | 'idempotency_key' | 'context' | `attachments[${number}].path` | 'attachments'
export type Faults = Partial<Record<string, string>>

export const limits = { target: 64, instruction: 4000, key: 128, files: 20, path: 4096, context: 8192 }

const letters = 'abcdefghjkmnpqrstvwxyz0123456789'

/** freshKey is a key that nobody has used. */
export function freshKey(): string {
  const b = crypto.getRandomValues(new Uint8Array(12))
  return 'page-' + [...b].map((x) => letters[x % letters.length]).join('')
}

export const emptyDraft = (target = ''): Draft => ({ target, instruction: '', key: freshKey(), files: [], context: '' })

const tooLong = (s: string, max: number): string | undefined => {
  const n = points(s)
  return n > max ? t('field.tooLong', { max, n }) : undefined
}

/** argsOf checks a draft: the arguments to send, or a fault beside each field that has one. */
export function argsOf(d: Draft): { args: HandoffCreateArgs; faults: null } | { args: null; faults: Faults } {
  const faults: Faults = {}
  const set = (field: string, fault: string | undefined) => {
    if (fault) faults[field] = fault
  }
  set('target', d.target.trim() === '' ? t('field.required') : tooLong(d.target, limits.target))
  set('instruction', d.instruction.trim() === '' ? t('field.required') : tooLong(d.instruction, limits.instruction))
  set('idempotency_key', d.key.trim() === '' ? t('field.required') : tooLong(d.key, limits.key))
  const files = d.files.map((f) => f.trim())
  const kept = files.filter((f) => f !== '')
  if (kept.length > limits.files) set('attachments', t('field.tooMany', { max: limits.files, n: kept.length }))
  files.forEach((f, i) => set(`attachments[${i}].path`, tooLong(f, limits.path)))
  let context: Record<string, unknown> | undefined
  if (d.context.trim() !== '') {
    try {
      const v: unknown = JSON.parse(d.context)
      if (typeof v !== 'object' || v === null || Array.isArray(v)) set('context', t('field.notObject', { example: '{"bpm": 104}' }))
      else {
        context = v as Record<string, unknown>
        const n = bytes(JSON.stringify(context))
        if (n > limits.context) set('context', t('field.tooBig', { max: limits.context, n }))
      }
    } catch (e) {
      set('context', t('field.notJson', { why: isolated(e instanceof Error ? e.message : String(e), 160) }))
    }
  }
  if (Object.keys(faults).length > 0) return { args: null, faults }
  return {
    args: {
      target: d.target.trim(),
      instruction: d.instruction,
      idempotency_key: d.key.trim(),
      ...(kept.length > 0 ? { attachments: kept.map((path) => ({ path })) } : {}),
      ...(context ? { context } : {}),
    },
    faults: null,
  }
}

/** placeOf puts a field that the service named where the form has it; '' when it has no such field. */
export function placeOf(field: string, d: Draft): string {
  const m = /^attachments\[(\d+)\]/.exec(field)
  if (m) {
    // The service counts the files that were sent; empty lines were not.
    let sent = -1
    const i = d.files.findIndex((f) => f.trim() !== '' && ++sent === Number(m[1]))
    return i >= 0 ? `attachments[${i}].path` : 'attachments'
  }
  const known = ['target', 'instruction', 'idempotency_key', 'context', 'attachments']
  const head = field.split(/[.[]/)[0] ?? ''
  return known.includes(head) ? head : ''
}

/** counter is "12 / 4,000". */
export const counter = (n: number, max: number): string => t('counter', { n: number(n), max: number(max) })
