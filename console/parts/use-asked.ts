import { useEffect, useRef, useState } from 'preact/hooks'
import { ask } from '../api.ts'

/** What the API answers to this path: undefined until it has, and the message of what it refused. */
export interface Asked<Answer> {
  readonly answer: Answer | undefined
  readonly fault: string | undefined
  /** Whether what was asked last is still to be answered, and this is of before. */
  readonly isLate: boolean
  /** Asks again. */
  readonly again: () => void
}

interface Held<Answer> extends Pick<Asked<Answer>, 'answer' | 'fault'> {
  readonly of: string
  readonly count: number
  /** Which of all that was asked it answers. */
  readonly place: number
}

export function useAsked<Answer>(path: string): Asked<Answer> {
  const [{ of, count: told, answer, fault }, setHeld] = useState<Held<Answer>>({
    answer: undefined,
    fault: undefined,
    of: path,
    count: 0,
    place: 0,
  })
  const [count, setCount] = useState(1)
  const places = useRef(0)
  const wanted = useRef(path)
  wanted.current = path
  useEffect(() => {
    const place = ++places.current
    // Each answer takes the place of older ones, also if it was asked again meanwhile: who asks often would never be told.
    const hold = (next: Pick<Held<Answer>, 'answer' | 'fault'>): void =>
      setHeld((held) =>
        wanted.current === path && place > held.place ? { ...next, of: path, count, place } : held,
      )
    ask<Answer>(path).then(
      (next) => hold({ answer: next, fault: undefined }),
      (error: Error) => hold({ answer: undefined, fault: error.message }),
    )
  }, [path, count])
  const isLate = of !== path || told !== count
  return { answer, fault, isLate, again: () => setCount((before) => before + 1) }
}
