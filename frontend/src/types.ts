// Names for the parts of results. They are taken from the operations' results
// and not from the generated names of the parts, which may change.

import type {
  BriefGetResult,
  EventGetResult,
  HandoffGetResult,
  HandoffListResult,
  SettingsGetResult,
  TicketListResult,
} from './ops.gen'

export type Brief = BriefGetResult
export type KeyEvent = Brief['key_events'][number]
export type Failure = Brief['failures']['items'][number]
export type Mover = Brief['movers']['items'][number]
export type Event = EventGetResult['event']
export type Summary = HandoffListResult['handoffs'][number]
export type Handoff = HandoffGetResult['handoff']
export type Transition = HandoffGetResult['transitions'][number]
export type Ticket = TicketListResult['tickets'][number]
export type Settings = SettingsGetResult
export type Theme = Settings['theme']
export type Language = Settings['language']

/** The faces of the orb: brief_get's five, and the one for a ledger that cannot be read. */
export type Face = Brief['orb']['face'] | 'unreachable'

/** The statuses of a handoff, in the order in which it moves. */
export const statuses = ['pending', 'claimed', 'running', 'done', 'failed', 'cancelled'] as const
export type Status = (typeof statuses)[number]

/** Whether nothing can change a handoff of this status any more. */
export const final = (s: string) => s === 'done' || s === 'failed' || s === 'cancelled'
