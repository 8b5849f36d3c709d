// The page's clock. It stands still until a word on the page would change, and
// then ticks once: nothing repeats.

import type { Word } from '../i18n/times'

const longest = 2 ** 31 - 1 // ms; what setTimeout can hold

/** Clock knows the service's time and wakes when a word on the page is out of date. */
export class Clock {
  /** The time that words are made from, ms since 1970 by the service's clock. */
  now = $state(Date.now())

  #offset = 0
  #words = new Set<() => Word>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #planned = false
  #running = false

  /** read is the service's time at this moment. */
  read(): number {
    return Date.now() + this.#offset
  }

  /** set takes the service's word for what time it is. */
  set(serviceNow: number): void {
    if (!Number.isFinite(serviceNow)) return
    this.#offset = serviceNow - Date.now()
    this.tick()
  }

  /** tick brings every word up to date. */
  tick(): void {
    this.now = this.read()
    this.#plan()
  }

  /** watch keeps a word up to date while the clock runs; call what it returns when the word is gone. */
  watch(word: () => Word): () => void {
    this.#words.add(word)
    this.#plan()
    return () => {
      this.#words.delete(word)
      this.#plan()
    }
  }

  /** run starts or stops the clock; while nobody looks it stands. */
  run(on: boolean): void {
    if (on === this.#running) return
    this.#running = on
    if (on) this.tick()
    else this.#plan()
  }

  // plan sets the one timer, after all words of this moment are known.
  #plan(): void {
    if (this.#planned) return
    this.#planned = true
    queueMicrotask(() => {
      this.#planned = false
      clearTimeout(this.#timer)
      this.#timer = undefined
      if (!this.#running) return
      let next = Infinity
      for (const w of this.#words) next = Math.min(next, w().until)
      if (next === Infinity) return
      const wait = Math.min(longest, Math.max(50, next - this.read() + 5))
      this.#timer = setTimeout(() => this.tick(), wait)
    })
  }
}
