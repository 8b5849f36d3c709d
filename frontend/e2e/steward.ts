// A real Steward for one test: a state folder of its own, `steward serve` on a
// free port of this machine, agents that report through real `steward mcp`
// bridges, and the shell.

import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Args, OpName, Result } from '../src/transport/transport'

/** What `make build` made, or the program that STEWARD_E2E_BINARY names. */
export const binary = process.env.STEWARD_E2E_BINARY ?? fileURLToPath(new URL('../../build/bin/steward', import.meta.url))

const run = promisify(execFile)
const patience = 30_000 // ms for a process to do what it should, on a machine that is busy

/** An agent's tool call that was refused; facts are what the refusal carried. */
export class Refused extends Error {
  readonly facts: { error?: { code: string; field?: string; message: string }; current?: unknown }
  constructor(tool: string, facts: Refused['facts']) {
    super(`${tool}: ${JSON.stringify(facts)}`)
    this.facts = facts
  }
}

/** What ask_human takes. */
export interface Question {
  question: string
  options?: string[]
  context?: string
  default_answer?: string
  timeout_seconds?: number
  urgency?: 'low' | 'normal' | 'blocking'
  reversible?: boolean
  idempotency_key?: string
}

/** An event as `steward export` writes it. */
export interface Event {
  id: number
  at: string
  actor: string
  type: string
  object_id?: string
  object_type?: string
  workspace?: string
  source: string
  data?: Record<string, unknown>
}

interface Answer {
  id?: number
  result?: { structuredContent?: unknown; isError?: boolean }
  error?: { code: number; message: string }
}

/** An agent of a workspace: an MCP client of `steward mcp` on its standard input and output. */
export class Agent {
  readonly workspace: string
  #child: ChildProcess
  #asked = new Map<number, { tool: string; done: (a: Answer) => void; failed: (e: Error) => void }>()
  #next = 1

  constructor(env: NodeJS.ProcessEnv, cwd: string, workspace: string) {
    this.workspace = workspace
    this.#child = spawn(binary, ['mcp'], { cwd, env: { ...env, STEWARD_STREAM: workspace }, stdio: ['pipe', 'pipe', 'ignore'] })
    this.#child.stdin!.on('error', () => {}) // it has left: its calls fail when it does
    createInterface({ input: this.#child.stdout! }).on('line', (line) => {
      const a = JSON.parse(line) as Answer
      const asked = a.id === undefined ? undefined : this.#asked.get(a.id)
      if (!asked) return
      this.#asked.delete(a.id!)
      if (a.error) asked.failed(new Error(`${asked.tool}: ${a.error.message}`))
      else asked.done(a)
    })
    this.#child.on('exit', (code, signal) => {
      for (const a of this.#asked.values()) a.failed(new Error(`${a.tool}: the bridge of ${workspace} left with ${code ?? signal}`))
      this.#asked.clear()
    })
  }

  #ask(method: string, params: unknown, tool = method): Promise<Answer> {
    const id = this.#next++
    const answer = new Promise<Answer>((done, failed) => this.#asked.set(id, { tool, done, failed }))
    if (this.#child.stdin!.writable) this.#child.stdin!.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\n')
    else this.#asked.get(id)!.failed(new Error(`${tool}: the bridge of ${this.workspace} has left`))
    return answer
  }

  async greet(): Promise<this> {
    await this.#ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'e2e', version: '1' } })
    this.#child.stdin!.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    return this
  }

  /** call returns the tool's structured facts, or throws Refused. */
  async call<N extends OpName>(tool: N, args: Args<N>): Promise<Result<N>> {
    return (await this.#tool(tool, args)) as Result<N>
  }

  async #tool(tool: string, args: unknown): Promise<unknown> {
    const { result } = await this.#ask('tools/call', { name: tool, arguments: args }, tool)
    if (result?.isError) throw new Refused(tool, (result.structuredContent ?? {}) as Refused['facts'])
    return result?.structuredContent
  }

  /** report is report_done; it returns the event's id. */
  async report(args: Args<'report_done'>): Promise<number> {
    return (await this.call('report_done', args)).event_id as number
  }

  /** handOver makes a handoff and returns its id. */
  async handOver(args: Partial<Args<'handoff_create'>> & { instruction: string }): Promise<string> {
    const key = `e2e-${Math.random().toString(36).slice(2)}`
    return (await this.call('handoff_create', { target: 'studio', idempotency_key: key, ...args })).handoff.id
  }

  /** ask is ask_human, which no page can call; it returns the question's id. */
  async ask(args: Question): Promise<string> {
    return ((await this.#tool('ask_human', args)) as { id: string }).id
  }

  /** wait is wait_for_answer. */
  async wait(id: string, timeout_seconds = 0): Promise<{ status: string; answer?: string; answered_by?: string; revoked?: boolean }> {
    return (await this.#tool('wait_for_answer', { id, timeout_seconds })) as { status: string }
  }

  /** cancel is cancel_ticket. */
  async cancel(id: string): Promise<void> {
    await this.#tool('cancel_ticket', { id })
  }

  /** die ends the bridge as a crash does. Its unanswered calls fail. */
  async die(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const left = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await within(left, 'the bridge to die')
  }

  async leave(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const left = once(this.#child, 'exit')
    this.#child.stdin!.end()
    await within(left, 'the bridge to leave')
  }
}

/** Steward with a state folder of its own. */
export class Steward {
  readonly home = mkdtempSync(join(tmpdir(), 'steward-e2e-'))
  port = 0
  #service: ChildProcess | null = null
  #agents: Agent[] = []
  #extra: NodeJS.ProcessEnv

  /** extra are further variables of the environment of everything that is started. */
  constructor(extra: NodeJS.ProcessEnv = {}) {
    this.#extra = extra
  }

  get env(): NodeJS.ProcessEnv {
    return { PATH: process.env.PATH, HOME: this.home, LANG: 'C.UTF-8', STEWARD_HOME: this.home, STEWARD_BACKUP_DAILY: 'false', ...this.#extra }
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** The owner's token. */
  get token(): string {
    return (this.#extra.STEWARD_TOKEN ?? readFileSync(join(this.home, 'token'), 'utf8')).trim()
  }

  /** What config.json holds; nothing when there is none. */
  get config(): Record<string, unknown> {
    const file = join(this.home, 'config.json')
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>) : {}
  }

  writeConfig(text: string): void {
    writeFileSync(join(this.home, 'config.json'), text)
  }

  /** setEnv changes the environment of what is started from now on. */
  setEnv(extra: NodeJS.ProcessEnv): void {
    this.#extra = { ...this.#extra, ...extra }
  }

  /** serve starts the service, on the port it had before, and waits until it answers. */
  async serve(): Promise<void> {
    for (let tries = 0; ; tries++) {
      const first = this.port === 0
      if (first) this.port = await freePort()
      const log = openSync(join(this.home, 'serve.out'), 'a')
      const child = spawn(binary, ['serve', '--listen', `127.0.0.1:${this.port}`], { cwd: this.home, env: this.env, stdio: ['ignore', log, log] })
      closeSync(log)
      this.#service = child
      if (await this.#answers(child)) return
      if (!first || child.exitCode !== 6 || tries === 4) {
        throw new Error(`steward serve left with ${child.exitCode}: ${readFileSync(join(this.home, 'serve.out'), 'utf8')}`)
      }
      this.port = 0 // somebody took the port between the look and the use
    }
  }

  // answers waits until the service does, and is false when it left instead.
  async #answers(child: ChildProcess): Promise<boolean> {
    const until = Date.now() + patience
    while (child.exitCode === null && child.signalCode === null) {
      try {
        if ((await fetch(this.url + 'healthz')).ok) return true
      } catch {
        // not yet
      }
      if (Date.now() > until) throw new Error(`steward serve does not answer: ${readFileSync(join(this.home, 'serve.out'), 'utf8')}`)
      await new Promise((r) => setTimeout(r, 20)) // between two looks
    }
    return false
  }

  /** end sends the service a signal and waits until it has left; it returns its exit code. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const child = this.#service
    if (!child) throw new Error('no service runs')
    this.#service = null
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const left = once(child, 'exit')
    child.kill(signal)
    await within(left, 'steward serve to leave')
    return child.exitCode
  }

  /** pause stops the service's process where it stands; resume lets it go on. */
  pause(): void {
    this.#service?.kill('SIGSTOP')
  }

  resume(): void {
    this.#service?.kill('SIGCONT')
  }

  /** agent starts the bridge of a workspace. */
  async agent(workspace = 'web-app'): Promise<Agent> {
    const a = new Agent(this.env, this.home, workspace)
    this.#agents.push(a)
    return a.greet()
  }

  /** shell runs `steward call`. */
  async shell<N extends OpName>(tool: N, args: Args<N>): Promise<Result<N>> {
    const { stdout } = await run(binary, ['call', tool, JSON.stringify(args), '--json'], { env: this.env, cwd: this.home })
    return JSON.parse(stdout) as Result<N>
  }

  /** exported is every event of the ledger, as `steward export` writes it. */
  async exported(): Promise<Event[]> {
    const { stdout } = await run(binary, ['export'], { env: this.env, cwd: this.home, maxBuffer: 1 << 28 })
    return stdout.trim().split('\n').map((line) => JSON.parse(line) as Event)
  }

  /** verify is how many events `steward verify` found in order. */
  async verify(): Promise<number> {
    const { stdout } = await run(binary, ['verify', '--json'], { env: this.env, cwd: this.home })
    return (JSON.parse(stdout) as { events: number }).events
  }

  /** owner asks the service by HTTP as the page does. */
  async owner<N extends OpName>(name: N, args: Args<N>): Promise<Result<N>> {
    const res = await fetch(`${this.url}api/call/${name}`, {
      method: 'POST', body: JSON.stringify(args), headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' },
    })
    const answer: unknown = await res.json()
    if (!res.ok) throw new Error(`${name}: ${res.status} ${JSON.stringify(answer)}`)
    return answer as Result<N>
  }

  /** link is what `steward open --print` prints to a person at a terminal. */
  async link(): Promise<string> {
    const { stdout } = await run('script', ['-qec', `'${binary}' open --print`, '/dev/null'], { env: this.env, cwd: this.home })
    const found = /http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]+/.exec(stdout)
    if (!found) throw new Error(`steward open printed no link: ${stdout}`)
    return found[0]
  }

  /** close ends everything and removes the folder. It fails when the service does not leave with 0. */
  async close(): Promise<void> {
    try {
      this.resume()
      await Promise.all(this.#agents.map((a) => a.leave()))
      const code = this.#service ? await this.end('SIGTERM') : 0
      // A bridge may have started a service of its own while ours was gone.
      await run(binary, ['stop'], { env: this.env, cwd: this.home }).catch(() => {})
      if (code !== 0) throw new Error(`steward serve left with ${code}`)
    } finally {
      this.#service?.kill('SIGKILL')
      rmSync(this.home, { recursive: true, force: true, maxRetries: 3 })
    }
  }
}

/** within waits for a promise as long as patience lasts. */
async function within<T>(p: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  try {
    return await Promise.race([p, new Promise<never>((_, no) => (timer = setTimeout(() => no(new Error(`waited in vain for ${what}`)), patience)))])
  } finally {
    clearTimeout(timer)
  }
}

function freePort(): Promise<number> {
  return new Promise((done, failed) => {
    const s = createServer()
    s.once('error', failed)
    s.listen(0, '127.0.0.1', () => {
      const a = s.address()
      s.close(() => (a && typeof a === 'object' ? done(a.port) : failed(new Error('no port'))))
    })
  })
}
