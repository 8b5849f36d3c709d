import { describe, expect, it } from 'vitest'
import { mount, unmount } from 'svelte'
import Text from '../src/ui/Text.svelte'
import { baseName, bytes, clean, extension, firstLine, isolated, pieces, points } from '../src/ui/text'

const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/

describe('pieces', () => {
  it('leaves plain text of any script alone', () => {
    for (const s of ['plain', '下载完成：12 首曲目', 'مرحبا', 'é', '👩‍👩‍👧‍👦', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'نمی‌خواهم', '❤️']) expect(pieces(s)).toEqual([{ text: s, mark: false }])
  })

  it('makes characters that hide, turn or break visible', () => {
    expect(clean('a\u202eb\u2069c')).toBe('a⟨RLO⟩b⟨PDI⟩c')
    expect(clean('a\u0000\u0007\u001b[31m\u007f\u009b')).toBe('a⟨NUL⟩⟨BEL⟩⟨ESC⟩[31m⟨DEL⟩⟨9B⟩')
    expect(clean('a\u200b\ufeff\u2028b')).toBe('a⟨ZWSP⟩⟨BOM⟩⟨LSEP⟩b')
    expect(clean('\u{e0041}x')).toBe('⟨E0041⟩x')
    expect(clean('\ud800x')).toBe('\ufffdx')
    const seen: string[] = []
    for (let c = 0; c <= 0xffff; c++) if (hidden.test(clean(String.fromCharCode(c) + 'x'))) seen.push(c.toString(16))
    expect(seen).toEqual([])
  })

  it('keeps line breaks where lines are wanted and folds them where not', () => {
    expect(clean('a\r\nb\rc\td', 99, true)).toBe('a\nb\nc\td')
    expect(clean('a\nb\tc')).toBe('a b c')
  })

  it('bounds text by code points, never inside one', () => {
    expect(clean('🎉'.repeat(10), 3)).toBe('🎉🎉🎉…')
    expect(clean('abc', 3)).toBe('abc')
    expect(clean('👩‍👩', 2)).toBe('👩…') // no joiner before the dots
    expect(points(clean('W'.repeat(1_000_000)))).toBe(20_001)
  })

  it('cuts a tower of combining marks', () => {
    expect([...clean('Z' + '\u0335'.repeat(500))].length).toBe(5)
  })

  it('is quick on long text', () => {
    const start = performance.now()
    pieces('\u202eW'.repeat(10_000), 20_000, true)
    expect(performance.now() - start).toBeLessThan(500)
  })
})

describe('Text', () => {
  it('renders hostile text as text, isolated and bounded', () => {
    const value = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>\u202egnp.exe\n{@html x}' + 'W'.repeat(10_000)
    const c = mount(Text, { target: document.body, props: { value, max: 200, lines: true } })
    const bdi = document.querySelector('bdi')!
    expect(bdi.dir).toBe('auto')
    expect(bdi.querySelectorAll('*:not(span.mark)').length).toBe(0)
    expect(bdi.querySelector('.mark')?.textContent).toBe('⟨RLO⟩')
    expect(bdi.textContent).toContain('<img src=x onerror="window.hit=1"><script>')
    expect(bdi.textContent).toContain('⟨RLO⟩gnp.exe\n{@html x}')
    expect(bdi.textContent!.length).toBeLessThan(230)
    expect((window as unknown as { hit?: number }).hit).toBeUndefined()
    void unmount(c)
  })
})

it('isolated text cannot turn what stands around it', () => {
  expect(isolated('a\u2069b')).toBe('\u2068a⟨PDI⟩b\u2069')
})

it('knows names, endings, first lines and sizes', () => {
  expect(baseName('/a/b.wav')).toBe('b.wav')
  expect(baseName('C:\\a\\b.wav')).toBe('b.wav')
  expect(baseName('/')).toBe('/')
  expect([extension('/a/b.WAV'), extension('/a/.bashrc'), extension('/a.b/c'), extension('x.verylong')]).toEqual(['wav', '', '', ''])
  expect(firstLine('\n \n two \nthree')).toBe('two')
  expect([points('🎉'), bytes('🎉')]).toEqual([1, 4])
})
