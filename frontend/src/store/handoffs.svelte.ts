// The list of handoffs, and the one that is under review.

import { asError, type StewardError, type Transport } from '../transport/transport'
import type { HandoffGetResult } from '../ops.gen'
import type { Status, Summary } from '../types'
import { coalesce } from './refresh'

/** HandoffStore holds what handoff_list and handoff_get said last. */
export class HandoffStore {
  list = $state.raw<Summary[] | null>(null)
  hasMore = $state(false)
  status = $state<Status | ''>('')
  target = $state('')
  /** The row that keys act on. */
  selected = $state('')
  /** The id under review, '' for none. */
  open = $state('')
  detail = $state.raw<HandoffGetResult | null>(null)
  error = $state.raw<StewardError | null>(null)

  #transport: Transport
  readonly refresh: () => Promise<void>

  constructor(transport: Transport) {
    this.#transport = transport
    this.refresh = coalesce(() => this.#load())
  }

  async #load(): Promise<void> {
    const { status, target, open } = this
    try {
      const [page, detail] = await Promise.all([
        this.#transport.call('handoff_list', {
          limit: 50, ...(status ? { status } : {}), ...(target ? { target } : {}),
        }),
        open ? this.#transport.call('handoff_get', { handoff_id: open }) : null,
      ])
      if (status === this.status && target === this.target) {
        this.list = page.handoffs
        this.hasMore = page.has_more
      }
      if (open === this.open) this.detail = detail
      this.error = null
    } catch (e) {
      if (open === this.open) this.error = asError(e)
    }
  }

  /** filter shows only some; '' is any. */
  filter(status: Status | '', target: string): Promise<void> {
    this.status = status
    this.target = target
    return this.refresh()
  }

  /** review opens one; '' goes back to the list. */
  review(id: string): Promise<void> {
    if (this.detail?.handoff.id !== id) this.detail = null
    this.open = id
    this.error = null
    if (id) this.selected = id
    return this.refresh()
  }
}

/** shortId is what people see of an id until the service has said the exact one: H- and the last four. */
export const shortId = (id: string): string => (id.startsWith('hnd_') ? `H-${id.slice(-4)}` : id)
