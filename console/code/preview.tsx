import { Fragment } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Piece } from './colour-diff.ts'

type Coloured = readonly (readonly Piece[] | undefined)[]

interface PreviewProps {
  readonly title: string
  readonly body: string
  /** As the tool says. Default: `diff`. */
  readonly kind?: string
}

/** A preview as text; a diff in colours. */
export function Preview({ title, body, kind = 'diff' }: PreviewProps) {
  const isDiff = kind === 'diff'
  const coloured = useColours(isDiff ? body : undefined)
  return (
    <div class="preview">
      <div class="preview-title">{title}</div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} role="group" aria-label={title}>
        {body.split('\n').map((line, index) => (
          // oxlint-disable-next-line react/no-array-index-key
          <Fragment key={index}>
            {/* Not in the line: what stands behind the box of a coloured one would share its line. */}
            {index > 0 && '\n'}
            <span class={isDiff ? classOf(line) : ''}>
              <Line line={line} pieces={coloured?.[index]} />
            </span>
          </Fragment>
        ))}
      </pre>
    </div>
  )
}

function Line({ line, pieces }: { line: string; pieces: readonly Piece[] | undefined }) {
  if (pieces === undefined) return <>{line}</>
  return (
    <>
      {line.slice(0, 1)}
      {pieces.map(({ text, kind }, index) => (
        // oxlint-disable-next-line react/no-array-index-key
        <span key={index} class={kind === undefined ? 'code' : `code ${kind}`}>
          {text}
        </span>
      ))}
    </>
  )
}

/** The colours of the language come a moment later: their grammars are loaded with the first diff. */
function useColours(body: string | undefined): Coloured | undefined {
  const [found, setFound] = useState<{ readonly body: string; readonly coloured: Coloured }>()
  useEffect(() => {
    if (body === undefined) return
    import('./colour-diff.ts').then(
      ({ colourDiff }) => setFound({ body, coloured: colourDiff(body) }),
      // Without the server, which other parts of the page tell of, the text stands there as it is.
      () => undefined,
    )
  }, [body])
  return found !== undefined && found.body === body ? found.coloured : undefined
}

function classOf(line: string): string {
  if (line.startsWith('+')) return 'added'
  if (line.startsWith('-')) return 'removed'
  return line.startsWith('@@') ? 'hunk' : ''
}
