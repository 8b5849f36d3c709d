import { describe, expect, it } from 'vitest'
import { SseReader, type ServerEvent } from '../src/transport/sse'

const bytes = (s: string) => new TextEncoder().encode(s)

function read(...pieces: (string | Uint8Array)[]): { events: ServerEvent[]; comments: string[] } {
  const events: ServerEvent[] = []
  const comments: string[] = []
  const r = new SseReader({ event: (e) => events.push(e), comment: (c) => comments.push(c) })
  for (const p of pieces) r.feed(typeof p === 'string' ? bytes(p) : p)
  return { events, comments }
}

const whole = 'event: hello\r\ndata: {"last_id":7}\r\n\r\n: \r\nid: 8\nevent: ledger\ndata: {"a":\ndata: "五"}\n\nid: 9\rdata\r\r'
const want = [
  { id: '', event: 'hello', data: '{"last_id":7}' },
  { id: '8', event: 'ledger', data: '{"a":\n"五"}' },
  { id: '9', event: 'message', data: '' },
]

describe('SseReader', () => {
  it('reads lines that end in CR, LF and both', () => {
    expect(read(whole)).toEqual({ events: want, comments: [''] })
  })

  it('reads the same whatever the cut, also inside a character and between CR and LF', () => {
    const all = bytes(whole)
    for (let i = 1; i < all.length; i++) {
      expect(read(all.slice(0, i), all.slice(i)).events, `cut at ${i}`).toEqual(want)
    }
    expect(read(...[...all].map((b) => Uint8Array.of(b))).events).toEqual(want)
  })

  it('keeps the last id for events without one, and takes an empty one', () => {
    const { events } = read('id: 5\ndata: a\n\ndata: b\n\nid\ndata: c\n\n')
    expect(events.map((e) => e.id)).toEqual(['5', '5', ''])
  })

  it('drops an event without data and an id with a NUL', () => {
    expect(read('event: x\n\nid: 1\0\ndata: y\n\n').events).toEqual([{ id: '', event: 'message', data: 'y' }])
  })

  it('skips a byte order mark, unknown fields and one space after the colon', () => {
    const { events, comments } = read('\ufeffdata:  two\nretry: 5\nfoo\n\n:hi\n: there\n')
    expect(events).toEqual([{ id: '', event: 'message', data: ' two' }])
    expect(comments).toEqual(['hi', 'there'])
  })

  it('says nothing of an event that has not ended', () => {
    expect(read('data: half\n').events).toEqual([])
  })
})
