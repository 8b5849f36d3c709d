// What 30 streams ask in a day, and what should become of each question. All of
// it is drawn from one seed, so that a day can be had again.

import type { Question } from '../steward'

export const streams = 30
export const tickets = 300

/**
 * What becomes of a question:
 * - answer: the person answers it;
 * - shared: three streams ask the same, and one answer reaches them;
 * - race: it expires within a second or two; the person answers if they are in time;
 * - expire, default: nobody answers, and there is none, or one, to take instead;
 * - cancel: who asked takes it back;
 * - unread: it is answered, undone before its asker looked, answered anew;
 * - read: the same after its asker has read the answer, and is told;
 * - late: as read, but it is answered anew before the asker is told.
 */
export type Fate = 'answer' | 'shared' | 'race' | 'expire' | 'default' | 'cancel' | 'unread' | 'read' | 'late'

const counts: Record<Exclude<Fate, 'answer' | 'shared'>, number> = { race: 10, expire: 20, default: 20, cancel: 15, unread: 15, read: 10, late: 5 }
const sharedCards = 10
const askersOfOne = 3

export interface Plan {
  /** From 0, in the order of asking. */
  n: number
  stream: number
  /** Stands in the question, and tells the person what it is: #7, or #S3 for a shared one. */
  mark: string
  fate: Fate
  question: Question
  /** What the person answers; the second after an undo. */
  answers: readonly [string, string]
}

/** draw is a generator of numbers in [0, 1), mulberry32. */
export function draw(seed: number): () => number {
  let a = seed >>> 0
  return () => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = Math.imul(a ^ (a >>> 15), a | 1)
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** below is a whole number from 0 to most - 1. */
const below = (random: () => number, most: number) => Math.floor(random() * most)

/** plan draws the day's questions. */
export function plan(seed: number): Plan[] {
  const random = draw(seed)
  const units: { fate: Fate; size: number }[] = Object.entries(counts).flatMap(([fate, n]) => Array.from({ length: n }, () => ({ fate: fate as Fate, size: 1 })))
  for (let i = 0; i < sharedCards; i++) units.push({ fate: 'shared', size: askersOfOne })
  const left = tickets - units.reduce((n, u) => n + u.size, 0)
  for (let i = 0; i < left; i++) units.push({ fate: 'answer', size: 1 })
  for (let i = units.length - 1; i > 0; i--) {
    const j = below(random, i + 1)
    ;[units[i], units[j]] = [units[j]!, units[i]!]
  }
  const plans: Plan[] = []
  let cards = 0
  for (const { fate, size } of units) {
    const mark = fate === 'shared' ? `#S${cards++}` : `#${plans.length}`
    const made = ask(random, fate, mark)
    for (let i = 0; i < size; i++) {
      const n = plans.length
      const urgency = (['low', 'normal', 'normal', 'blocking'] as const)[below(random, 4)]!
      const q: Question = { ...made.question, urgency: fate === 'race' ? 'blocking' : urgency, idempotency_key: `day-${n}` }
      plans.push({ n, stream: n % streams, mark, fate, answers: made.answers, question: q })
    }
  }
  return plans
}

function ask(random: () => number, fate: Fate, mark: string): Pick<Plan, 'question' | 'answers'> {
  const options = Array.from({ length: 2 + below(random, 4) }, (_, i) => `Way ${i + 1} of ${mark}`)
  const first = below(random, options.length)
  const answers = [options[first]!, options[(first + 1) % options.length]!] as const
  const question: Question = { question: `Which way for ${mark}?`, options, context: `What is known of ${mark}:\nnothing more.`, reversible: random() < 0.8 }
  switch (fate) {
    case 'race':
      return { answers, question: { ...question, timeout_seconds: 1 + below(random, 2) } }
    case 'expire':
      return { answers, question: { ...question, timeout_seconds: 1 + below(random, 5) } }
    case 'default':
      return { answers, question: { ...question, timeout_seconds: 1 + below(random, 5), reversible: true, default_answer: options[below(random, options.length)]! } }
    case 'answer':
      if (random() < 0.2) {
        // Nothing to pick: the person writes.
        const { options: _, ...open } = question
        return { answers: [`Words for ${mark}`, `Other words for ${mark}`], question: open }
      }
  }
  return { answers, question }
}
