// The page in the window: one bound method, and events pushed by the runtime.

import {
  errorOf,
  StewardError,
  type Args,
  type Change,
  type Link,
  type OpName,
  type Result,
  type Shape,
  type ShapeName,
  type Shell,
  type Transport,
} from './transport'

interface Bound {
  Call(name: string, args: string): Promise<string>
}

interface WailsWindow {
  go?: { app?: { App?: Bound } }
  runtime?: { EventsOn(name: string, on: (...data: unknown[]) => void): () => void }
  WailsInvoke?(message: string): void
  wails?: { flags?: { enableResize?: boolean } }
}

const wails = (): WailsWindow => window as unknown as WailsWindow

/** inWindow tells whether Steward's window is around the page. */
export function inWindow(): boolean {
  return 'WailsInvoke' in window || location.protocol === 'wails:' || location.hostname === 'wails.localhost'
}

/** bound waits for the window to bind its method, which happens at the page's start. */
export async function bound(within = 5_000): Promise<Bound> {
  const until = Date.now() + within
  for (;;) {
    const w = wails()
    if (w.go?.app?.App && w.runtime) return w.go.app.App
    if (Date.now() > until) throw new StewardError('internal', 'the window did not bind its method')
    await new Promise((next) => setTimeout(next, 5))
  }
}

const record = (v: unknown): Record<string, unknown> => (typeof v === 'object' && v !== null ? (v as Record<string, unknown>) : {})

/** WailsTransport speaks to the process that shows the window. */
export class WailsTransport implements Transport {
  readonly door = null
  readonly shell: Shell
  #app: Bound
  #link: Link | null = null
  #on: { change(c: Change): void; link(l: Link): void } | null = null

  constructor(app: Bound) {
    this.#app = app
    this.shell = this.#makeShell()
  }

  async #verb(name: string, args: unknown): Promise<unknown> {
    let answer: unknown
    try {
      answer = JSON.parse(await this.#app.Call(name, JSON.stringify(args)))
    } catch (e) {
      throw new StewardError('offline', e instanceof Error ? e.message : String(e))
    }
    const error = errorOf(answer)
    if (error) throw error
    return record(answer).result
  }

  async call<N extends OpName>(name: N, args: Args<N>): Promise<Result<N>> {
    const result = (await this.#verb(name, args)) as Result<N>
    if (!this.#link || this.#link.state === 'opening') this.#say({ state: 'live' })
    return result
  }

  #say(l: Link): void {
    const was = this.#link
    if (was && l.state === was.state && l.reason === was.reason && l.code === was.code) return
    this.#link = l
    this.#on?.link(l)
  }

  follow(on: { change(c: Change): void; link(l: Link): void }): () => void {
    this.#on = on
    const runtime = wails().runtime
    const ends = [
      runtime?.EventsOn('steward:event', (payload) => {
        const p = record(payload)
        const type = p.type
        if (type !== 'ledger' && type !== 'ticket' && type !== 'changed' && type !== 'reset') return
        const last = record(p.data).last_id
        on.change({ type, lastId: typeof last === 'number' ? last : undefined })
      }),
      runtime?.EventsOn('steward:link', (payload) => {
        const p = record(payload)
        if (p.state !== 'live' && p.state !== 'opening' && p.state !== 'lost') return
        const was = this.#link?.state
        this.#say({
          state: p.state,
          reason: typeof p.reason === 'string' ? p.reason : undefined,
          code: typeof p.code === 'string' ? p.code : undefined,
          hint: typeof p.hint === 'string' ? p.hint : undefined,
        })
        if (p.state === 'live' && was !== undefined && was !== 'live') on.change({ type: 'reset' })
      }),
    ]
    return () => {
      this.#on = null
      for (const end of ends) end?.()
    }
  }

  #makeShell(): Shell {
    let shape: ShapeName = 'orb'
    const tell = (name: string, args: unknown = {}) => void this.#verb(name, args).catch(() => {})
    return {
      ready: async () => {
        const r = record(await this.#verb('window.ready', {}))
        shape = (r.shape as ShapeName) ?? 'orb'
        const flags = wails().wails?.flags
        // An orb has no edges to pull at. The runtime may set this once more after its start.
        const still = () => {
          if (flags && shape !== 'panel') flags.enableResize = false
        }
        still()
        setTimeout(still, 300)
        return { shape, attached: r.attached === true, compositor: r.compositor !== false }
      },
      open: (view) => tell('window.open', view ? { view } : {}),
      fold: () => tell('window.fold'),
      menu: () => tell('window.menu'),
      quit: () => tell('window.quit'),
      // First, so that no movement is taken for the window's own way to its place.
      drag: () => {
        tell('window.drag')
        wails().WailsInvoke?.('drag')
      },
      copy: async (text) => void (await this.#verb('window.copy', { text })),
      onShape: (on) => {
        wails().runtime?.EventsOn('steward:shape', (payload) => {
          const p = record(payload)
          if (p.shape !== 'orb' && p.shape !== 'menu' && p.shape !== 'panel') return
          shape = p.shape
          const flags = wails().wails?.flags
          if (flags) flags.enableResize = shape === 'panel'
          on(p as unknown as Shape)
        })
      },
    }
  }
}
