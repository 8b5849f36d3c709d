// A person at the keyboard, before the queue in a browser. They read what is on
// the screen before each key, as one does, and press nothing else.

import { expect, type Page } from '@playwright/test'
import type { Signal } from './asker'

/** A card as it stands on the screen. */
interface Seen {
  mark: string
  current: boolean
  skipped: boolean
  /** The option that is marked, from 1; 0 for none. */
  picked: number
  text: string
  writing: boolean
}

interface Queue {
  cards: Seen[]
  /** The marks of what has been answered and is confirmed, newest first. */
  answered: string[]
  sending: number
  /** There are more cards than the page shows. */
  more: boolean
  /** The service is said to be away. */
  lost: boolean
}

const patience = 30_000 // ms

export class Drainer {
  readonly page: Page
  /** Answers that were sent off, by mark. */
  readonly sent: { mark: string; answer: string }[] = []

  constructor(page: Page) {
    this.page = page
  }

  press(key: string): Promise<void> {
    return this.page.keyboard.press(key)
  }

  /** look reads the screen. */
  look(): Promise<Queue> {
    return this.page.evaluate(() => {
      const markOf = (e: Element | null) => /#\w+/.exec(e?.textContent ?? '')?.[0] ?? ''
      const skipped = [...document.querySelectorAll('.queue section')].find((s) => s.querySelector('h2')?.textContent?.startsWith('Skipped'))
      const lines = [...document.querySelectorAll('[data-answered]')]
      return {
        cards: [...document.querySelectorAll('article')].map((a) => {
          const text = a.querySelector('textarea')
          return {
            mark: markOf(a.querySelector('h3')), current: a.hasAttribute('aria-current'), skipped: skipped?.contains(a) ?? false,
            picked: [...a.querySelectorAll('input')].findIndex((i) => i.checked) + 1, text: text?.value ?? '', writing: document.activeElement === text,
          }
        }),
        answered: lines.filter((l) => !l.querySelector('.sending')).map((l) => markOf(l.querySelector('.question'))),
        sending: lines.filter((l) => l.querySelector('.sending')).length,
        more: document.querySelector('.queue .more') !== null,
        lost: document.querySelector('.banner') !== null,
      }
    })
  }

  /** painted waits until what has come is on the screen. */
  async painted(): Promise<void> {
    await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
  }

  /** until looks again and again, as long as a person would. */
  async until(what: string, holds: (q: Queue) => boolean): Promise<Queue> {
    let q = await this.look()
    await expect.poll(async () => holds((q = await this.look())), { message: what, timeout: patience, intervals: [10, 20, 50, 100] }).toBe(true)
    return q
  }

  /** compose goes to a card, picks or writes its answer, and sees it stand there; false when the card has gone. */
  async compose(mark: string, answer: string, options: readonly string[]): Promise<boolean> {
    const n = options.indexOf(answer) + 1
    for (;;) {
      const { cards } = await this.look()
      const to = cards.findIndex((c) => c.mark === mark)
      const at = cards.findIndex((c) => c.current)
      const card = cards[to]
      if (!card) return false
      if (to !== at) await this.press(to > at ? 'j' : 'k')
      else if (n > 0 ? card.picked === n : card.text === answer) return true
      else if (n > 0) await this.press(String(n))
      else if (!card.writing) await this.press('i')
      else {
        await this.press('Control+a')
        await this.page.keyboard.insertText(answer)
      }
    }
  }

  /** answer answers a card, however often it has to be said; false when the card went before. */
  async answer(mark: string, answer: string, options: readonly string[]): Promise<boolean> {
    for (;;) {
      if (!(await this.compose(mark, answer, options))) return this.#isAnswered(mark)
      this.sent.push({ mark, answer })
      await this.press('Enter')
      // It is taken, or it comes back; or it went while it was being answered.
      const q = await this.until(`the answer to ${mark} comes through`, (q) => q.sending === 0 && !q.lost)
      if (q.answered.includes(mark) && !q.cards.some((c) => c.mark === mark)) return true
    }
  }

  async #isAnswered(mark: string): Promise<boolean> {
    return (await this.look()).answered.includes(mark)
  }

  /**
   * undo takes back the answer to a card, which is the last that was given. A card
   * whose undo was taken without the page being told waits at its place in the
   * queue, which can be beyond what is shown.
   */
  async undo(mark: string): Promise<void> {
    const waits = (q: Queue) => q.cards.some((c) => c.mark === mark)
    for (;;) {
      const q = await this.until(`${mark} is the last answer, or waits again`, (q) => !q.lost && q.sending === 0 && (waits(q) || q.answered[0] === mark || q.more))
      if (waits(q)) return
      if (q.answered[0] === mark) {
        await this.press('u')
        await this.until(`${mark} waits again, or the answer stands`, (q) => waits(q) || q.lost || !q.answered.includes(mark))
      } else await this.page.evaluate(() => document.querySelector<HTMLElement>('.queue .more button')?.click())
    }
  }

  /** within waits for what an agent does, as long as a person would. */
  async within(what: string, s: Signal): Promise<void> {
    let late: NodeJS.Timeout | undefined
    await Promise.race([s.kept, new Promise((_, no) => (late = setTimeout(() => no(new Error(`waited in vain: ${what}`)), patience)))])
    clearTimeout(late)
  }
}
