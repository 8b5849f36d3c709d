// Every sentence of the page, in the language of the person. Strings live in one
// file per language; a test holds the files to the same keys and placeholders.

import en from './en.json'
import zh from './zh-CN.json'
import type { Language } from '../types'

export type Key = keyof typeof en
export type Tongue = 'en' | 'zh-CN'
export type Params = Record<string, string | number>

type Entry = string | { one?: string; other: string }
const files: Record<Tongue, Record<Key, Entry>> = { en, 'zh-CN': zh }

/** fromSystem picks the language for the system's wishes: Chinese of any kind is ours, everything else English. */
export function fromSystem(wishes: readonly string[]): Tongue {
  for (const w of wishes) {
    const l = w.toLowerCase()
    if (l === 'zh' || l.startsWith('zh-')) return 'zh-CN'
    if (l === 'en' || l.startsWith('en-')) return 'en'
  }
  return 'en'
}

let tongue = $state<Tongue>('en')

/** lang is the language that is spoken now. */
export const lang = (): Tongue => tongue

/** speak changes the language of everything on the page. */
export function speak(l: Language): void {
  tongue = l === 'system' ? fromSystem(navigator.languages ?? [navigator.language]) : l
  document.documentElement.lang = tongue
}

const rules = new Map<Tongue, Intl.PluralRules>()
const numbers = new Map<Tongue, Intl.NumberFormat>()

/** number writes n with the separators of the language. */
export function number(n: number, l: Tongue = tongue): string {
  let f = numbers.get(l)
  if (!f) numbers.set(l, (f = new Intl.NumberFormat(l, { maximumFractionDigits: 20 })))
  return f.format(n)
}

/** say fills the placeholders of a string. `n` chooses the plural form. */
export function say(l: Tongue, key: Key, params: Params = {}): string {
  let entry: Entry = files[l][key]
  if (typeof entry !== 'string') {
    let r = rules.get(l)
    if (!r) rules.set(l, (r = new Intl.PluralRules(l)))
    const form = r.select(Number(params.n ?? 0))
    entry = (form === 'one' ? entry.one : undefined) ?? entry.other
  }
  return entry.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const v = params[name]
    return v === undefined ? whole : typeof v === 'number' ? number(v, l) : v
  })
}

/** t is say in the language that is spoken; templates that call it follow a change. */
export const t = (key: Key, params?: Params): string => say(tongue, key, params)

/** isKey tells whether there is a string of that name. */
export const isKey = (s: string): s is Key => Object.hasOwn(en, s)
