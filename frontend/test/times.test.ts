import { describe, expect, it } from 'vitest'
import { ago, due, exact, left, span, stamp } from '../src/i18n/times'

const at = new Date(2026, 10, 30, 14, 2, 10).getTime() // a Monday, local time
const s = 1000
const min = 60 * s
const hour = 60 * min
const day = 24 * hour

describe('stamp', () => {
  it.each([
    [0, '14:02', '14:02'],
    [9 * hour, '14:02', '14:02'],
    [10 * hour, 'Mon 14:02', '周一 14:02'],
    [6 * day, 'Mon 14:02', '周一 14:02'],
    [7 * day, '30 Nov', '11月30日'],
    [40 * day, '30 Nov 2026', '2026年11月30日'],
  ])('%i ms later', (later, en, zh) => {
    expect(stamp('en', at, at + later).text).toBe(en)
    expect(stamp('zh-CN', at, at + later).text).toBe(zh)
  })

  it('names the moment at which it changes', () => {
    for (const later of [0, 10 * hour, 7 * day]) {
      const w = stamp('en', at, at + later)
      expect(stamp('en', at, w.until - 1).text).toBe(w.text)
      expect(stamp('en', at, w.until).text).not.toBe(w.text)
    }
    expect(stamp('en', at, at + 400 * day).until).toBe(Infinity)
  })
})

describe('ago', () => {
  it.each([
    [-5 * s, 'just now', '刚刚'],
    [0, 'just now', '刚刚'],
    [12 * s, '12 s ago', '12 秒前'],
    [59.9 * s, '59 s ago', '59 秒前'],
    [min, '1 min ago', '1 分钟前'],
    [42.5 * min, '42 min ago', '42 分钟前'],
    [hour, '14:02', '14:02'],
    [2 * day, 'Mon 14:02', '周一 14:02'],
  ])('%i ms later', (later, en, zh) => {
    expect(ago('en', at, at + later).text).toBe(en)
    expect(ago('zh-CN', at, at + later).text).toBe(zh)
  })

  it('names the moment at which it changes', () => {
    for (const later of [0, 12 * s, 59.9 * s, 42.5 * min, 59.5 * min]) {
      const w = ago('en', at, at + later)
      expect(w.until).toBeGreaterThan(at + later)
      expect(ago('en', at, w.until - 1).text).toBe(w.text)
      expect(ago('en', at, w.until).text).not.toBe(w.text)
    }
  })
})

describe('span', () => {
  it.each([
    [-1, '0 s', '0 秒'],
    [12 * s, '12 s', '12 秒'],
    [9 * min, '9 min', '9 分钟'],
    [2 * hour + 5 * min, '2 h 5 min', '2 小时 5 分钟'],
    [3 * day, '3 days', '3 天'],
  ])('%i ms', (long, en, zh) => {
    expect(span('en', at, at + long).text).toBe(en)
    expect(span('zh-CN', at, at + long).text).toBe(zh)
  })

  it('names the moment at which it changes', () => {
    for (const long of [0, 12 * s, 9 * min, 2 * hour, 3 * day]) {
      const w = span('en', at, at + long)
      expect(span('en', at, w.until - 1).text).toBe(w.text)
      expect(span('en', at, w.until).text).not.toBe(w.text)
    }
  })
})

describe('left', () => {
  it.each([
    [2 * hour + 5 * min, '2 h 5 min'],
    [24 * min, '24 min'],
    [59 * s, '59 s'],
    [0, '0 s'],
    [-5 * s, '0 s'],
  ])('%i ms', (ms, en) => expect(left('en', at + ms, at).text).toBe(en))

  it('names the moment at which it changes', () => {
    for (const ms of [12 * s, 60 * s, 9 * min + 7, 2 * hour, 3 * day]) {
      const w = left('en', at + ms, at)
      expect(left('en', at + ms, w.until - 1).text).toBe(w.text)
      expect(left('en', at + ms, w.until).text).not.toBe(w.text)
    }
  })
})

it('due names the day only when it is not today', () => {
  const w = due('en', at + day, at)
  expect([w.text, due('en', at + day, w.until - 1).text, due('en', at + day, w.until).text]).toEqual(['Tue 14:02', 'Tue 14:02', '14:02'])
  expect(due('zh-CN', at + day, at).text).toBe('周二 14:02')
})

it('exact has everything down to the second', () => {
  expect(exact('en', at)).toMatch(/^Monday,? 30 November 2026 at 14:02:10 /)
  expect(exact('zh-CN', at)).toMatch(/2026年11月30日.*14:02:10/)
})
