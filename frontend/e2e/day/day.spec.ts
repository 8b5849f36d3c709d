import { expect, headline, test } from '../test'
import { Asker, Ticket } from './asker'
import { stories } from './audit'
import { Drainer } from './drainer'
import { draw, plan, streams, tickets, type Fate, type Plan } from './plan'

// A day of decisions: 30 streams ask 300 questions through their bridges while a
// person drains the queue by keyboard and the service is killed five times. At
// the end every question has ended as it should, and the ledger explains each.

const seed = Number(process.env.STEWARD_DAY_SEED ?? Date.now() % 1_000_000)
const atOnce = 60 // questions that are open at a time
const kills = ['answer', 'undo', 'told', 'asks', 'shared'] as const

/** What the person does with a card. */
const answers = (fate: Fate) => fate !== 'expire' && fate !== 'default' && fate !== 'cancel'

test('30 streams, 300 questions, five kills', async ({ steward, person }) => {
  console.log(`the day's seed is ${seed}; STEWARD_DAY_SEED has it again`)
  const all = plan(seed).map((p) => new Ticket(p))
  const askers = Array.from({ length: streams }, (_, i) => new Asker(steward, `stream-${i}`, all.filter((t) => t.plan.stream === i)))

  const page = await person.signedIn()
  await page.keyboard.press('g')
  await page.keyboard.press('d')
  await expect(headline(page)).toHaveText(/for you\.$/)
  const drainer = new Drainer(page)

  // The streams ask as long as there is room: nobody waits for an answer before
  // they go on.
  let ended = 0
  let failed: unknown
  const room: (() => void)[] = []
  const turn = (n: number) => new Promise<void>((go) => (n < ended + atOnce ? go() : (room[n] = go)))
  const lives = all.map(async (t) => {
    await turn(t.plan.n)
    await askers[t.plan.stream]!.live(t)
    ended++
    room[ended + atOnce - 1]?.()
  })
  for (const l of lives) l.catch((e: unknown) => (failed ??= e))

  const byMark = new Map<string, Ticket[]>()
  for (const t of all) byMark.set(t.plan.mark, [...(byMark.get(t.plan.mark) ?? []), t])

  // kill ends the service at a bad moment, lets it be away, and waits until the
  // page has read the queue anew.
  const random = draw(seed + 1)
  const killed: string[] = []
  const kill = async (how: (typeof kills)[number]) => {
    killed.push(how)
    await steward.end('SIGKILL')
    if (how === 'asks') {
      // Bridges die with what they were told and have not said.
      const some = askers.filter((a) => !a.delicate)
      await Promise.all(some.filter(() => random() < 0.4).map((a) => a.crash()))
    }
    await steward.serve()
    const fresh = page.waitForResponse((r) => r.url().endsWith('/api/tickets') && r.ok())
    await (await fresh).finished()
    await drainer.painted() // a key must not meet what was there before
    await drainer.until('the page has found the service', (q) => !q.lost && q.sending === 0)
  }
  const dueAt: Record<(typeof kills)[number], number> = { answer: 30, undo: 80, asks: 130, told: 180, shared: 225 }
  const due = (how: (typeof kills)[number]) => !killed.includes(how) && ended >= dueAt[how]

  // handle does what a person does with the card of a mark.
  const handle = async ({ mark, fate, answers: [first, second], question: { options = [] } }: Plan) => {
    const [t] = byMark.get(mark)!
    if ((fate === 'answer' && due('answer')) || (fate === 'shared' && due('shared'))) {
      // The answer is on its way when the service dies: it was taken, or not.
      if (!(await drainer.compose(mark, first, options))) return
      drainer.sent.push({ mark, answer: first })
      await drainer.press('Enter')
      await kill(fate === 'shared' ? 'shared' : 'answer')
    } else if (fate === 'answer' && due('asks')) {
      await kill('asks')
    }
    if (!(await drainer.answer(mark, first, options))) return
    if (fate === 'answer' || fate === 'shared' || fate === 'race') return
    if (fate !== 'unread') await drainer.within(`the asker of ${mark} reads the answer`, t!.read)
    if (due('undo')) {
      await drainer.press('u')
      await kill('undo')
    }
    await drainer.undo(mark)
    if (fate === 'read') {
      t!.look.keep()
      if (due('told')) await kill('told')
      await drainer.within(`the asker of ${mark} is told`, t!.told)
    }
    expect(await drainer.answer(mark, second, options), `${mark} is answered anew`).toBe(true)
    t!.look.keep()
  }

  // The card under the hands comes first, then the one at the top; what is for
  // nobody to answer is skipped.
  const wanted = (mark: string) => answers(byMark.get(mark)![0]!.plan.fate)
  while (ended < tickets) {
    if (failed) throw failed
    const before = ended // the last one may end while we look
    const { cards } = await drainer.look()
    const here = cards.find((c) => c.current)
    const next = here && wanted(here.mark) ? here : cards.find((c) => wanted(c.mark))
    if (here && !here.skipped && !wanted(here.mark)) await drainer.press('s')
    else if (next) await handle(byMark.get(next.mark)![0]!.plan)
    else {
      await drainer.until('a question comes or goes', (q) => failed !== undefined || ended > before || q.cards.some((c) => wanted(c.mark)))
    }
  }
  await Promise.all(lives)
  expect([...killed].sort()).toEqual([...kills].sort())
  await expect(page.locator('article')).toHaveCount(0)
  await expect(page).toHaveTitle('heads-up')

  // What became of each, by its asker, by the ledger, and by the plan.
  const events = await steward.exported()
  expect(await steward.verify()).toBe(events.length)
  const told = stories(events)
  expect(told.size, 'each question is in the ledger once').toBe(tickets)
  const ends: Record<string, number> = {}
  for (const t of all) {
    const { plan: p, heard, id } = t
    const s = told.get(id)
    const what = `${p.mark} (${p.fate}) of stream-${p.stream}, ${id}`
    expect(s, what).toBeDefined()
    if (!s) continue
    expect(s.faults, what).toEqual([])
    expect({ stream: s.stream, question: s.question }, what).toEqual({ stream: `stream-${p.stream}`, question: p.question.question })
    const last = heard.at(-1)!
    const prefix = { human: 'HUMAN ANSWER: ', default: 'DEFAULT ANSWER (applied on expiry; no human responded): ' }[s.decidedBy] ?? ''
    expect({ status: last.status, answer: last.answer ?? '' }, what).toEqual({ status: s.status, answer: prefix + s.answer })
    expect({ delivered: s.delivered + s.revoked > 0, revoked: s.revoked }, what).toEqual({ delivered: s.answer !== '', revoked: heard.filter((h) => h.revoked).length })
    expect(drainer.sent.filter((x) => x.mark === p.mark).map((x) => x.answer), what).toEqual(expect.arrayContaining(s.answered))
    expect(end(p, s.status === 'answered'), what).toEqual({ status: s.status, answer: s.answer, by: s.decidedBy, answered: s.answered, undone: s.undone, revoked: s.revoked })
    ends[`${p.fate} ${s.status}`] = (ends[`${p.fate} ${s.status}`] ?? 0) + 1
  }
  const repeated = askers.reduce((n, a) => n + a.repeated, 0)
  console.log(`${events.length} events; ${drainer.sent.length} answers sent; ${repeated} calls made again; ${JSON.stringify(ends)}`)
})

/** end is how a question of that plan ends. Only a race is open: whoever came first has it. */
function end(p: Plan, inTime: boolean) {
  const [first, second] = p.answers
  const human = { status: 'answered', by: 'human', undone: 0, revoked: 0 }
  const nobody = { status: 'expired', answer: '', by: 'expiry', answered: [], undone: 0, revoked: 0 }
  switch (p.fate) {
    case 'answer':
    case 'shared':
      return { ...human, answer: first, answered: [first] }
    case 'race':
      return inTime ? { ...human, answer: first, answered: [first] } : nobody
    case 'expire':
      return nobody
    case 'default':
      return { ...nobody, answer: p.question.default_answer, by: 'default' }
    case 'cancel':
      return { ...nobody, status: 'cancelled', by: '' }
    case 'unread':
      return { ...human, answer: second, answered: [first, second], undone: 1 }
    case 'read':
    case 'late':
      return { ...human, answer: second, answered: [first, second], undone: 1, revoked: 1 }
  }
}
