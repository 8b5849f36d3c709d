// A reader of text/event-stream over any cut of bytes. The browser's own
// EventSource cannot send a token in a header.

export interface ServerEvent {
  /** The last id seen, also from an earlier event. */
  id: string
  event: string
  data: string
}

export interface SseHandlers {
  event(e: ServerEvent): void
  comment?(text: string): void
}

/** SseReader takes the stream's bytes piece by piece and hands out whole events. */
export class SseReader {
  #decoder = new TextDecoder('utf-8') // drops a byte order mark at the start
  #rest = ''
  #afterCR = false
  #id = ''
  #event = ''
  #data: string[] = []
  #on: SseHandlers

  constructor(on: SseHandlers) {
    this.#on = on
  }

  feed(bytes: Uint8Array): void {
    let text = this.#decoder.decode(bytes, { stream: true })
    if (text === '') return
    // A CR ends a line at once; an LF right behind it, perhaps in the next piece,
    // belongs to the same end.
    if (this.#afterCR && text[0] === '\n') text = text.slice(1)
    this.#afterCR = false
    let buffer = this.#rest + text
    if (buffer.endsWith('\r')) this.#afterCR = true
    let from = 0
    const ends = /\r\n|\r|\n/g
    ends.lastIndex = this.#rest.length
    for (let m = ends.exec(buffer); m; m = ends.exec(buffer)) {
      this.#line(buffer.slice(from, m.index))
      from = m.index + m[0].length
    }
    buffer = buffer.slice(from)
    this.#rest = buffer
  }

  #line(line: string): void {
    if (line === '') {
      if (this.#data.length > 0) {
        this.#on.event({ id: this.#id, event: this.#event || 'message', data: this.#data.join('\n') })
      }
      this.#event = ''
      this.#data = []
      return
    }
    const colon = line.indexOf(':')
    if (colon === 0) {
      this.#on.comment?.(line.slice(1).replace(/^ /, ''))
      return
    }
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'data') this.#data.push(value)
    else if (field === 'event') this.#event = value
    else if (field === 'id' && !value.includes('\0')) this.#id = value
  }
}
