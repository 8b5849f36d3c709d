// Words for moments and spans. Each comes with the moment at which the word
// would change, so that a page can sleep until then.

import { say, type Tongue } from './i18n.svelte'

export interface Word {
  text: string
  /** When the word changes by itself, ms since 1970; Infinity for never. */
  until: number
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const formats = new Map<string, Intl.DateTimeFormat>()

function format(l: Tongue, key: string, o: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const k = l + key
  let f = formats.get(k)
  if (!f) formats.set(k, (f = new Intl.DateTimeFormat(l === 'en' ? 'en-GB' : l, o)))
  return f
}

const clockOf = (l: Tongue) => format(l, 'clock', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const weekdayOf = (l: Tongue) => format(l, 'weekday', { weekday: 'short' })
const dateOf = (l: Tongue) => format(l, 'date', { day: 'numeric', month: 'short' })
const yearOf = (l: Tongue) => format(l, 'year', { day: 'numeric', month: 'short', year: 'numeric' })
const exactOf = (l: Tongue) =>
  format(l, 'exact', {
    weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', timeZoneName: 'short',
  })

/** midnight is the start of t's day, days later. */
function midnight(t: number, days = 0): number {
  const d = new Date(t)
  d.setHours(0, 0, 0, 0)
  d.setDate(d.getDate() + days)
  return d.getTime()
}

/** stamp is "14:02" today, "Mon 14:02" in the six days before, then the date. */
export function stamp(l: Tongue, at: number, now: number): Word {
  const tomorrow = midnight(at, 1)
  if (now < tomorrow && now >= midnight(at)) return { text: clockOf(l).format(at), until: tomorrow }
  const week = midnight(at, 7)
  if (now >= tomorrow && now < week) return { text: `${weekdayOf(l).format(at)} ${clockOf(l).format(at)}`, until: week }
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  const nextYear = new Date(new Date(now).getFullYear() + 1, 0, 1).getTime()
  return sameYear ? { text: dateOf(l).format(at), until: nextYear } : { text: yearOf(l).format(at), until: Infinity }
}

/** ago is "12 s ago" within a minute, "5 min ago" within an hour, then the stamp. */
export function ago(l: Tongue, at: number, now: number): Word {
  const past = now - at
  if (past < 2 * second) return { text: say(l, 'time.now'), until: at + 2 * second }
  if (past < minute) {
    const n = Math.floor(past / second)
    return { text: say(l, 'time.seconds', { n }), until: at + (n + 1) * second }
  }
  if (past < hour) {
    const n = Math.floor(past / minute)
    return { text: say(l, 'time.minutes', { n }), until: at + (n + 1) * minute }
  }
  return stamp(l, at, now)
}

/** span is how long something lasts: "12 s", "9 min", "2 h 5 min", "3 days". */
export function span(l: Tongue, from: number, to: number): Word {
  const past = Math.max(0, to - from)
  if (past < minute) {
    const n = Math.floor(past / second)
    return { text: say(l, 'time.forSeconds', { n }), until: from + (n + 1) * second }
  }
  if (past < hour) {
    const n = Math.floor(past / minute)
    return { text: say(l, 'time.forMinutes', { n }), until: from + (n + 1) * minute }
  }
  if (past < 2 * day) {
    const h = Math.floor(past / hour)
    const m = Math.floor((past % hour) / minute)
    return { text: say(l, 'time.forHours', { h, m }), until: from + h * hour + (m + 1) * minute }
  }
  const n = Math.floor(past / day)
  return { text: say(l, 'time.forDays', { n }), until: from + (n + 1) * day }
}

/** left is how long it is until at: "2 h 5 min", "24 min", "50 s", and "0 s" from then on. */
export function left(l: Tongue, at: number, now: number): Word {
  const rest = Math.max(0, at - now)
  const unit = rest < minute ? second : rest < 2 * day ? minute : day
  return { text: span(l, 0, rest).text, until: rest === 0 ? Infinity : at - Math.floor(rest / unit) * unit + 1 }
}

/** due is a moment to come: "14:50" today, else "Tue 14:50". It is for less than a week ahead. */
export function due(l: Tongue, at: number, now: number): Word {
  const time = clockOf(l).format(at)
  const start = midnight(at)
  return now >= start ? { text: time, until: Infinity } : { text: `${weekdayOf(l).format(at)} ${time}`, until: start }
}

/** exact is the moment in full, for titles. */
export const exact = (l: Tongue, at: number): string => exactOf(l).format(at)
