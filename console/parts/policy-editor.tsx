import { useRef } from 'preact/hooks'
import type { FaultRow } from '../api.ts'

interface PolicyEditorProps {
  readonly text: string
  readonly faults: readonly FaultRow[]
  readonly isReadOnly: boolean
  readonly onInput: (text: string) => void
}

/** The text of a policy with the numbers of its lines; what is wrong with a line stands below, and leads to it. */
export function PolicyEditor({ text, faults, isReadOnly, onInput }: PolicyEditorProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const gutter = useRef<HTMLDivElement>(null)
  const count = text.split('\n').length
  const faulty = new Set(faults.map(({ line }) => line))
  const goTo = (line: number): void => {
    const at = text
      .split('\n')
      .slice(0, line - 1)
      .reduce((sum, each) => sum + each.length + 1, 0)
    const end = text.indexOf('\n', at)
    area.current?.focus()
    area.current?.setSelectionRange(at, end < 0 ? text.length : end)
  }
  return (
    <>
      <div class="editor">
        <div class="gutter" aria-hidden="true" ref={gutter}>
          {Array.from({ length: count }, (_, index) => (
            <div key={index + 1} class={faulty.has(index + 1) ? 'danger' : ''}>
              {index + 1}
            </div>
          ))}
        </div>
        <textarea
          ref={area}
          aria-label="The policy file"
          aria-invalid={faults.length > 0}
          spellcheck={false}
          autoCapitalize="off"
          wrap="off"
          readOnly={isReadOnly}
          rows={Math.min(Math.max(count + 1, 8), 32)}
          value={text}
          onInput={(event) => onInput(event.currentTarget.value)}
          onScroll={(event) => {
            if (gutter.current !== null) gutter.current.scrollTop = event.currentTarget.scrollTop
          }}
        />
      </div>
      {faults.length > 0 && (
        <ul class="list" role="alert" aria-label="What is wrong with it">
          {faults.map(({ line, pointer, message }) => (
            <li key={`${pointer} ${message}`} class="note fault">
              <button type="button" class="link" onClick={() => goTo(line)}>
                Line {line}
                {pointer === '' ? '' : `, ${pointer}`}
              </button>{' '}
              {message}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
