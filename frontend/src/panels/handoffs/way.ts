import type { Handoff, Status } from '../../types'

export interface Step {
  status: Status
  state: 'past' | 'now' | 'next' | 'skipped'
}

/** way is the steps of a handoff: the three before the end, and its end, which is done unless it ended otherwise. */
export function way(h: Pick<Handoff, 'status' | 'claimed_at' | 'running_at' | 'finished_at'>): Step[] {
  const ended = h.finished_at !== null
  const end: Status = ended ? h.status : 'done'
  const order: Status[] = ['pending', 'claimed', 'running', end]
  const at = order.indexOf(h.status)
  return order.map((status, i) => {
    if (i === at) return { status, state: 'now' }
    if (i > at) return { status, state: 'next' }
    const skipped = ended && ((status === 'claimed' && !h.claimed_at) || (status === 'running' && !h.running_at))
    return { status, state: skipped ? 'skipped' : 'past' }
  })
}
