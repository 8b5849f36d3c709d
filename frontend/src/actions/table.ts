// The one table of what a person can do. Keys, buttons, menu, footer and help
// all read it, so that they cannot differ.

import type { Key } from '../i18n/i18n.svelte'
import { views, type App, type View } from '../store/app.svelte'
import { first } from '../store/cards'
import { answer, cardBy, pick, skip, splitOrJoin, undo, write } from './decide'
import { acknowledge, ask, claim } from './deeds'
import { activate, move } from './rows'

export type Group = 'go' | 'move' | 'brief' | 'decide' | 'handoffs' | 'window'

export interface Action {
  id: string
  label: Key
  /** Keys by their KeyboardEvent.key; two joined by a space are pressed one after the other. */
  keys: readonly string[]
  group: Group
  /** The footer's word for it; neighbours with the same word share one entry. */
  foot?: Key
  /** Keys that something else has where the app stands now. */
  lent?(app: App): readonly string[]
  when(app: App): boolean
  run(app: App): void | Promise<void>
}

const panel = (app: App) => app.shape === 'panel' && app.link.state !== 'signed-out'
const list = (app: App) => panel(app) && app.view !== 'settings' && !app.composing
const rows = (app: App) => list(app) && !app.deep && filled(app)
function filled(app: App): boolean {
  if (app.view === 'decide') return app.tickets.cards.length > 0
  if (app.view === 'handoffs') return (app.handoffs.list?.length ?? 0) > 0
  const b = app.brief.data
  return b !== null && b.failures.items.length + b.movers.items.length + b.key_events.length > 0
}
const inHandoffs = (app: App) => panel(app) && app.view === 'handoffs' && !app.composing

const options = (app: App) => (app.deciding && app.tickets.current ? first(app.tickets.current).options.length : 0)

const label: Record<View, Key> = { brief: 'action.viewBrief', decide: 'action.viewDecide', handoffs: 'action.viewHandoffs', settings: 'action.viewSettings' }

export const actions: readonly Action[] = [
  ...views.map((view, i): Action => ({
    id: `view.${view}`,
    label: label[view],
    keys: [String(i + 1), `g ${view[0]}`],
    group: 'go',
    foot: 'foot.views',
    lent: (app) => (app.deciding ? [String(i + 1)] : []),
    when: panel,
    run: (app) => app.go(view),
  })),
  { id: 'row.down', label: 'action.down', keys: ['j', 'ArrowDown'], group: 'move', foot: 'foot.move', when: rows, run: (app) => (app.deciding ? cardBy(app, 1) : move(1)) },
  { id: 'row.up', label: 'action.up', keys: ['k', 'ArrowUp'], group: 'move', foot: 'foot.move', when: rows, run: (app) => (app.deciding ? cardBy(app, -1) : move(-1)) },
  { id: 'row.open', label: 'action.enter', keys: ['Enter'], group: 'move', foot: 'foot.open', when: (app) => rows(app) && !app.deciding, run: () => activate() },
  { id: 'back', label: 'action.back', keys: ['Escape'], group: 'move', foot: 'foot.back', when: (app) => panel(app) && app.deep, run: (app) => app.back() },
  { id: 'fold', label: 'action.fold', keys: ['Escape'], group: 'window', foot: 'foot.fold', when: (app) => app.windowed && (app.shape === 'menu' || (panel(app) && !app.deep && app.tickets.writing === '')), run: (app) => app.transport.shell?.fold() },

  {
    id: 'failure.acknowledge', label: 'action.acknowledge', keys: ['a'], group: 'brief', foot: 'foot.acknowledge',
    when: (app) => panel(app) && app.view === 'brief' && !app.deep && app.brief.data?.failures.items.some((f) => f.id === app.failure) === true,
    run: (app) => acknowledge(app, app.failure),
  },
  {
    id: 'event.handoff', label: 'action.openHandoff', keys: ['h'], group: 'brief',
    when: (app) => panel(app) && app.view === 'brief' && app.eventId !== 0 && Boolean(app.event?.handoff),
    run: (app) => { if (app.event?.handoff) app.openHandoff(app.event.handoff) },
  },

  ...(['action.pick1', 'action.pick2', 'action.pick3', 'action.pick4', 'action.pick5'] as const).map((label, i): Action => ({
    id: `ticket.pick${i + 1}`,
    label,
    keys: [String(i + 1)],
    group: 'decide',
    foot: 'foot.pick',
    when: (app) => options(app) > i,
    run: (app) => pick(app, i + 1),
  })),
  { id: 'ticket.answer', label: 'action.answer', keys: ['Enter'], group: 'decide', foot: 'foot.answer', when: (app) => app.deciding && app.tickets.current !== null, run: (app) => answer(app) },
  { id: 'ticket.write', label: 'action.write', keys: ['i'], group: 'decide', foot: 'foot.write', when: (app) => app.deciding && app.tickets.current !== null, run: (app) => write(app) },
  { id: 'ticket.undo', label: 'action.undo', keys: ['u'], group: 'decide', foot: 'foot.undo', when: (app) => app.deciding && app.tickets.undoable !== null, run: (app) => undo(app) },
  { id: 'ticket.skip', label: 'action.skip', keys: ['s'], group: 'decide', foot: 'foot.skip', when: (app) => app.deciding && app.tickets.current !== null, run: (app) => skip(app) },
  { id: 'ticket.split', label: 'action.split', keys: [], group: 'decide', when: (app) => app.deciding && (app.tickets.current?.tickets.length ?? 0) > 1, run: (app) => splitOrJoin(app, 'split') },
  { id: 'ticket.join', label: 'action.join', keys: [], group: 'decide', when: (app) => app.deciding && app.tickets.current?.apart === true, run: (app) => splitOrJoin(app, 'join') },

  { id: 'handoff.new', label: 'action.new', keys: ['n'], group: 'handoffs', foot: 'foot.new', when: (app) => inHandoffs(app) && !app.deep, run: (app) => { app.composing = true; void app.focusOn('[data-focus="first"]') } },
  { id: 'handoff.send', label: 'action.send', keys: ['Control+Enter'], group: 'handoffs', foot: 'foot.send', when: (app) => panel(app) && app.view === 'handoffs' && app.composing, run: () => document.querySelector<HTMLFormElement>('main form')?.requestSubmit() },
  { id: 'handoff.claim', label: 'action.claim', keys: ['c'], group: 'handoffs', foot: 'foot.claim', when: (app) => inHandoffs(app) && app.claimable, run: (app) => { if (app.current) return claim(app, app.current) } },
  { id: 'handoff.start', label: 'action.start', keys: ['c'], group: 'handoffs', foot: 'foot.start', when: (app) => inHandoffs(app) && app.startable, run: (app) => { if (app.current) return claim(app, app.current) } },
  { id: 'handoff.done', label: 'action.done', keys: ['d'], group: 'handoffs', foot: 'foot.done', when: (app) => inHandoffs(app) && app.settleable, run: (app) => { if (app.current) ask(app, app.current, 'done') } },
  { id: 'handoff.failed', label: 'action.failed', keys: ['f'], group: 'handoffs', foot: 'foot.failed', when: (app) => inHandoffs(app) && app.settleable, run: (app) => { if (app.current) ask(app, app.current, 'failed') } },
  { id: 'handoff.cancel', label: 'action.cancel', keys: ['x'], group: 'handoffs', foot: 'foot.cancel', when: (app) => inHandoffs(app) && app.settleable, run: (app) => { if (app.current) ask(app, app.current, 'cancelled') } },
  { id: 'handoff.release', label: 'action.release', keys: ['r'], group: 'handoffs', foot: 'foot.release', when: (app) => inHandoffs(app) && app.releasable, run: (app) => { if (app.current) ask(app, app.current, 'released') } },
  { id: 'handoff.copyId', label: 'action.copyId', keys: ['y'], group: 'handoffs', when: (app) => inHandoffs(app) && app.current !== null, run: (app) => { if (app.current) return app.copy(app.current.id) } },

  { id: 'help', label: 'action.help', keys: ['?'], group: 'go', foot: 'foot.keys', when: panel, run: (app) => { app.help = true } },
  { id: 'window.open', label: 'action.open', keys: ['o'], group: 'window', when: (app) => app.windowed && app.shape !== 'panel', run: (app) => app.transport.shell?.open() },
  { id: 'window.menu', label: 'action.menu', keys: ['m', 'ContextMenu'], group: 'window', when: (app) => app.windowed && app.shape === 'orb', run: (app) => app.transport.shell?.menu() },
  { id: 'window.quit', label: 'action.quit', keys: ['q'], group: 'window', when: (app) => app.windowed && app.shape === 'menu', run: (app) => app.transport.shell?.quit() },
  { id: 'signOut', label: 'action.signOut', keys: [], group: 'window', when: (app) => panel(app) && app.transport.door !== null, run: (app) => app.transport.door?.signOut() },
]

/** action finds an action by its id. */
export function action(id: string): Action {
  const a = actions.find((x) => x.id === id)
  if (!a) throw new Error(`no action ${id}`)
  return a
}

/** perform runs an action if it is possible now. */
export function perform(app: App, id: string): void {
  const a = action(id)
  if (a.when(app)) void a.run(app)
}
