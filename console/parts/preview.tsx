import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { colorLine, languageOf, Language } from './color-code.ts'

/** What colors code is loaded when the first diff is shown; until then the lines have the colours of a diff only. */
const colors = signal<Colors | undefined>(undefined)

interface Colors {
  readonly colorLine: typeof colorLine
  readonly languageOf: typeof languageOf
}

/** If it cannot be loaded, such as while the server restarts, the next diff tries again. */
async function loadColors(): Promise<void> {
  try {
    colors.value = await import('./color-code.ts')
  } catch {
    // The lines are shown all the same.
  }
}

/** A preview; the lines of a diff in colours, and the words of a language in theirs. */
export function Preview({ title, body }: { title: string; body: string }) {
  const lines = readLines(body)
  const hasFile = lines.some(({ file }) => file !== undefined)
  useEffect(() => {
    if (hasFile && colors.peek() === undefined) void loadColors()
  }, [hasFile])
  return (
    <div class="preview">
      <div class="preview-title">{title}</div>
      {/* It may be wider than the page, so that a keyboard has to reach it. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} role="group" aria-label={title}>
        {lines.map(({ text, kind, file = '' }, index) => (
          // oxlint-disable-next-line react/no-array-index-key
          <span key={index} class={kind}>
            <Colored line={text} language={colors.value?.languageOf(file)} />
            {'\n'}
          </span>
        ))}
      </pre>
    </div>
  )
}

function Colored({ line, language }: { line: string; language: Language | undefined }) {
  if (language === undefined || colors.value === undefined) return <>{line}</>
  return (
    <>
      {line.slice(0, 1)}
      {colors.value.colorLine(line.slice(1), language).map(({ text, kind }, index) => (
        // oxlint-disable-next-line react/no-array-index-key
        <span key={index} class={kind === '' ? undefined : `code-${kind}`}>
          {text}
        </span>
      ))}
    </>
  )
}

interface Line {
  readonly text: string
  readonly kind: 'added' | 'removed' | 'hunk' | 'file' | ''
  /** Whose code it is. */
  readonly file?: string | undefined
}

/** After this many lines no more words are colored. */
const mostColored = 2_000

/** Only what is a diff is read as one. How many lines a hunk has is what it says: none of them can pass for the name of a file. */
function readLines(body: string): readonly Line[] {
  const lines = body.split('\n')
  let file: string | undefined
  let isDiff = false
  let left = { old: 0, new: 0 }
  return lines.map((text, index): Line => {
    if (left.old > 0 || left.new > 0) {
      const kind = kindOf(text)
      left = {
        old: left.old - (kind === 'added' ? 0 : 1),
        new: left.new - (kind === 'removed' ? 0 : 1),
      }
      return { text, kind, file: index < mostColored ? file : undefined }
    }
    const next = lines[index + 1] ?? ''
    if (text.startsWith('--- ') && next.startsWith('+++ ')) {
      isDiff = true
      file = [next, text].map((name) => name.slice(4)).find((name) => name !== '/dev/null')
    }
    const hunk = isDiff ? hunkHead.exec(text) : null
    if (hunk !== null) left = { old: Number(hunk[1] ?? 1), new: Number(hunk[2] ?? 1) }
    if (hunk !== null) return { text, kind: 'hunk' }
    return { text, kind: isDiff && isName(text) ? 'file' : kindOf(text) }
  })
}

const hunkHead = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/

function isName(line: string): boolean {
  return line.startsWith('--- ') || line.startsWith('+++ ')
}

function kindOf(line: string): Line['kind'] {
  if (line.startsWith('+')) return 'added'
  if (line.startsWith('-')) return 'removed'
  return line.startsWith('@@') ? 'hunk' : ''
}
