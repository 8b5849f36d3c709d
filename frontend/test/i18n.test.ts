import { afterEach, describe, expect, it } from 'vitest'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import en from '../src/i18n/en.json'
import zh from '../src/i18n/zh-CN.json'
import { fromSystem, isKey, lang, number, say, speak, t } from '../src/i18n/i18n.svelte'
import { statuses } from '../src/types'

type Entry = string | Record<string, string>
const files = { en: en as Record<string, Entry>, 'zh-CN': zh as Record<string, Entry> }

const placeholders = (s: string) => [...s.matchAll(/\{(\w+)\}/g)].map((m) => m[1]).sort()

afterEach(() => speak('en'))

describe('the two languages', () => {
  it('have the same keys in the same order', () => {
    expect(Object.keys(zh)).toEqual(Object.keys(en))
  })

  it('have the same placeholders in every form', () => {
    for (const [key, entry] of Object.entries(files.en)) {
      const forms = typeof entry === 'string' ? [entry] : Object.values(entry)
      const other = files['zh-CN'][key] as Entry
      const want = placeholders(forms.at(-1) as string)
      for (const f of [...forms, ...(typeof other === 'string' ? [other] : Object.values(other))]) expect(placeholders(f), key).toEqual(want)
    }
  })

  it('have exactly the plural forms of their language', () => {
    for (const [l, file] of Object.entries(files)) {
      const forms = new Intl.PluralRules(l).resolvedOptions().pluralCategories.sort()
      for (const [key, entry] of Object.entries(file)) {
        if (typeof entry === 'string') continue
        expect(Object.keys(entry).sort(), `${l} ${key}`).toEqual([...forms].sort())
      }
    }
  })

  it('leave nothing empty and do not shout', () => {
    for (const [l, file] of Object.entries(files)) {
      for (const [key, entry] of Object.entries(file)) {
        for (const s of typeof entry === 'string' ? [entry] : Object.values(entry)) {
          expect(s.trim(), `${l} ${key}`).not.toBe('')
          expect(s, `${l} ${key}`).not.toMatch(/[!！]/)
        }
      }
    }
  })

  it('have a use for every string', () => {
    const source: string[] = []
    const read = (dir: string) => {
      for (const e of readdirSync(dir, { withFileTypes: true })) {
        if (e.isDirectory()) read(join(dir, e.name))
        else if (/\.(ts|svelte)$/.test(e.name)) source.push(readFileSync(join(dir, e.name), 'utf8'))
      }
    }
    read(join(__dirname, '../src'))
    const all = source.join('\n')
    const made = [...all.matchAll(/`(\w+)\.\$\{/g)].map((m) => m[1] + '.') // as in `status.${s}`
    const unused = Object.keys(en).filter((k) => !all.includes(`'${k}'`) && !all.includes(`"${k}"`) && !made.some((p) => k.startsWith(p as string)))
    expect(unused).toEqual([])
  })

  it('have a word for every status, in both', () => {
    for (const s of statuses) expect(isKey(`status.${s}`)).toBe(true)
  })
})

describe('t', () => {
  it('chooses the plural form and writes numbers as the language does', () => {
    expect(say('en', 'head.events', { n: 1 })).toBe('1 event')
    expect(say('en', 'head.events', { n: 0 })).toBe('0 events')
    expect(say('en', 'head.events', { n: 1204 })).toBe('1,204 events')
    expect(say('zh-CN', 'head.events', { n: 1 })).toBe('1 条事件')
    expect(number(0.1 + 0.2, 'en')).toBe('0.30000000000000004')
  })

  it('puts text in as it is, also text that looks like a placeholder', () => {
    expect(say('en', 'handoffs.to', { target: '{target} $& <b>' })).toBe('to {target} $& <b>')
  })

  it('follows the language that is spoken, and the page says which', () => {
    speak('zh-CN')
    expect([lang(), t('view.brief'), document.documentElement.lang]).toEqual(['zh-CN', '简报', 'zh-CN'])
    speak('en')
    expect([lang(), t('view.brief'), document.documentElement.lang]).toEqual(['en', 'Brief', 'en'])
  })

  it('takes the first language of the system that there is', () => {
    expect(fromSystem(['zh-TW', 'en'])).toBe('zh-CN')
    expect(fromSystem(['de-DE', 'zh'])).toBe('zh-CN')
    expect(fromSystem(['en-GB', 'zh'])).toBe('en')
    expect(fromSystem(['fr'])).toBe('en')
    expect(fromSystem([])).toBe('en')
  })
})
