import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { hostile, queue } from '../dev/fixtures'
import { open as start } from '../src/start'
import { emptyWorld, FakeTransport } from '../src/transport/fake'
import { StewardError } from '../src/transport/transport'
import type { Ticket } from '../src/types'
import { byRole, open as openPage, settle, text, type Opened } from './page'

const now = Date.parse('2026-11-30T14:22:10.000Z')
const minute = 60_000
const iso = (ms: number) => new Date(ms).toISOString()

beforeEach(() => {
  vi.useFakeTimers({ now })
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

type Ask = Partial<Ticket> & { left?: number; ago?: number }
let n = 0
const ask = (fake: FakeTransport, question: string, { left = 30, ago = 0, ...t }: Ask = {}): Ticket =>
  fake.ask({ id: `tkt_01KBB4Z3V0E5XJ8QWY2M00${String(++n).padStart(4, '0')}`, question, options: ['Yes', 'No', 'Later'], created_at: iso(fake.now - ago * minute), expires_at: iso(fake.now + left * minute), ...t })

/** decide opens the view over these questions. The first named is the first shown. */
async function decide(questions: [string, Ask?][] = [['First?'], ['Second?'], ['Third?']]): Promise<Opened & { t: Ticket[] }> {
  const o = await openPage(emptyWorld(now))
  const t = questions.map(([q, a], i) => ask(o.fake, q, { left: 30 + i, ...a }))
  await settle()
  o.app.go('decide')
  await settle()
  await pass(500) // long enough to have been seen
  o.fake.calls.length = 0
  return { ...o, t }
}

/** pass lets time pass, for the service as well. */
async function pass(ms: number, fake?: FakeTransport): Promise<void> {
  if (fake) fake.world.now += ms
  await vi.advanceTimersByTimeAsync(ms)
  await settle()
}

const cards = () => [...document.querySelectorAll<HTMLElement>('article')]
const shown = () => cards().map((c) => c.querySelector('h3')!.textContent)
const here = () => document.querySelector<HTMLElement>('article[aria-current]')
const selected = () => here()?.querySelector('h3')?.textContent ?? null
const picked = () => [...document.querySelectorAll('article')].map((c) => c.querySelector('.picked span')?.textContent ?? '')
const sent = (fake: FakeTransport, name = 'ticket_answer') => fake.calls.filter((c) => c.name === name).map((c) => c.args)
const answeredRows = () => [...document.querySelectorAll('[data-answered]')].map((r) => r.textContent!.replace(/\s+/g, ' '))
const foot = () => [...document.querySelectorAll('footer .key')].map((k) => `${[...k.querySelectorAll('kbd')].map((c) => c.textContent).join(' ')} ${k.lastChild!.textContent!.trim()}`).join(' · ')
const said = () => text('.queue > .sr')
const area = () => here()!.querySelector('textarea')!

async function type(el: HTMLTextAreaElement, words: string): Promise<void> {
  el.focus()
  el.value = words
  el.dispatchEvent(new Event('input', { bubbles: true }))
  await settle()
}

describe('the view', () => {
  it('says what waits in the sentence, the tab, the orb, the title and the brief', async () => {
    const { app, click } = await openPage(queue('en', now))
    expect(document.title).toBe('(6) heads-up')
    expect(byRole('img', 'Steward: 6 decisions, 1 waiting for you, 2 failures')).not.toBeNull()
    expect(text('h1')).toBe('Seven moving, two failures, six decisions wait, one handoff waits.')
    expect(byRole('tab', /^Decide/)!.getAttribute('aria-label')).toBe('Decide, 6 decisions')
    await click(document.querySelector('main [data-action="view.decide"]'))
    expect([app.view, text('h1')]).toEqual(['decide', 'Six decisions wait for you.'])
    expect(text('header p')).toBe('Oldest asked 9 min ago · 1 blocks its agent')
    await app.settings.set({ language: 'zh-CN' })
    await settle()
    expect(text('h1')).toBe('有 6 项决定在等你。')
    expect(document.title).toBe('(6) heads-up')
    await app.settings.set({ language: 'en' })
  })

  it('says that nothing waits, and how a question comes here', async () => {
    const { app } = await openPage(emptyWorld(now))
    app.go('decide')
    await settle()
    expect([text('h1'), document.title]).toEqual(['No decision waits for you.', 'heads-up'])
    expect(text('main')).toContain('ask_human')
  })

  it('leaves the title of the window alone', async () => {
    document.title = 'Steward'
    await openPage(queue('en', now), { shape: 'panel' })
    expect(document.title).toBe('Steward')
  })

  it('groups by stream and shows on a card all that there is to know', async () => {
    const { app } = await openPage(queue('en', now))
    app.go('decide')
    await settle()
    const sections = [...document.querySelectorAll('main section')].map((s) => s.querySelector('h2')!.textContent!.replace(/[\u2068\u2069]/g, ''))
    expect(sections).toEqual(['api-server', 'billing', 'web-app', 'dj', 'release', 'Answered'])
    const [drop, lint] = cards()
    expect(drop!.className).toContain('blocking')
    expect(text('article .meta')).toBe('! blocking irreversible asked 6 min ago · expires in 24 min')
    expect(drop!.querySelector('.context')!.textContent).toBe('1,204 rows still reference it. A backup was taken at 13:55.\nThe column is unused since v3.1.')
    expect([...drop!.querySelectorAll('label')].map((l) => l.textContent!.trim().replace(/\s+/g, ' '))).toEqual(['1 Drop it now', '2 Keep it, add a view', '3 Stop the migration'])
    expect(drop!.querySelector('.end')!.textContent).toMatch(/^\s*at \d\d:46 it expires unanswered\s*$/)
    expect(drop!.querySelector('.id')!.textContent).toBe('T-0192')
    expect(lint!.querySelector('.id')!.textContent).toBe('T-0KD3 +1')
    expect(lint!.querySelector('.who')!.textContent!.replace(/\s+/g, ' ')).toContain('2 ask: api-server, web-app')
    expect(lint!.className).toContain('normal') // the higher of low and normal
    expect(lint!.querySelector('.end')!.textContent!.replace(/[\u2068\u2069]/g, '')).toMatch(/at \d\d:48 → “Only for new files”/)
    expect(cards().find((c) => c.className.includes('low'))!.querySelector('.meta')!.textContent).toContain('low')
  })

  it('opens a long context in full', async () => {
    const { click } = await decide([['Long?', { context: Array.from({ length: 40 }, (_, i) => `line ${i}`).join('\n') }]])
    expect(document.querySelector('.context')!.className).toContain('clamped')
    await click(byRole('button', 'Show all'))
    expect(document.querySelector('.context')!.className).not.toContain('clamped')
    expect(byRole('button', 'Show less')!.getAttribute('aria-expanded')).toBe('true')
  })

  it('keeps the time that is left up to date', async () => {
    const { fake } = await decide([['Soon?', { left: 2 }]])
    expect(text('.meta')).toContain('expires in 1 min')
    await pass(70_000, fake)
    expect(text('.meta')).toMatch(/expires in 4\d s/)
  })

  it('says tomorrow’s hour with its day', async () => {
    await decide([['Late?', { left: 24 * 60 }]])
    expect(text('.end')).toMatch(/^at Tue \d\d:22 it expires unanswered$/)
  })

  it('shows no more cards than fit a page, and more when asked', async () => {
    const { click } = await decide(Array.from({ length: 70 }, (_, i) => [`Q${i}?`]))
    expect(cards().length).toBe(50)
    await click(byRole('button', 'and 20 more'))
    expect(cards().length).toBe(70)
  })

  it('always shows the card that keys act on', async () => {
    const { app, fake, press } = await decide(Array.from({ length: 55 }, (_, i) => [`Question ${i}?`]))
    expect([selected(), cards().length]).toEqual(['Question 0?', 50])
    // What is taken back goes to its place in the order, which may be far down.
    app.tickets.select(app.tickets.cards[54]!.key)
    await settle()
    expect([selected(), cards().length]).toEqual(['Question 54?', 55])
    await press('2')
    await press('Enter')
    await pass(500)
    expect(selected()).toBe('Question 53?')
    app.tickets.select(app.tickets.cards[0]!.key)
    await press('u')
    expect(selected()).toBe('Question 54?')
    // And what comes before it moves it down.
    app.tickets.select(app.tickets.cards[49]!.key)
    await pass(5_000)
    const was = selected()
    ask(fake, 'Urgent?', { urgency: 'blocking', stream: 'web-app' })
    await settle()
    expect(app.tickets.cards[0]!.urgency).toBe('blocking')
    expect(selected()).toBe(was)
  })

  it('shows text of agents as text', async () => {
    const { app } = await openPage(hostile(now))
    app.go('decide')
    await settle()
    expect(document.querySelectorAll('main img, main script, main a, main i, main u').length).toBe(0)
    expect(document.title).toBe('(1) heads-up')
    const card = cards()[0]!
    expect(card.textContent).toContain('<script>alert(1)</script>')
    expect(card.textContent).toContain('⟨RLO⟩')
    expect(document.querySelector('main')!.textContent).not.toMatch(/[\u202a-\u202e\u200b\u0000-\u0008]/)
    for (const el of document.querySelectorAll('main [title], main [aria-label]')) expect(`${el.getAttribute('title')}${el.getAttribute('aria-label')}`).not.toMatch(/[\u202a-\u202e]/)
    expect(card.querySelectorAll('label').length).toBe(5)
  })
})

describe('keys', () => {
  it('pick by digit and answer by Enter, and a digit twice does not answer', async () => {
    const { fake, press, t } = await decide()
    expect([shown(), selected()]).toEqual([['First?', 'Second?', 'Third?'], 'First?'])
    await press('2')
    await press('2')
    expect(picked()).toEqual(['No', '', ''])
    expect(sent(fake)).toEqual([])
    await press('1')
    await press('Enter')
    expect(sent(fake)).toEqual([{ id: t[0]!.id, answer: 'Yes' }])
    expect([shown(), selected()]).toEqual([['Second?', 'Third?'], 'Second?'])
    expect(answeredRows()[0]).toContain('First?')
    expect(answeredRows()[0]).toContain('you: Yes')
    expect(text('h1')).toBe('Two decisions wait for you.')
  })

  it('drain as fast as they are pressed', async () => {
    const { press, fake, t } = await decide(Array.from({ length: 6 }, (_, i) => [`Q${i}?`]))
    for (const d of ['1', '2', '3', '1', '2', '3']) {
      window.dispatchEvent(new KeyboardEvent('keydown', { key: d, bubbles: true, cancelable: true }))
      window.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
    }
    await press('Shift')
    expect(sent(fake)).toEqual(['Yes', 'No', 'Later', 'Yes', 'No', 'Later'].map((answer, i) => ({ id: t[i]!.id, answer })))
    expect(shown()).toEqual([])
    expect(fake.world.tickets.every((x) => x.status === 'answered')).toBe(true)
  })

  it('say what is missing when Enter comes before a pick', async () => {
    const { fake, press } = await decide()
    await press('Enter')
    await press('4') // there are three
    await press('Enter')
    expect(sent(fake)).toEqual([])
    expect(text('.note')).toContain('Pick an option or write an answer first.')
  })

  it('move between cards, and the focus with them', async () => {
    const { press } = await decide()
    await press('j')
    expect([selected(), document.activeElement]).toEqual(['Second?', here()])
    await press('ArrowDown')
    await press('j')
    expect(selected()).toBe('Third?')
    await press('k')
    await press('ArrowUp')
    await press('k')
    expect(selected()).toBe('First?')
  })

  it('choose views outside only; here g does', async () => {
    const { app, press } = await decide()
    await press('1')
    expect(app.view).toBe('decide')
    for (const [key, view] of [['b', 'brief'], ['d', 'decide'], ['h', 'handoffs'], ['d', 'decide'], ['s', 'settings'], ['d', 'decide']] as const) {
      await press('g')
      await press(key)
      expect(app.view).toBe(view)
    }
    await press('g')
    await press('b')
    await press('2')
    expect(app.view).toBe('decide')
  })

  it('do nothing by letter and digit when that is turned off, and everything by the others', async () => {
    const { app, fake, press, click } = await decide()
    app.settings.singleKeys = false
    for (const k of ['1', 's', 'i', 'u', 'j']) await press(k)
    expect([selected(), picked().join('')]).toEqual(['First?', ''])
    await press('ArrowDown')
    await click(here()!.querySelectorAll('label')[1]!)
    await press('Enter', { target: here()!.querySelector('input:checked')! })
    expect(sent(fake)).toMatchObject([{ answer: 'No' }])
  })

  it('leave a pick by pointer to Enter, and give arrows to the options', async () => {
    const { click, press } = await decide()
    const radio = cards()[1]!.querySelectorAll('input')[2]!
    radio.focus()
    await click(radio)
    expect([selected(), picked()]).toEqual(['Second?', ['', 'Later', '']])
    const e = await press('ArrowDown', { target: radio })
    expect([e.defaultPrevented, selected()]).toEqual([false, 'Second?'])
  })

  it('skip to the end of this page’s order, and change nothing', async () => {
    const { fake, press, click } = await decide()
    await press('s')
    expect([shown(), selected(), document.activeElement]).toEqual([['Second?', 'Third?', 'First?'], 'Second?', here()])
    await click(cards()[1]!.querySelector('[data-action="ticket.skip"]'))
    expect(shown()).toEqual(['Second?', 'First?', 'Third?'])
    expect([...document.querySelectorAll('h2')].map((h) => h.textContent)).toContain('Skipped')
    expect(fake.calls.map((c) => c.name).filter((c) => c !== 'ticket_list')).toEqual([])
    expect(fake.world.tickets.every((t) => t.status === 'pending')).toBe(true)
    ask(fake, 'New?')
    await pass(4_000)
    expect(shown()).toEqual(['New?', 'Second?', 'First?', 'Third?'])
  })

  it('are listed in footer and help', async () => {
    const { press } = await decide()
    expect(foot()).toBe('j k move · 1–3 pick · ⏎ answer · i write · s skip · ? keys')
    await press('?')
    expect(text('dialog')).toContain('In Decide')
    expect(text('dialog')).toContain('Shift+Enter breaks a line')
    expect(text('dialog')).toContain('Pick option 5')
  })
})

describe('writing', () => {
  it('begins with i, answers with Enter, breaks a line with Shift+Enter, and leaves with Esc', async () => {
    const { app, fake, press, t } = await decide()
    await press('i')
    expect(document.activeElement).toBe(area())
    expect(foot()).toBe('⏎ answer · ⇧⏎ new line · esc leave')
    await type(area(), '  two\nlines ')
    for (const k of ['1', 's', 'u', 'j']) expect((await press(k)).defaultPrevented).toBe(false)
    expect((await press('Enter', { shiftKey: true })).defaultPrevented).toBe(false)
    await press('Enter', { isComposing: true })
    expect(sent(fake)).toEqual([])
    await press('Escape')
    expect([document.activeElement, app.tickets.writing, area().value]).toEqual([here(), '', '  two\nlines '])
    await press('i')
    await press('Enter')
    expect(sent(fake)).toEqual([{ id: t[0]!.id, answer: 'two\nlines' }])
    expect([selected(), document.activeElement]).toEqual(['Second?', here()])
  })

  it('folds by Esc only after the text is left', async () => {
    const o = await openPage(emptyWorld(now), { shape: 'panel' })
    ask(o.fake, 'First?')
    o.app.go('decide')
    await settle()
    await o.press('i')
    await o.press('Escape')
    expect(o.fake.asked).toEqual([])
    await o.press('Escape')
    expect(o.fake.asked).toEqual(['fold'])
  })

  it('counts near the limit and sends nothing over it', async () => {
    const { fake, press } = await decide()
    await press('i')
    await type(area(), '🎉'.repeat(1_800))
    expect(document.querySelector('.write .count')).toBeNull()
    await type(area(), '🎉'.repeat(1_873))
    expect(text('.write .count')).toBe('1,873 / 2,000')
    await type(area(), '🎉'.repeat(2_001))
    expect(area().getAttribute('aria-invalid')).toBe('true')
    await press('Enter')
    expect(sent(fake)).toEqual([])
    await type(area(), '🎉'.repeat(2_000))
    await press('Enter')
    expect(sent(fake)).toMatchObject([{ answer: '🎉'.repeat(2_000) }])
  })

  it('makes clear whether the pick or the text is sent', async () => {
    const { fake, press } = await decide()
    await type(area(), 'in words')
    await press('Escape')
    await press('3')
    expect(text('.write .count')).toBe('Option 3 is picked; this text is not sent.')
    expect(area().value).toBe('in words')
    await press('i')
    await type(area(), 'in other words')
    expect(picked()[0]).toBe('')
    await press('Enter')
    expect(sent(fake)).toMatchObject([{ answer: 'in other words' }])
  })
})

describe('the same question of several', () => {
  const same: Ask = { options: ['Yes', 'No'] }
  const three: [string, Ask][] = [['May I?', { ...same, stream: 'a', ago: 3, left: 60 }], ['May I?', { ...same, stream: 'b', ago: 2, left: 50 }], ['May I?', { ...same, stream: 'c', ago: 1, left: 20 }]]

  it('is one card whose answer reaches all of it', async () => {
    const { fake, press, t } = await decide(three)
    expect(cards().length).toBe(1)
    expect(text('.who')).toContain('3 ask: a, b, c')
    await press('2')
    await press('Enter')
    expect(sent(fake)).toEqual([{ id: t[0]!.id, answer: 'No', ids: [t[1]!.id, t[2]!.id] }])
    expect(answeredRows().length).toBe(1)
    expect(answeredRows()[0]).toContain('3 askers')
  })

  it('never answers who asked after what the person saw', async () => {
    const { fake, press, t } = await decide(three.slice(0, 2))
    await press('1')
    const late = ask(fake, 'May I?', { ...same, stream: 'late' })
    await settle()
    expect(text('.who')).toContain('2 ask: a, b') // the card stands still under the pick
    await press('Enter')
    expect(sent(fake)).toEqual([{ id: t[0]!.id, answer: 'Yes', ids: [t[1]!.id] }])
    expect([late.status, shown(), picked()]).toEqual(['pending', ['May I?'], ['']])
    await press('Enter') // and the pick was for those two only
    expect(late.status).toBe('pending')
  })

  it('does not answer who came into the card a blink ago either', async () => {
    const { fake, press, t } = await decide(three.slice(0, 2))
    const late = ask(fake, 'May I?', { ...same, stream: 'late' })
    await settle()
    expect(text('.who')).toContain('3 ask')
    await pass(100)
    await press('1')
    await press('Enter')
    expect(sent(fake)).toEqual([{ id: t[0]!.id, answer: 'Yes', ids: [t[1]!.id] }])
    expect(late.status).toBe('pending')
    await pass(500)
    await press('1')
    await press('Enter')
    expect(late.status).toBe('answered')
  })

  it('shows who asked later once the person is not in the middle of it', async () => {
    const { fake, press } = await decide(three.slice(0, 2))
    await press('1')
    ask(fake, 'May I?', { ...same, stream: 'late' })
    await settle()
    await pass(3_100)
    expect(text('.who')).toContain('3 ask: a, b, late')
    expect(picked()).toEqual(['Yes'])
  })

  it('can be split, answered alone, and joined again', async () => {
    const { fake, click, press, t } = await decide(three)
    await click(byRole('button', 'Answer each alone'))
    expect(cards().length).toBe(3)
    expect(cards().map((c) => c.dataset.ticket)).toContain(here()!.dataset.ticket)
    expect(here()!.dataset.ticket).toBe(`T-${t[0]!.id.slice(-4)}`)
    await press('1')
    await press('Enter')
    expect(sent(fake)).toEqual([{ id: t[0]!.id, answer: 'Yes' }])
    expect(cards().length).toBe(2)
    await click(byRole('button', 'Join again'))
    expect(cards().length).toBe(1)
    expect(text('.who')).toContain('2 ask')
  })

  it('goes in several calls when there are more than one takes', async () => {
    const { fake, press } = await decide(Array.from({ length: 210 }, (_, i) => ['May I?', { ...same, stream: `s${i}` }]))
    await press('1')
    await press('Enter')
    expect(sent(fake).map((a) => (a as { ids: string[] }).ids.length)).toEqual([200, 8])
    expect(fake.world.tickets.every((t) => t.status === 'answered')).toBe(true)
  })
})

describe('undo', () => {
  it('takes the last answer back by u, and the card waits again with the focus on it', async () => {
    const { fake, press, t } = await decide()
    await press('1')
    await press('Enter')
    await pass(1_000, fake)
    await press('2')
    await press('Enter')
    await press('u')
    expect(sent(fake, 'ticket_undo')).toEqual([{ id: t[1]!.id }])
    expect([shown(), selected(), document.activeElement]).toEqual([['Second?', 'Third?'], 'Second?', here()])
    expect(text('.note')).toContain('It waits again.')
    expect(picked()).toEqual(['', ''])
  })

  it('takes back what its own button stands beside', async () => {
    const { fake, click, press, t } = await decide()
    await press('1')
    await press('Enter')
    await pass(1_000, fake)
    await press('1')
    await press('Enter')
    await click(document.querySelectorAll('[data-answered] button')[1]!)
    expect(sent(fake, 'ticket_undo')).toEqual([{ id: t[0]!.id }])
    await press('u')
    expect(sent(fake, 'ticket_undo')[1]).toEqual({ id: t[1]!.id })
  })

  it('takes back from everybody whom the answer reached', async () => {
    const { fake, press, t } = await decide([['May I?', { stream: 'a', ago: 2 }], ['May I?', { stream: 'b', ago: 1 }]])
    await press('1')
    await press('Enter')
    await press('u')
    expect(sent(fake, 'ticket_undo')).toEqual([{ id: t[0]!.id, ids: [t[1]!.id] }])
    expect(text('.who')).toContain('2 ask')
  })

  it('works on an answer that is still on its way', async () => {
    const { fake, press, t } = await decide()
    await press('1')
    window.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
    await press('u')
    expect(fake.calls.map((c) => c.name).filter((c) => c.startsWith('ticket_') && c !== 'ticket_list')).toEqual(['ticket_answer', 'ticket_undo'])
    expect([t[0]!.status, shown()[0]]).toEqual(['pending', 'First?'])
  })

  it('is offered for five minutes by the service’s clock, and then the row goes by itself', async () => {
    const { fake, press } = await decide()
    fake.world.now -= 3_600_000 // its clock differs from the page's
    for (const x of fake.world.tickets) x.expires_at = iso(fake.now + 30 * minute)
    fake.change({ type: 'ticket' })
    await settle()
    await press('1')
    await press('Enter')
    await pass(4.9 * minute, fake)
    expect(answeredRows().length).toBe(1)
    await pass(0.2 * minute, fake)
    expect(answeredRows().length).toBe(0)
  })

  it('says when it is too late', async () => {
    const { fake, press } = await decide()
    await press('1')
    await press('Enter')
    fake.fails.set('ticket_undo', new StewardError('closed', 'x'))
    await press('u')
    expect(text('[role=alert]')).toContain('can no longer be taken back')
  })
})

describe('what happens elsewhere', () => {
  it.each<[string, Partial<Ticket>, RegExp]>([
    ['answered', { status: 'answered', answer: 'No', answered_by: 'human', answered_at: iso(now) }, /Too late: T-\d{4} was answered elsewhere at \d\d:\d\d: “No”\. Your answer was not taken\./],
    ['expired with its default', { status: 'expired', answer: 'Later', answered_by: 'default' }, /expired, and its default was applied: “Later”/],
    ['expired', { status: 'expired' }, /expired unanswered/],
    ['cancelled', { status: 'cancelled' }, /was taken back by web-app/],
  ])('tells a late answer that the question was %s', async (_, change, words) => {
    const { fake, press, t } = await decide()
    await press('1')
    Object.assign(t[0]!, change) // and nobody has told the page
    await press('Enter')
    expect(text('[role=alert]').replace(/[\u2068\u2069]/g, '')).toMatch(words)
    expect([shown(), selected(), sent(fake).length]).toEqual([['Second?', 'Third?'], 'Second?', 1])
  })

  it('names whom an answer did not reach', async () => {
    const { press, t } = await decide([['May I?', { stream: 'a', ago: 2 }], ['May I?', { stream: 'b', ago: 1 }]])
    await press('1')
    Object.assign(t[1]!, { status: 'answered', answer: 'No', answered_by: 'human', answered_at: iso(now) })
    await press('Enter')
    expect(text('.note').replace(/[\u2068\u2069]/g, '')).toMatch(/is answered\. Not reached: T-\d{4} was answered elsewhere at \d\d:\d\d: “No”\./)
  })

  it('keeps the draft of an answer that may not have come', async () => {
    const { fake, press } = await decide()
    await press('2')
    fake.fails.set('ticket_answer', new StewardError('offline', 'x'))
    await press('Enter')
    expect(text('[role=alert]')).toContain('may or may not have been taken')
    expect([shown()[0], picked()[0]]).toEqual(['First?', 'No'])
  })

  it('takes an answered card away quietly, selects the next and tells a screen reader', async () => {
    const { fake, press, t } = await decide()
    await press('j')
    fake.turn(t[1]!, { status: 'answered', answer: 'No', answered_by: 'human', answered_at: iso(fake.now) })
    await settle()
    expect([shown(), selected(), document.activeElement]).toEqual([['First?', 'Third?'], 'Third?', here()])
    expect(said().replace(/[\u2068\u2069]/g, '')).toMatch(/^T-\d{4} was answered elsewhere\. Now: Third\?$/)
    expect(document.querySelector('.note')).toBeNull()
    expect(answeredRows()[0]).toContain('Second?')
  })

  it('does not let a key that was meant for the old card answer the new one', async () => {
    const { fake, press, t } = await decide()
    await press('j')
    await press('1')
    await press('k')
    await press('2')
    fake.turn(t[0]!, { status: 'answered', answer: 'No', answered_by: 'human', answered_at: iso(fake.now) })
    await settle()
    expect([selected(), picked()]).toEqual(['Second?', ['Yes', '']]) // with a pick of its own
    await press('Enter')
    await press('3')
    await press('Enter')
    await press('s')
    await pass(300)
    await press('Enter')
    expect([sent(fake), shown(), picked()]).toEqual([[], ['Second?', 'Third?'], ['Yes', '']])
    await pass(150)
    await press('Enter')
    expect(sent(fake)).toEqual([{ id: t[1]!.id, answer: 'Yes' }])
  })

  it('does not answer two with one Enter that bounced', async () => {
    const { fake, press } = await decide()
    await press('j')
    await press('1')
    await press('k')
    await press('2')
    await press('Enter')
    await press('Enter')
    expect(sent(fake).length).toBe(1)
    await pass(450)
    await press('Enter')
    expect(sent(fake).length).toBe(2)
  })

  it('does not take what was being written for keys, and gives it back', async () => {
    const { fake, press, t } = await decide()
    await press('i')
    await type(area(), 'keep the old one')
    fake.turn(t[0]!, { status: 'cancelled' })
    await settle()
    expect(text('[role=alert]').replace(/[\u2068\u2069]/g, '')).toMatch(/was taken back by who asked\. What you had written was not sent: keep the old one/)
    for (const k of ['s', '1', 'u', 'Enter', 'g', 'b']) {
      await press(k)
      await pass(300)
    }
    expect([sent(fake), shown(), picked().join(''), selected()]).toEqual([[], ['Second?', 'Third?'], '', 'Second?'])
    await pass(1_100)
    await press('1')
    expect(picked()[0]).toBe('Yes')
  })

  it('lets nothing move under a pick that was just made', async () => {
    const { fake, press } = await decide()
    await press('j')
    await press('1')
    ask(fake, 'Urgent?', { urgency: 'blocking', left: 1, stream: 'other' })
    await settle()
    expect([shown(), selected()]).toEqual([['First?', 'Second?', 'Third?', 'Urgent?'], 'Second?'])
    await pass(3_100)
    expect([shown()[0], selected(), picked()[2]]).toEqual(['Urgent?', 'Second?', 'Yes'])
  })

  it('lets what expires go at its moment, also while nobody answers', async () => {
    const { fake, t } = await decide([['Soon?', { left: 1 }], ['Later?']])
    fake.fails.set('ticket_list', new StewardError('offline', 'x'))
    await pass(minute, fake)
    expect([shown(), t[0]!.status]).toEqual([['Later?'], 'pending'])
    expect(said()).toContain('has expired')
  })

  it('asks once for many notices that come together', async () => {
    const { fake } = await decide()
    for (let i = 0; i < 50; i++) fake.change({ type: 'ticket' })
    await settle()
    expect(sent(fake, 'ticket_list').length).toBe(2)
    fake.change({ type: 'reset' })
    await settle()
    expect(sent(fake, 'ticket_list').length).toBe(3)
  })

  it('keeps no timer and asks for nothing when the view is left', async () => {
    const { app, fake } = await decide()
    app.go('settings', false)
    await settle()
    fake.calls.length = 0
    ask(fake, 'More?')
    await settle()
    expect(sent(fake, 'ticket_list')).toEqual([])
  })

  it('says when the queue cannot be read, and tries again', async () => {
    const o = await openPage(emptyWorld(now))
    o.fake.fails.set('ticket_list', new StewardError('unavailable', 'x'))
    o.app.go('decide')
    await settle()
    expect(text('[role=alert]')).toContain('Steward cannot do this now')
    o.fake.fails.clear()
    await o.click(byRole('button', 'Try again'))
    expect(text('main')).toContain('Nothing waits for you')
  })
})

describe('the first paint', () => {
  it('waits for no frame, in a page that is hidden and has no size', async () => {
    vi.stubGlobal('requestAnimationFrame', () => 0) // it never comes
    vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden')
    const target = document.createElement('div')
    target.id = 'steward'
    document.body.append(target)
    const fake = new FakeTransport(queue('en', now), { frozen: true })
    const app = start(fake)
    expect(target.querySelector('[role=tab]')).not.toBeNull() // when the script ends
    await settle()
    expect([text('h1'), document.title]).toEqual(['Seven moving, two failures, six decisions wait, one handoff waits.', '(6) heads-up'])
    app.go('decide')
    await settle()
    expect(cards().length).toBe(6)
    app.go('brief')
    await settle()
    await vi.advanceTimersByTimeAsync(300)
    await settle()
    expect(document.querySelectorAll('main [data-row^="event-"]').length).toBe(app.brief.data!.key_events.length + app.brief.data!.failures.items.length)
    app.stop()
  })

  it('is made again on load, when the first answer did not come', async () => {
    const target = document.createElement('div')
    target.id = 'steward'
    document.body.append(target)
    const fake = new FakeTransport(queue('en', now), { frozen: true })
    fake.fails.set('brief_get', new StewardError('offline', 'x'))
    const app = start(fake)
    await settle()
    fake.fails.clear()
    window.dispatchEvent(new Event('load'))
    await settle()
    expect(text('h1')).toContain('six decisions wait')
    app.stop()
  })
})
