import { useRef, useState } from 'preact/hooks'
import type { FaultRow } from '../api.ts'
import { Completion, useCompletion } from './completion.tsx'

interface PolicyEditorProps {
  readonly text: string
  readonly faults: readonly FaultRow[]
  readonly isReadOnly: boolean
  readonly onInput: (text: string) => void
}

/** The text of a policy with the numbers of its lines. What may stand at the caret is offered; what is wrong stands at its line, and below. */
export function PolicyEditor({ text, faults, isReadOnly, onInput }: PolicyEditorProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const [scrolled, setScrolled] = useState({ left: 0, top: 0 })
  const completion = useCompletion(area, { text, isReadOnly })
  const lines = text.split('\n')
  return (
    <>
      <div class="editor">
        <div class="gutter" aria-hidden="true">
          <div style={{ marginTop: `${-scrolled.top}px` }}>
            {lines.map((_, index) => (
              <div
                // oxlint-disable-next-line react/no-array-index-key
                key={index}
                class={faults.some(({ line }) => line === index + 1) ? 'danger' : ''}
              >
                {index + 1}
              </div>
            ))}
          </div>
        </div>
        <div class="text">
          <Marks lines={lines} faults={faults} scrolled={scrolled} />
          <textarea
            ref={area}
            aria-label="The policy file"
            aria-invalid={faults.length > 0}
            aria-describedby="policy-help"
            spellcheck={false}
            autoCapitalize="off"
            wrap="off"
            readOnly={isReadOnly}
            rows={Math.min(Math.max(lines.length + 1, 8), 32)}
            value={text}
            {...completion.attributes}
            onInput={(event) => {
              onInput(event.currentTarget.value)
              completion.onInput(event)
            }}
            onScroll={({ currentTarget: { scrollLeft, scrollTop } }) =>
              setScrolled({ left: scrollLeft, top: scrollTop })
            }
          />
          <Completion completion={completion} text={text} scrolled={scrolled} />
        </div>
      </div>
      <Help completion={completion} isReadOnly={isReadOnly} />
      <FaultList
        faults={faults}
        onPick={(line) => {
          const at = startOf(lines, line)
          area.current?.focus()
          area.current?.setSelectionRange(at, at + (lines[line - 1]?.length ?? 0))
        }}
      />
    </>
  )
}

interface MarksProps {
  readonly lines: readonly string[]
  readonly faults: readonly FaultRow[]
  readonly scrolled: { readonly left: number; readonly top: number }
}

/** What is wrong with a line, behind its text. The list below has the same for those who do not see it. */
function Marks({ lines, faults, scrolled }: MarksProps) {
  const byLine = Map.groupBy(faults, ({ line }) => line)
  return (
    <div class="marks" aria-hidden="true">
      {[...byLine].map(([line, own]) => (
        <div key={line} style={{ top: `calc(0.5rem + ${(line - 1) * 1.5}em - ${scrolled.top}px)` }}>
          <span
            style={{ left: `calc(0.5rem + ${(lines[line - 1] ?? '').length + 2}ch - ${scrolled.left}px)` }}
          >
            {own.map(({ message }) => message).join(' ')}
          </span>
        </div>
      ))}
    </div>
  )
}

function Help({
  completion: { help, hasOptions },
  isReadOnly,
}: {
  completion: ReturnType<typeof useCompletion>
  isReadOnly: boolean
}) {
  return (
    <p class="said" id="policy-help">
      {help === undefined ? (
        'Go to a place of the file to see what it means.'
      ) : (
        <>
          <strong>{help.place === '' ? 'The policy' : help.place}</strong> {help.about}
        </>
      )}
      {hasOptions && !isReadOnly && (
        <span class="hints">
          {' '}
          <kbd>Ctrl</kbd> <kbd>Space</kbd> shows what may stand here
        </span>
      )}
    </p>
  )
}

function FaultList({ faults, onPick }: { faults: readonly FaultRow[]; onPick: (line: number) => void }) {
  return (
    <div aria-live="polite">
      {faults.length > 0 && (
        <ul class="list" aria-label="What is wrong with it">
          {faults.map(({ line, pointer, message }) => (
            <li key={`${pointer} ${message}`} class="note fault">
              <button type="button" class="link" onClick={() => onPick(line)}>
                Line {line}
                {pointer === '' ? '' : `, ${pointer}`}
              </button>{' '}
              {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** Where a line begins. */
function startOf(lines: readonly string[], line: number): number {
  return lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0)
}
