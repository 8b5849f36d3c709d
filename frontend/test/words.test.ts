import { afterEach, describe, expect, it } from 'vitest'
import { speak } from '../src/i18n/i18n.svelte'
import type { Brief, Event, Summary } from '../src/types'
import { atMost, decisionLine, faceOf, failing, glyphOf, handoffLine, headline, lineOf, orbName } from '../src/words'

afterEach(() => speak('en'))

const none = { pending: 0, claimed: 0, running: 0, done: 0, failed: 0, cancelled: 0 }

function brief(o: { moving?: number; more?: boolean; failures?: number; waiting?: number; decisions?: number; last?: number; counts?: Partial<typeof none>; orb?: Partial<Brief['orb']> } = {}): Brief {
  return {
    now: '2026-11-30T14:00:00.000Z', last_event_id: o.last ?? 5, looked: { through_id: 0, at: null }, fresh: { total: 0, key: 0, key_more: false }, key_events: [], key_events_more: false,
    failures: { total: o.failures ?? 0, items: [] }, movers: { total: o.moving ?? 0, more: o.more ?? false, items: [] }, working: { total: 0, more: false }, focus: null, decisions: { pending: o.decisions ?? 0, blocking: 0 },
    handoffs: { counts: { ...none, ...o.counts }, waiting: o.waiting ?? 0, open: [] }, orb: { face: 'idle', needs: 0, failures: 0, working: 0, ...o.orb }, changes_at: null,
  }
}

describe('the sentence of the brief', () => {
  it.each([
    [{ last: 0 }, 'Nothing has been reported yet.', '还没有任何汇报。'],
    [{}, 'All is quiet.', '一切平静。'],
    [{ moving: 3, failures: 1, waiting: 2 }, 'Three moving, one failure, two handoffs wait.', '3 个在忙，1 项失败，2 件交接在等。'],
    [{ moving: 3, failures: 1, decisions: 2 }, 'Three moving, one failure, two decisions wait.', '3 个在忙，1 项失败，2 项决定在等。'],
    [{ moving: 1 }, 'One moving.', '1 个在忙。'],
    [{ failures: 1, waiting: 1 }, 'One failure, one handoff waits.', '1 项失败，1 件交接在等。'],
    [{ moving: 13, failures: 1200 }, '13 moving, 1,200 failures.', '13 个在忙，1,200 项失败。'],
    [{ moving: 1000, more: true }, 'More than 1,000 moving.', '超过 1,000 个在忙。'],
  ])('%o', (o, en, zh) => {
    speak('en')
    expect(headline(brief(o))).toBe(en)
    speak('zh-CN')
    expect(headline(brief(o))).toBe(zh)
  })

  it('has one for the queue', () => {
    expect([0, 1, 2].map((decisions) => decisionLine(brief({ decisions })))).toEqual(['No decision waits for you.', 'One decision waits for you.', 'Two decisions wait for you.'])
  })

  it('has one for the handoffs', () => {
    expect(handoffLine(brief())).toBe('No open handoffs.')
    expect(handoffLine(brief({ counts: { pending: 2, claimed: 1, running: 1 } }))).toBe('Two pending, two in work.')
    speak('zh-CN')
    expect(handoffLine(brief({ counts: { pending: 1, running: 1 } }))).toBe('1 件待领取，1 件进行中。')
  })
})

describe('the orb', () => {
  it('has the name of what it shows', () => {
    const both = brief({ orb: { face: 'both', needs: 2, failures: 1, working: 4 } })
    expect(orbName(both, true)).toBe('Steward: 2 waiting for you, 1 failure')
    expect(orbName(brief({ decisions: 2, waiting: 1, orb: { face: 'both', needs: 3, failures: 1 } }), true)).toBe('Steward: 2 decisions, 1 waiting for you, 1 failure')
    expect(orbName(brief({ decisions: 1, orb: { face: 'needs', needs: 1 } }), true)).toBe('Steward: 1 decision')
    expect(orbName(brief({ orb: { face: 'working', working: 3 } }), true)).toBe('Steward: 3 working')
    expect(orbName(brief(), true)).toBe('Steward: all is quiet')
    expect(orbName(null, true)).toBe('Steward: starting')
    expect(orbName(both, false)).toBe('Steward: the ledger cannot be read')
    speak('zh-CN')
    expect(orbName(both, true)).toBe('Steward：2 件在等你，1 项失败')
  })

  it('has the face of the brief, or the one for a ledger that cannot be read', () => {
    expect(faceOf(brief({ orb: { face: 'needs' } }), true)).toBe('needs')
    expect(faceOf(brief({ orb: { face: 'needs' } }), false)).toBe('unreachable')
    expect(faceOf(null, true)).toBe('idle')
  })

  it('counts to 99', () => {
    expect([0, 99, 100, 5000].map(atMost)).toEqual(['0', '99', '99+', '99+'])
  })
})

const event = (o: Partial<Event>): Event => ({ id: 1, at: '2026-11-30T14:00:00.000Z', actor: 'web-app', type: 'done', injectable: true, source: 'claimed', ...o })

describe('failing', () => {
  it.each([
    [{ type: 'failed' }, true],
    [{ type: 'Test_FAILED' }, true],
    [{ type: 'build-error' }, true],
    [{ type: 'a.error' }, true],
    [{ type: 'unfailed' }, false],
    [{ type: 'failed_over' }, false],
    [{ outcome: 'Failure' }, true],
    [{ outcome: 'failed twice' }, false],
    [{ type: 'failed', source: 'import' as const }, false],
  ])('%o is %s', (o, want) => expect(failing(event(o))).toBe(want))
})

describe('a ledger line', () => {
  it('says what was done, and in what', () => {
    const l = lineOf(event({ outcome: 'form validated', file: 'a.tsx', metrics: { tests: 48, cov: 91.5 }, workspace: 'web-app' }))
    expect(l).toEqual({ actor: 'web-app', you: false, main: 'form validated', rest: ['a.tsx', 'tests 48', 'cov 91.5'], chip: '' })
  })

  it('says what failed, and why on the second line', () => {
    expect(lineOf(event({ type: 'failed', object_id: 'migration 0042', outcome: 'duplicate column' }))).toMatchObject({ main: 'migration 0042 failed', rest: ['duplicate column'] })
    expect(lineOf(event({ type: 'deploy', object_id: 'eu-1', outcome: 'failed' }))).toMatchObject({ main: 'eu-1 failed', rest: [] })
    expect(lineOf(event({ type: 'test_failed' }))).toMatchObject({ main: 'test failed' })
  })

  it('names a handoff shortly, its target where it is known, and how it stands now', () => {
    const e = event({ type: 'handoff_claimed', actor: 'studio-1', object_id: 'hnd_01KBB4Z3V0E5XJ8QWY2MTN7Q2M', outcome: 'claimed' })
    expect(lineOf(e)).toMatchObject({ actor: 'studio-1', main: 'claimed H-7Q2M', chip: 'claimed' })
    expect(lineOf(e, [{ id: e.object_id, target: 'studio', status: 'running' } as Summary])).toMatchObject({ main: 'claimed H-7Q2M to studio', chip: 'running' })
  })

  it('says what became of a decision, and carries the sign of a question only where one is asked', () => {
    const e = (type: string, o: Partial<Event> = {}) => event({ type, object_id: 'tkt_01KBB4Z3V0E5XJ8QWY2M010192', object_type: 'ticket', workspace: 'api', actor: 'api', ...o })
    const told = (x: Event) => [lineOf(x).main, ...lineOf(x).rest]
    expect(told(e('ticket_asked', { outcome: 'Drop it?' }))).toEqual(['asks: Drop it?', 'T-0192'])
    expect(told(e('ticket_answered', { outcome: 'Keep it', actor: 'user', source: 'person' }))).toEqual(['answered T-0192', 'Keep it'])
    expect(told(e('ticket_undone', { actor: 'user', source: 'person' }))).toEqual(['took back the answer to T-0192'])
    expect(told(e('ticket_expired', { outcome: 'Keep it', actor: 'steward', workspace: '' }))).toEqual(['closed T-0192: its time was over', 'default applied: Keep it'])
    expect(told(e('ticket_expired', { actor: 'steward', workspace: '' }))).toEqual(['closed T-0192: its time was over', 'unanswered'])
    expect(told(e('ticket_cancelled'))).toEqual(['no longer asks T-0192'])
    expect(told(e('ticket_delivered'))).toEqual(['read the answer to T-0192'])
    expect(told(e('ticket_revoked'))).toEqual(['was told that the answer to T-0192 is taken back'])
    const signs = ['asked', 'answered', 'undone', 'expired', 'cancelled', 'delivered', 'revoked'].map((type) => glyphOf(e(`ticket_${type}`)))
    expect(signs).toEqual(['asked', 'done', 'progress', 'cancelled', 'cancelled', 'progress', 'progress'])
  })

  it('calls the person you, and only the person', () => {
    expect(lineOf(event({ actor: 'user', source: 'person' }))).toMatchObject({ you: true, actor: '' })
    expect(lineOf(event({ actor: 'user', source: 'claimed' }))).toMatchObject({ you: false, actor: 'user' })
  })

  it('shows a type of its own as it is, and does not take one for a string of ours', () => {
    expect(lineOf(event({ type: 'set_planned' })).main).toBe('set planned')
    expect(lineOf(event({ type: 'constructor' })).main).toBe('constructor')
  })

  it('says where the focus went', () => {
    expect(lineOf(event({ type: 'focus', workspace: 'web-app', object_id: 'checkout' }))).toMatchObject({ main: 'moved to web-app / checkout', rest: [] })
    expect(lineOf(event({ type: 'focus' })).main).toBe('moved')
  })

  it('has a sign for its kind', () => {
    const glyphs = [event({}), event({ type: 'failed' }), event({ type: 'progress' }), event({ type: 'handoff_created' }), event({ type: 'handoff_finished', outcome: 'done' }), event({ type: 'handoff_settled', outcome: 'cancelled' }), event({ type: 'handoff_finished', outcome: 'failed' }), event({ type: 'focus' })].map(glyphOf)
    expect(glyphs).toEqual(['done', 'failed', 'progress', 'handoff', 'done', 'cancelled', 'failed', 'focus'])
  })
})
