// How the page reaches Steward. One interface, three ways: the window's bound
// method, HTTP, and invented data.

import type { Ops } from '../ops.gen'

export type OpName = keyof Ops
export type Args<N extends OpName> = Ops[N]['args']
export type Result<N extends OpName> = Ops[N]['result']

/** The classes of error, the same on every surface. `offline` is the page's own: no answer came. */
export type Code =
  | 'invalid'
  | 'not_found'
  | 'conflict'
  | 'closed'
  | 'forbidden'
  | 'unavailable'
  | 'version'
  | 'corrupt'
  | 'internal'
  | 'offline'
  | 'signed_out'

const codes: readonly string[] = [
  'invalid', 'not_found', 'conflict', 'closed', 'forbidden', 'unavailable', 'version', 'corrupt', 'internal', 'offline', 'signed_out',
]

/** The one form in which a call fails. */
export class StewardError extends Error {
  readonly code: Code
  readonly field: string
  readonly hint: string
  /** Where the log has the cause of an internal error. */
  readonly id: string
  /** Of conflict and closed: the state as it is now. */
  readonly current: unknown

  constructor(code: Code, message: string, more: { field?: string; hint?: string; id?: string; current?: unknown } = {}) {
    super(message)
    this.name = 'StewardError'
    this.code = code
    this.field = more.field ?? ''
    this.hint = more.hint ?? ''
    this.id = more.id ?? ''
    this.current = more.current
  }
}

const text = (v: unknown) => (typeof v === 'string' ? v : '')

/** errorOf reads `{"error":{code, field?, message, hint?, id?}, "current"?}`; anything else gives null. */
export function errorOf(body: unknown): StewardError | null {
  if (typeof body !== 'object' || body === null || !('error' in body)) return null
  const e = body.error
  if (typeof e !== 'object' || e === null) return null
  const f = e as Record<string, unknown>
  const code = text(f.code)
  return new StewardError(codes.includes(code) ? (code as Code) : 'internal', text(f.message), {
    field: text(f.field),
    hint: text(f.hint),
    id: text(f.id),
    current: 'current' in body ? body.current : undefined,
  })
}

/** asError makes anything that was thrown a StewardError. */
export function asError(e: unknown): StewardError {
  if (e instanceof StewardError) return e
  return new StewardError('internal', e instanceof Error ? e.message : String(e))
}

export type LinkState = 'opening' | 'live' | 'lost' | 'stalled' | 'signed-out'

/** Whether the ledger can be read, and if not, why. */
export interface Link {
  state: LinkState
  reason?: string
  code?: string
  /** What to do. */
  hint?: string
}

/** What came from the ledger. `ticket` comes after the events that changed tickets; `changed` is state that moved without an event; `reset` means: read everything anew. */
export interface Change {
  type: 'ledger' | 'ticket' | 'changed' | 'reset'
  /** The greatest event id, if it is known. */
  lastId?: number
}

export interface CallOptions {
  /** Let the call outlive the page. */
  keepalive?: boolean
}

export interface Transport {
  call<N extends OpName>(name: N, args: Args<N>, options?: CallOptions): Promise<Result<N>>
  /** follow starts to listen; the function it returns ends that. */
  follow(on: { change(c: Change): void; link(l: Link): void }): () => void
  /** The window around the page; null in a browser. */
  readonly shell: Shell | null
  /** How to sign in; null where nobody needs to. */
  readonly door: Door | null
}

export interface Door {
  /** Exchanges a code that is good once. */
  signInWithCode(code: string): Promise<void>
  /** Keeps a token if the service takes it. */
  signInWithToken(token: string): Promise<void>
  signOut(): void
}

export type ShapeName = 'orb' | 'menu' | 'panel'

export interface Shape {
  shape: ShapeName
  inside?: { x: 'left' | 'right'; y: 'top' | 'bottom' }
  view?: string
  /** Whether the window may be seen through; absent, as before. */
  compositor?: boolean
}

/** What the window can do for its page. */
export interface Shell {
  ready(): Promise<{ shape: ShapeName; attached: boolean; compositor: boolean }>
  open(view?: string): void
  fold(): void
  menu(): void
  quit(): void
  drag(): void
  copy(text: string): Promise<void>
  onShape(on: (s: Shape) => void): void
}
