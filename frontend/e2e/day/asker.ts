// An agent with ten questions: it asks, goes on, and comes back for the answers.
// What gets no answer it asks again with its key; when its bridge has died it
// starts another.

import { Refused, type Agent, type Steward } from '../steward'
import type { Plan } from './plan'

const patience = 60_000 // ms until a call that is repeated must have been answered
const oneWait = 20 // s

/** What one wait for an answer came to. */
export type Heard = Awaited<ReturnType<Agent['wait']>>

/** A promise that somebody else keeps. */
export class Signal {
  keep!: () => void
  readonly kept = new Promise<void>((keep) => (this.keep = keep))
}

/** One question, from its asking to its end. */
export class Ticket {
  readonly plan: Plan
  id = ''
  /** What came of its waits, but for those that came to nothing. */
  heard: Heard[] = []
  /** The asker has read a first answer. */
  readonly read = new Signal()
  /** The asker may look, for the first time or again. */
  readonly look = new Signal()
  /** The asker knows that the answer it had no longer counts. */
  readonly told = new Signal()

  constructor(plan: Plan) {
    this.plan = plan
  }
}

export class Asker {
  /** Calls that were made again because no answer had come. */
  repeated = 0
  readonly tickets: Ticket[]
  #steward: Steward
  #name: string
  #bridge: Promise<Agent>

  constructor(steward: Steward, name: string, tickets: Ticket[]) {
    this.tickets = tickets
    this.#steward = steward
    this.#name = name
    this.#bridge = steward.agent(name)
  }

  /** Whether it is between an answer and the word that it no longer counts: that word must reach somebody. */
  get delicate(): boolean {
    return this.tickets.some((t) => (t.plan.fate === 'read' || t.plan.fate === 'late') && t.id !== '' && t.heard.at(-1)?.answer !== `HUMAN ANSWER: ${t.plan.answers[1]}`)
  }

  /** crash kills the bridge, with all that it has not told its client. */
  async crash(): Promise<void> {
    const old = await this.#bridge
    await old.die()
    this.#bridge = this.#steward.agent(this.#name)
    await this.#bridge
  }

  /** live asks one question and waits for its end. */
  async live(t: Ticket): Promise<void> {
    const { fate, question } = t.plan
    t.id = await this.#call((a) => a.ask(question))
    if (fate === 'cancel') await this.#call((a) => a.cancel(t.id))
    if (fate === 'unread') await t.look.kept
    for (;;) {
      const w = await this.#call((a) => a.wait(t.id, oneWait))
      if (w.status === 'pending' && !w.revoked) continue
      t.heard.push(w)
      if (w.revoked) t.told.keep()
      if (w.status === 'pending') continue
      if ((fate !== 'read' && fate !== 'late') || t.heard.length > 1) return
      t.read.keep()
      await t.look.kept
    }
  }

  async #call<T>(make: (a: Agent) => Promise<T>): Promise<T> {
    const until = Date.now() + patience
    for (;;) {
      const bridge = await this.#bridge
      try {
        return await make(bridge)
      } catch (e) {
        const refused = e instanceof Refused && e.facts.error?.code !== 'unavailable'
        if (refused || Date.now() > until) throw e
        this.repeated++
        await new Promise((r) => setTimeout(r, 50)) // between two tries
      }
    }
  }
}
