// Text from agents, made safe to look at: bounded, and with every character that
// hides, turns or breaks text made visible. It stays text; nothing here or
// elsewhere makes markup of it.

export interface Piece {
  text: string
  /** The piece stands for a character that cannot be seen. */
  mark: boolean
}

/** The longest text that is shown in full, in code points. Steward's own limits lie far below. */
export const longest = 20_000

const controls = 'NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US'.split(' ')

const named = new Map<number, string>([
  [0x00ad, 'SHY'], [0x034f, 'CGJ'], [0x061c, 'ALM'], [0x115f, 'HCF'], [0x1160, 'HJF'], [0x180e, 'MVS'], [0x200b, 'ZWSP'],
  [0x200e, 'LRM'], [0x200f, 'RLM'], [0x2028, 'LSEP'], [0x2029, 'PSEP'], [0x202a, 'LRE'], [0x202b, 'RLE'], [0x202c, 'PDF'],
  [0x202d, 'LRO'], [0x202e, 'RLO'], [0x2060, 'WJ'], [0x2066, 'LRI'], [0x2067, 'RLI'], [0x2068, 'FSI'], [0x2069, 'PDI'],
  [0x3164, 'HF'], [0xfeff, 'BOM'], [0xffa0, 'HHF'], [0xfff9, 'IAA'], [0xfffa, 'IAS'], [0xfffb, 'IAT'],
])

/** visible returns what is shown in place of the code point c, or null when it shows itself. */
function visible(c: number, lines: boolean): string | null {
  if (c === 0x0a || c === 0x09) return lines ? null : ' '
  if (c < 0x20) return `⟨${controls[c]}⟩`
  if (c === 0x7f) return '⟨DEL⟩'
  if (c >= 0x80 && c <= 0x9f) return `⟨${c.toString(16).toUpperCase()}⟩`
  const name = named.get(c)
  if (name) return `⟨${name}⟩`
  if ((c >= 0x2061 && c <= 0x2065) || (c >= 0x206a && c <= 0x206f) || (c >= 0xe0000 && c <= 0xe0fff && !(c >= 0xe0100 && c <= 0xe01ef))) {
    return `⟨${c.toString(16).toUpperCase()}⟩`
  }
  if (c >= 0xd800 && c <= 0xdfff) return '\ufffd'
  return null
}

// Nearly every text is of these: printable ASCII and plain Chinese, which need no care.
const ordinary = /^[\x20-\x7e\u4e00-\u9fff\u3001-\u3011\uff01-\uff5e]*$/

const combining = /\p{M}/u
const mostCombining = 4

/**
 * pieces splits text into what can be shown, at most max code points of it and
 * then …. With lines, line breaks and tabs stay.
 */
export function pieces(text: string, max: number = longest, lines = false): Piece[] {
  if (text.length <= max && ordinary.test(text)) return text === '' ? [] : [{ text, mark: false }]
  const out: Piece[] = []
  let plain = ''
  let n = 0
  let stacked = 0 // combining marks in a row: a tower of them would cover other lines
  let tags = false // inside a flag, tag characters belong to it
  const flush = () => {
    if (plain !== '') out.push({ text: plain, mark: false })
    plain = ''
  }
  const source = lines ? text.replace(/\r\n?/g, '\n') : text
  for (const ch of source) {
    if (n++ >= max) {
      plain = plain.replace(/[\s\u200d]+$/, '') + '…'
      break
    }
    const c = ch.codePointAt(0) as number
    if (combining.test(ch)) {
      if (++stacked > mostCombining) continue
    } else stacked = 0
    if (c === 0x1f3f4) tags = true
    else if (!(tags && c >= 0xe0020 && c <= 0xe007f)) tags = false
    const shown = tags && c !== 0x1f3f4 ? null : visible(c, lines)
    if (shown === null || shown === ' ') {
      plain += shown ?? ch
      continue
    }
    flush()
    out.push({ text: shown, mark: true })
  }
  flush()
  return out
}

/** clean is pieces as one string, for titles, names and the clipboard's notes. */
export const clean = (text: string, max = longest, lines = false): string =>
  pieces(text, max, lines).map((p) => p.text).join('')

/** isolated is clean text that cannot turn the sentence around it. */
export const isolated = (text: string, max = 80): string => `\u2068${clean(text, max)}\u2069`

/** points counts code points, as Steward's limits do. */
export function points(s: string): number {
  let n = 0
  for (const _ of s) n++
  return n
}

/** bytes counts the bytes of s in UTF-8. */
export const bytes = (s: string): number => new TextEncoder().encode(s).length

/** firstLine is the first line with something on it. */
export function firstLine(s: string): string {
  for (const l of s.split(/\r\n|\r|\n/)) if (l.trim() !== '') return l.trim()
  return ''
}

/** baseName is the last part of a path of any system. */
export const baseName = (path: string): string => path.split(/[\\/]/).filter(Boolean).pop() ?? path

/** extension is a file's ending without the dot, at most five characters; "" without one. */
export function extension(path: string): string {
  const m = /[^.]\.([A-Za-z0-9]{1,5})$/.exec(baseName(path))
  return m?.[1]?.toLowerCase() ?? ''
}
