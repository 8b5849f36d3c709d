// Theme, language and single-letter keys: the service's configuration, with a
// copy in the browser so that the first paint is right.

import { speak } from '../i18n/i18n.svelte'
import type { SettingsSetArgs } from '../ops.gen'
import type { Transport } from '../transport/transport'
import type { Language, Settings, Theme } from '../types'

const cacheKey = 'steward.look'

/** SettingsStore holds the settings and puts them on the page. */
export class SettingsStore {
  theme = $state<Theme>('system')
  language = $state<Language>('system')
  singleKeys = $state(true)
  updateCheck = $state(false)
  about = $state.raw<Settings['about'] | null>(null)

  #transport: Transport
  #writes = 0

  constructor(transport: Transport) {
    this.#transport = transport
    try {
      const c: unknown = JSON.parse(localStorage.getItem(cacheKey) ?? '{}')
      if (typeof c === 'object' && c !== null) this.#take(c as Partial<Settings>)
    } catch {
      // a browser that keeps nothing, or something that is not ours
    }
    this.#apply()
  }

  #take(s: Partial<Settings>): void {
    if (s.theme === 'system' || s.theme === 'light' || s.theme === 'dark') this.theme = s.theme
    if (s.language === 'system' || s.language === 'en' || s.language === 'zh-CN') this.language = s.language
    if (typeof s.single_keys === 'boolean') this.singleKeys = s.single_keys
    if (typeof s.update_check === 'boolean') this.updateCheck = s.update_check
    if (s.about) this.about = s.about
  }

  #apply(): void {
    if (this.theme === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = this.theme
    speak(this.language)
    try {
      localStorage.setItem(cacheKey, JSON.stringify({ theme: this.theme, language: this.language, single_keys: this.singleKeys }))
    } catch {
      // then the next start asks first
    }
  }

  /** load reads the settings from the service. */
  async load(): Promise<void> {
    const writes = this.#writes
    const s = await this.#transport.call('settings_get', {})
    if (writes !== this.#writes) return // a change made meanwhile is newer
    this.#take(s)
    this.#apply()
  }

  /** set shows a change at once and takes it back when the service refuses it. */
  async set(change: SettingsSetArgs): Promise<void> {
    const before = { theme: this.theme, language: this.language, single_keys: this.singleKeys, update_check: this.updateCheck }
    const write = ++this.#writes
    this.#take(change)
    this.#apply()
    try {
      const s = await this.#transport.call('settings_set', change)
      if (write === this.#writes) this.#take(s)
    } catch (e) {
      if (write === this.#writes) this.#take(before)
      throw e
    } finally {
      this.#apply()
    }
  }
}
