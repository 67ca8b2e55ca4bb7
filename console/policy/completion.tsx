import type { RefObject, TargetedInputEvent, TargetedKeyboardEvent, TargetedMouseEvent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { advise, Advice, Known, Option } from './advise.ts'

type Area = HTMLTextAreaElement
type Advise = typeof advise

/** How many options are shown at once; the keys reach the others. */
const mostShown = 8

/** What may stand at the caret of an editor, and what it means: offered as a person types, and at Ctrl+Space. */
export function useCompletion(
  area: RefObject<Area | null>,
  { text, isReadOnly }: { readonly text: string; readonly isReadOnly: boolean },
) {
  const { find, known } = useAdvise()
  const [caret, setCaret] = useState<number | undefined>(undefined)
  const [pointed, setPointed] = useState<number | undefined>(undefined)
  const [isWanted, setWanted] = useState(false)
  const [chosen, setChosen] = useState(0)
  const at = (offset: number | undefined): Advice | undefined =>
    offset === undefined ? undefined : find?.(text, Math.min(offset, text.length), known)
  const advice = at(caret)
  const options = advice?.options ?? []
  const isOpen = isWanted && !isReadOnly && options.length > 0
  const active = Math.min(chosen, options.length - 1)
  const look = (isShown: boolean): void => {
    setCaret(area.current?.selectionEnd)
    setWanted(isShown)
    setChosen(0)
  }
  const take = (option: Option): void => {
    if (advice === undefined) return
    put(area.current, option, advice)
    look(false)
  }
  const onKeyDown = (event: TargetedKeyboardEvent<Area>): void => {
    const option = options[active]
    const acts: { readonly [key: string]: () => void } = {
      ArrowDown: () => setChosen((active + 1) % options.length),
      ArrowUp: () => setChosen((active + options.length - 1) % options.length),
      Enter: () => option !== undefined && take(option),
      Tab: () => option !== undefined && take(option),
      Escape: () => setWanted(false),
    }
    const act = event.key === ' ' && event.ctrlKey ? () => look(true) : isOpen ? acts[event.key] : undefined
    if (act === undefined) return
    event.preventDefault()
    act()
  }
  return {
    advice: isOpen ? advice : undefined,
    options: isOpen ? options : [],
    active,
    hasOptions: options.length > 0,
    help: at(pointed) ?? advice,
    take,
    onInput: ({ inputType, data }: TargetedInputEvent<Area>) =>
      look(inputType === 'insertText' && /^["\w]$/.test(data ?? '') && !isReadOnly),
    attributes: {
      ...(isOpen && {
        'aria-controls': 'policy-options',
        'aria-activedescendant': `policy-option-${active}`,
      }),
      'aria-autocomplete': 'list' as const,
      onKeyDown,
      onKeyUp: ({ key }: TargetedKeyboardEvent<Area>) => {
        if (/^(?:Arrow(?:Left|Right)|Home|End|Page)/.test(key) || !isOpen)
          setCaret(area.current?.selectionEnd)
        if (/^(?:Arrow(?:Left|Right)|Home|End|Page)/.test(key)) setWanted(false)
      },
      onClick: () => look(false),
      onBlur: () => setWanted(false),
      onMouseMove: (event: TargetedMouseEvent<Area>) => setPointed(offsetAt(event, text)),
      onMouseLeave: () => setPointed(undefined),
    },
  }
}

/** What is known of policies, and the names of tools: loaded with the first editor. */
function useAdvise(): { readonly find: Advise | undefined; readonly known: Known } {
  const [find, setFind] = useState<Advise | undefined>(undefined)
  const [known, setKnown] = useState<Known>({})
  useEffect(() => {
    // Without the server, which the page tells of, the editor takes text as it is.
    const stay = (): void => undefined
    import('./advise.ts').then((loaded) => setFind(() => loaded.advise), stay)
    ask<{ readonly tools: readonly { readonly name: string }[] }>('/api/tools').then(
      ({ tools }) => setKnown({ tools: tools.map(({ name }) => name) }),
      stay,
    )
  }, [])
  return { find, known }
}

/** As if it was typed, so that the browser can undo it. */
function put(area: Area | null, { text, back }: Option, { from, to }: Advice): void {
  if (area === null) return
  area.focus()
  area.setSelectionRange(from, to)
  // Nothing else writes into a field so that the browser can undo it.
  // oxlint-disable-next-line typescript/no-deprecated
  document.execCommand('insertText', false, text)
  const caret = from + text.length - back
  area.setSelectionRange(caret, caret)
}

/** The place of the text that a pointer is over; undefined beside it. */
function offsetAt(
  { currentTarget: area, offsetX, offsetY }: TargetedMouseEvent<Area>,
  text: string,
): number | undefined {
  const style = getComputedStyle(area)
  const lines = text.split('\n')
  const line = Math.floor(
    (offsetY + area.scrollTop - parseFloat(style.paddingTop)) / parseFloat(style.lineHeight),
  )
  const column = Math.floor(
    (offsetX + area.scrollLeft - parseFloat(style.paddingLeft)) / widthOfLetter(style.font),
  )
  const own = lines[line]
  if (own === undefined || column < 0 || column >= own.length) return undefined
  return lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0) + column
}

const letters = document.createElement('canvas').getContext('2d')

function widthOfLetter(font: string): number {
  if (letters === null) return 1
  letters.font = font
  return letters.measureText('0').width
}

interface CompletionProps {
  readonly completion: ReturnType<typeof useCompletion>
  readonly text: string
  readonly scrolled: { readonly left: number; readonly top: number }
}

/** The options, below what they take the place of. */
export function Completion({ completion, text, scrolled }: CompletionProps) {
  const { advice, options, active, take } = completion
  if (advice === undefined) return null
  const first = Math.max(0, Math.min(active - mostShown / 2, options.length - mostShown))
  const shown = options.slice(first, first + mostShown)
  const before = text.slice(0, advice.from).split('\n')
  const column = (before.at(-1) ?? '').length
  const place = {
    top: `calc(0.5rem + ${before.length * 1.5}em - ${scrolled.top}px)`,
    left: `max(0px, min(0.5rem + ${column}ch - ${scrolled.left}px, 100% - 24rem))`,
  }
  return (
    <ul class="options" id="policy-options" role="listbox" aria-label="What may stand here" style={place}>
      {shown.map((option, index) => (
        // The keys are those of the editor, which keeps the focus.
        // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
        <li
          key={option.label}
          id={`policy-option-${first + index}`}
          role="option"
          aria-selected={first + index === active}
          onMouseDown={(event) => {
            event.preventDefault()
            take(option)
          }}
        >
          <strong>{option.label}</strong> {option.about !== undefined && <small>{option.about}</small>}
        </li>
      ))}
    </ul>
  )
}
