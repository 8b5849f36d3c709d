// What brief_get says, kept fresh: asked again when something happened, and once
// when time alone changes it.

import { asError, type StewardError, type Transport } from '../transport/transport'
import type { Brief } from '../types'
import type { Clock } from './clock.svelte'
import { coalesce } from './refresh'

/** BriefStore holds the newest brief and moves the person's watermark. */
export class BriefStore {
  data = $state.raw<Brief | null>(null)
  error = $state.raw<StewardError | null>(null)
  /** When data came, by the service's clock; 0 before. */
  at = $state(0)

  #transport: Transport
  #clock: Clock
  #timer: ReturnType<typeof setTimeout> | undefined
  #shown = 0 // the greatest event id that was on the screen since the last look ended

  /** refresh asks again; calls that come together share one answer. */
  readonly refresh: () => Promise<void>

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport
    this.#clock = clock
    this.refresh = coalesce(() => this.#load())
  }

  async #load(): Promise<void> {
    try {
      const b = await this.#transport.call('brief_get', {})
      const now = Date.parse(b.now)
      this.data = b
      this.error = null
      this.#clock.set(now)
      this.at = this.#clock.read()
      this.#arm(b.changes_at ? Date.parse(b.changes_at) - now : NaN)
    } catch (e) {
      this.error = asError(e)
    }
  }

  #arm(wait: number): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (Number.isFinite(wait)) {
      this.#timer = setTimeout(() => void this.refresh(), Math.min(2 ** 31 - 1, Math.max(0, wait) + 20))
    }
  }

  /** stop ends the timer; the next refresh sets it again. */
  stop(): void {
    this.#arm(NaN)
  }

  /** shown notes that the present brief is on the screen. */
  shown(): void {
    if (this.data) this.#shown = Math.max(this.#shown, this.data.last_event_id)
  }

  /** left moves the watermark to what was shown, when the panel is folded, hidden or left. */
  async left(): Promise<void> {
    const through = this.#shown
    this.#shown = 0
    if (through <= 0) return
    try {
      await this.#transport.call('brief_seen', { through_id: through }, { keepalive: true })
    } catch {
      // The mark stays where it was: the same news is new once more.
    }
  }
}
