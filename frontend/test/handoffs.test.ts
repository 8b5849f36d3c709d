import { beforeEach, describe, expect, it } from 'vitest'
import { afternoon, hostile } from '../dev/fixtures'
import { speak } from '../src/i18n/i18n.svelte'
import { argsOf, emptyDraft, freshKey, placeOf } from '../src/panels/handoffs/draft'
import { way } from '../src/panels/handoffs/way'
import { emptyWorld } from '../src/transport/fake'
import { StewardError } from '../src/transport/transport'
import type { Handoff } from '../src/types'
import { byRole, open, settle, text, type Opened } from './page'

const now = Date.parse('2026-11-30T14:22:10.000Z')

beforeEach(() => speak('en'))

async function list(o: { shape?: 'panel' } = {}): Promise<Opened> {
  const opened = await open(afternoon('en', now), o)
  opened.app.go('handoffs')
  await settle()
  return opened
}

const rows = () => [...document.querySelectorAll('main [data-row]')]
const row = (tail: string) => document.querySelector(`[data-row$="${tail}"]`)

async function write(el: Element | null, value: string): Promise<void> {
  const field = el as HTMLInputElement
  field.value = value
  field.dispatchEvent(new Event(field.tagName === 'SELECT' ? 'change' : 'input', { bubbles: true }))
  await settle()
}

const submit = async () => {
  document.querySelector('form')!.requestSubmit()
  await settle()
}

const last = (o: Opened, name: string) => o.fake.calls.filter((c) => c.name === name).at(-1)?.args

describe('the list', () => {
  it('shows every handoff with its status, and which one waits', async () => {
    await list()
    expect(text('h1')).toBe('Two pending, one in work.')
    expect(rows().length).toBe(6)
    expect(row('3KX9')!.closest('li')!.textContent).toContain('waits')
    expect(row('0FD4')!.closest('li')!.textContent).toContain('pending')
    expect(row('7Q2M')!.textContent).toContain('H-7Q2M · from \u2068web-app-3f\u2069 · by \u2068studio-1\u2069 · 2 files')
  })

  it('filters by status and target', async () => {
    const o = await list()
    const [status, target] = document.querySelectorAll('main select')
    await write(status!, 'done')
    expect(last(o, 'handoff_list')).toEqual({ limit: 50, status: 'done' })
    expect(rows().length).toBe(1)
    await write(target!, 'dj')
    expect(text('main')).toContain('No handoff matches')
    await o.click(byRole('button', 'Clear filters'))
    expect(rows().length).toBe(6)
  })

  it('says what will appear when there is nothing', async () => {
    const { app } = await open(emptyWorld(now))
    app.go('handoffs')
    await settle()
    expect(text('main')).toContain('Nothing is handed over')
  })

  it('says what went wrong and tries again', async () => {
    const o = await open(afternoon('en', now))
    o.fake.fails.set('handoff_list', new StewardError('corrupt', 'x'))
    o.app.go('handoffs')
    await settle()
    expect(text('[role=alert]')).toContain('steward verify')
    o.fake.fails.clear()
    await o.click(byRole('button', 'Try again'))
    expect(rows().length).toBe(6)
  })

  it('acts on the row that has the focus', async () => {
    const o = await list()
    ;(row('3KX9') as HTMLElement).focus()
    await settle()
    await o.press('c')
    expect(last(o, 'handoff_claim')).toEqual({ handoff_id: 'hnd_01KBB4Z3V0E5XJ8QWY2MTN8B3KX9', worker_session_id: 'user' })
    expect(text('.note')).toContain('H-3KX9 is yours.')
    await o.press('c')
    expect(text('.note')).toContain('H-3KX9 is running.')
  })

  it('follows what happens', async () => {
    const o = await list()
    o.fake.world.handoffs[0]!.status = 'cancelled'
    o.fake.change({ type: 'ledger' })
    await settle()
    expect(row('0FD4')!.closest('li')!.textContent).toContain('cancelled')
  })
})

describe('review', () => {
  it('shows everything there is to know', async () => {
    const o = await list({ shape: 'panel' })
    await o.click(row('7Q2M'))
    expect(text('h1')).toBe('Review: Export eight stems of “Night Drive” at 48 kHz / 24 bit.')
    expect(text('header p')).toBe('H-7Q2M · to studio · from web-app-3f')
    expect([...document.querySelectorAll('ol[aria-label=Steps] > li:not([aria-hidden])')].map((l) => l.textContent!.replace(/\s+/g, ' ').trim())).toEqual(['pending passed', 'claimed passed', 'running now', 'done not yet'])
    const main = text('main')
    for (const s of ['stems-night-drive-v2', 'studio-1', 'Leave the vocal bus dry', '/home/ada/music/night-drive/session-notes.json', '"bpm": 104', 'JSON · 47 B', '165 / 4,000']) expect(main).toContain(s)
    expect(main).toMatch(/claimed \d\d:\d\d, for 9 min/)
    const history = [...document.querySelectorAll('section')].at(-1)!
    expect([...history.querySelectorAll('li b')].map((b) => b.textContent)).toEqual(['pending', 'claimed', 'running'])
  })

  it('marks done with an outcome and the fence of what was on the screen', async () => {
    const o = await list()
    await o.click(row('7Q2M'))
    await o.press('d')
    expect(text('dialog')).toContain('Mark H-7Q2M as done?')
    await write(document.querySelector('dialog input'), ' eight files ')
    await submit()
    expect(last(o, 'handoff_settle')).toEqual({ handoff_id: 'hnd_01KBB4Z3V0E5XJ8QWY2MTN8A7Q2M', status: 'done', fence: 1, outcome: 'eight files' })
    expect(document.querySelector('dialog')).toBeNull()
    expect(text('.note')).toContain('H-7Q2M is done.')
    expect(byRole('button', 'Mark done')).toBeNull()
    expect(text('ol[aria-label=Steps]')).toContain('done now')
  })

  it('wants a reason for failed, and none for cancelled', async () => {
    const o = await list()
    await o.click(row('7Q2M'))
    await o.click(byRole('button', 'Failed…'))
    await submit()
    expect(text('dialog')).toContain('Required.')
    expect(document.querySelector('dialog input')!.getAttribute('aria-invalid')).toBe('true')
    await write(document.querySelector('dialog input'), 'x'.repeat(513))
    await submit()
    expect(text('dialog')).toContain('At most 512 characters; there are 513.')
    await write(document.querySelector('dialog input'), 'disk is full')
    await submit()
    expect(last(o, 'handoff_settle')).toMatchObject({ status: 'failed', reason: 'disk is full' })
    expect(text('main')).toContain('reason: disk is full')
    o.app.back()
    await settle()
    await o.click(row('0FD4'))
    await o.press('x')
    await submit()
    expect(last(o, 'handoff_settle')).toEqual({ handoff_id: 'hnd_01KBB4Z3V0E5XJ8QWY2MTN8C0FD4', status: 'cancelled', fence: 0 })
  })

  it('takes a handoff back from its worker', async () => {
    const o = await list()
    await o.click(row('7Q2M'))
    await o.press('r')
    expect(text('dialog')).toContain('Take H-7Q2M back from \u2068studio-1\u2069?')
    await submit()
    expect(last(o, 'handoff_release')).toEqual({ handoff_id: 'hnd_01KBB4Z3V0E5XJ8QWY2MTN8A7Q2M', fence: 1 })
    expect(text('main')).toContain('taken from studio-1')
    expect(byRole('button', 'Claim as me')).not.toBeNull()
  })

  it('refreshes and notes when it changed meanwhile', async () => {
    const o = await list()
    await o.click(row('7Q2M'))
    await o.press('d')
    const h = o.fake.world.handoffs.find((x) => x.id.endsWith('7Q2M'))!
    Object.assign(h, { status: 'failed', finished_at: new Date(now).toISOString(), fence: 2 })
    await submit()
    expect(document.querySelector('dialog')).toBeNull()
    expect(text('[role=alert]')).toContain('It changed meanwhile: H-7Q2M is failed. Nothing was done; look again.')
    expect(text('ol[aria-label=Steps]')).toContain('failed')
  })

  it('says whose it is when a claim came too late', async () => {
    const o = await list()
    await o.click(row('0FD4'))
    const h = o.fake.world.handoffs.find((x) => x.id.endsWith('0FD4'))!
    Object.assign(h, { status: 'claimed', worker_session_id: 'studio-2', claimed_at: new Date(now).toISOString() })
    await o.press('c')
    expect(text('.note')).toContain('Not yours: H-0FD4 is claimed, held by \u2068studio-2\u2069.')
  })

  it('says that nothing is known when no answer came', async () => {
    const o = await list()
    await o.click(row('7Q2M'))
    o.fake.fails.set('handoff_settle', new StewardError('offline', 'Failed to fetch'))
    await o.press('d')
    await submit()
    expect(text('[role=alert]')).toContain('may or may not have been taken')
  })

  it('opens attachments in the window', async () => {
    const w = await list({ shape: 'panel' })
    await w.click(row('7Q2M'))
    await w.click(byRole('button', 'Open: session-notes.json'))
    expect(last(w, 'attachment_open')).toEqual({ handoff_id: 'hnd_01KBB4Z3V0E5XJ8QWY2MTN8A7Q2M', index: 1 })
    expect(text('.note')).toContain('Opened.')
  })

  it('copies the path of an attachment in the browser', async () => {
    const copied: string[] = []
    Object.assign(navigator, { clipboard: { writeText: (s: string) => (copied.push(s), Promise.resolve()) } })
    const b = await list()
    await b.click(row('7Q2M'))
    await b.click(byRole('button', 'Copy path: session-notes.json'))
    await b.press('y')
    expect(copied).toEqual(['/home/ada/music/night-drive/session-notes.json', 'hnd_01KBB4Z3V0E5XJ8QWY2MTN8A7Q2M'])
    expect(last(b, 'attachment_open')).toBeUndefined()
    Object.assign(navigator, { clipboard: { writeText: () => Promise.reject(new Error('no')) } })
    await b.press('y')
    expect(text('[role=alert]')).toContain('hnd_01KBB4Z3V0E5XJ8QWY2MTN8A7Q2M')
  })

  it('renders hostile text as text', async () => {
    const { app } = await open(hostile(now))
    app.openHandoff('hnd_01KBB4Z3V0E5XJ8QWY2MTN0EVIL1')
    await settle()
    expect(document.querySelector('main img, main script, main a')).toBeNull()
    expect(/[\u202a-\u202e\u0007\u001b]/.test(document.body.textContent!)).toBe(false)
    expect(text('main')).toContain('<script>alert(1)</script>')
  })
})

describe('a new handoff', () => {
  it('is made from target and instruction alone, and opened', async () => {
    const o = await list()
    await o.press('n')
    expect(document.activeElement?.tagName).toBe('SELECT')
    await write(document.querySelector('textarea'), 'Do it.\nWell.')
    expect(text('form')).toContain('12 / 4,000')
    await submit()
    const args = last(o, 'handoff_create') as Record<string, unknown>
    expect(args).toEqual({ target: 'studio', instruction: 'Do it.\nWell.', idempotency_key: expect.stringMatching(/^page-[a-z0-9]{12}$/) as string })
    expect(text('h1')).toBe('Review: Do it.')
    expect(text('.note')).toContain('Handed over as H-')
    expect(o.app.draft).toBeNull()
  })

  it('takes files and context, and says what is wrong beside the field', async () => {
    const o = await list()
    await o.press('n')
    await submit()
    expect(document.activeElement?.tagName).toBe('TEXTAREA')
    expect(text('form')).toContain('Required.')
    await write(document.querySelector('textarea'), 'x')
    await o.click(byRole('button', 'Add a file'))
    await write(document.querySelector('.file input'), '/a.wav')
    const context = document.querySelectorAll('textarea')[1]!
    await write(context, '[1]')
    await submit()
    expect(context.getAttribute('aria-invalid')).toBe('true')
    expect(document.getElementById(context.getAttribute('aria-describedby')!.split(' ').at(-1)!)?.textContent).toContain('Must be a JSON object')
    await write(context, '{"bpm": 1')
    await submit()
    expect(text('form')).toContain('This is no JSON')
    await write(context, '{"bpm": 104}')
    await submit()
    expect(last(o, 'handoff_create')).toMatchObject({ attachments: [{ path: '/a.wav' }], context: { bpm: 104 } })
  })

  it('puts a refusal of the service beside the field it names', async () => {
    const o = await list()
    await o.press('n')
    await write(document.querySelector('textarea'), 'x')
    o.fake.fails.set('handoff_create', new StewardError('invalid', 'context: at most 16 levels', { field: 'context' }))
    await submit()
    const context = document.querySelectorAll('textarea')[1]!
    expect(context.getAttribute('aria-invalid')).toBe('true')
    expect(document.activeElement).toBe(context)
    o.fake.fails.set('handoff_create', new StewardError('unavailable', 'x'))
    await submit()
    expect(text('form [role=alert]')).toContain('Nothing was kept')
    expect(document.querySelector('textarea')!.value).toBe('x')
  })

  it('says when the key belongs to other work, and makes nothing twice', async () => {
    const o = await list()
    const key = 'stems-night-drive-v2'
    await o.press('n')
    await write(document.querySelector('textarea'), 'other work')
    await write([...document.querySelectorAll('input.mono')].at(-1)!, key)
    await submit()
    expect(text('form')).toContain('This key already belongs to H-7Q2M')
    await write(document.querySelector('textarea'), o.fake.world.handoffs.find((h) => h.idempotency_key === key)!.instruction)
    await submit()
    expect(text('.note')).toContain('Nothing was made twice')
    expect(o.app.handoffs.open).toBe('hnd_01KBB4Z3V0E5XJ8QWY2MTN8A7Q2M')
  })
})

describe('a draft', () => {
  const draft = (o: Partial<ReturnType<typeof emptyDraft>>) => ({ ...emptyDraft('studio'), instruction: 'x', ...o })
  it.each([
    [{ instruction: ' \n' }, { instruction: 'Required.' }],
    [{ instruction: '🎉'.repeat(4001) }, { instruction: 'At most 4,000 characters; there are 4,001.' }],
    [{ target: '' }, { target: 'Required.' }],
    [{ key: 'k'.repeat(129) }, { idempotency_key: 'At most 128 characters; there are 129.' }],
    [{ files: new Array<string>(21).fill('/a') }, { attachments: 'At most 20; there are 21.' }],
    [{ files: ['', '/'.padEnd(4097, 'a')] }, { 'attachments[1].path': 'At most 4,096 characters; there are 4,097.' }],
    [{ context: JSON.stringify({ a: '五'.repeat(3000) }) }, { context: 'At most 8,192 bytes; there are 9,008.' }],
  ])('%#: names what is wrong', (o, faults) => expect(argsOf(draft(o))).toEqual({ args: null, faults }))

  it('counts as the service does at the limits', () => {
    expect(argsOf(draft({ instruction: '🎉'.repeat(4000), key: 'k'.repeat(128), files: ['', ' /a '] })).args).toMatchObject({ attachments: [{ path: '/a' }] })
  })

  it('finds the place of a field that the service names', () => {
    const d = draft({ files: ['', '/a', '/b'] })
    expect([placeOf('attachments[1].path', d), placeOf('attachments[7].path', d), placeOf('context.a', d), placeOf('source_session_id', d), placeOf('', d)]).toEqual(['attachments[2].path', 'attachments', 'context', '', ''])
  })

  it('has a fresh key each time', () => expect(freshKey()).not.toBe(freshKey()))
})

describe('the way of a handoff', () => {
  const at = '2026-11-30T14:00:00.000Z'
  const h = (o: Partial<Handoff>) => way({ status: 'pending', claimed_at: null, running_at: null, finished_at: null, ...o }).map((s) => `${s.status} ${s.state}`)
  it('goes by its status', () => {
    expect(h({})).toEqual(['pending now', 'claimed next', 'running next', 'done next'])
    expect(h({ status: 'running', claimed_at: at, running_at: at })).toEqual(['pending past', 'claimed past', 'running now', 'done next'])
    expect(h({ status: 'failed', claimed_at: at, finished_at: at })).toEqual(['pending past', 'claimed past', 'running skipped', 'failed now'])
    expect(h({ status: 'cancelled', finished_at: at })).toEqual(['pending past', 'claimed skipped', 'running skipped', 'cancelled now'])
  })
})
