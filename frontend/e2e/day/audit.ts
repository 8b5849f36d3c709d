// What the ledger says of each question, followed from its asking to its end.
// Nothing here knows how Steward decides: only what may follow what.

import type { Event } from '../steward'

/** How the ledger explains one question. */
export interface Story {
  id: string
  stream: string
  question: string
  status: 'pending' | 'answered' | 'expired' | 'cancelled'
  answer: string
  decidedBy: string
  /** What the person answered, in this order. */
  answered: string[]
  delivered: number
  undone: number
  revoked: number
  /** What does not follow from what stood before; empty in a sound ledger. */
  faults: string[]
}

const ms = (v: unknown) => Date.parse(String(v))

/** stories follows every question through the events. */
export function stories(events: readonly Event[]): Map<string, Story> {
  const all = new Map<string, Story & { expires: number; handed: boolean; owed: boolean }>()
  let last = 0
  for (const e of events) {
    if (e.id !== last + 1) throw new Error(`event ${e.id} follows ${last}`)
    last = e.id
    if (e.object_type !== 'ticket') continue
    const id = e.object_id ?? ''
    const d = e.data ?? {}
    if (e.type === 'ticket_asked') {
      if (all.has(id)) throw new Error(`${id} was asked twice`)
      const s: Story = { id, stream: String(d.stream), question: String(d.question), status: 'pending', answer: '', decidedBy: '', answered: [], delivered: 0, undone: 0, revoked: 0, faults: [] }
      all.set(id, { ...s, expires: ms(d.expires_at), handed: false, owed: false })
      if (d.to !== 'pending' || d.from !== undefined || e.source !== 'claimed' || e.actor !== d.stream) all.get(id)!.faults.push(`asked: ${JSON.stringify(e)}`)
      continue
    }
    const s = all.get(id)
    if (!s) throw new Error(`${e.type} of ${id}, which nobody asked`)
    const at = ms(e.at)
    const should = (holds: boolean) => {
      if (!holds) s.faults.push(`after ${s.status} by ${s.decidedBy || 'nobody'}: ${JSON.stringify(e)}`)
    }
    should(d.from === s.status && d.stream === s.stream)
    switch (e.type) {
      case 'ticket_answered':
        should(s.status === 'pending' && at < s.expires && d.to === 'answered' && d.decided_by === 'human' && e.actor === 'user' && e.source === 'person')
        s.status = 'answered'
        s.answer = String(d.answer)
        s.decidedBy = 'human'
        s.answered.push(s.answer)
        s.handed = false
        break
      case 'ticket_undone':
        should(s.status === 'answered' && d.to === 'pending' && d.decided_by === 'human' && e.actor === 'user' && e.source === 'person')
        should((d.delivered === true) === s.handed && ms(d.expires_at) >= at + 5 * 60_000)
        s.status = 'pending'
        s.answer = s.decidedBy = ''
        s.owed ||= s.handed
        s.handed = false
        s.expires = ms(d.expires_at)
        s.undone++
        break
      case 'ticket_delivered':
        should((s.status === 'answered' || s.status === 'expired') && s.answer !== '' && !s.handed && !s.owed && d.to === s.status && d.decided_by === s.decidedBy && e.actor === s.stream)
        s.handed = true
        s.delivered++
        break
      case 'ticket_revoked':
        should(s.owed && d.to === s.status && e.actor === s.stream)
        s.owed = false
        s.handed = s.answer !== ''
        s.revoked++
        break
      case 'ticket_expired':
        should(s.status === 'pending' && d.to === 'expired' && ms(d.expires_at) === s.expires && at >= s.expires && ms(d.noticed_at) >= s.expires && e.source === 'system')
        should((d.decided_by === 'default') === (d.answer !== undefined) && (d.decided_by === 'default' || d.decided_by === 'expiry'))
        s.status = 'expired'
        s.answer = String(d.answer ?? '')
        s.decidedBy = String(d.decided_by)
        break
      case 'ticket_cancelled':
        should(s.status === 'pending' && d.to === 'cancelled' && e.actor === s.stream && e.source === 'claimed')
        s.status = 'cancelled'
        break
      default:
        should(false)
    }
  }
  return all
}
