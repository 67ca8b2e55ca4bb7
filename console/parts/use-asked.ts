import { useEffect, useState } from 'preact/hooks'
import { ask } from '../api.ts'

/** What the API answers to this path: undefined until it has, and the message of what it refused. */
export interface Asked<Answer> {
  readonly answer: Answer | undefined
  readonly fault: string | undefined
  /** Whether that is the answer to another path, and the one to this is still to come. */
  readonly isLate: boolean
  /** Asks again. */
  readonly again: () => void
}

interface Held<Answer> extends Pick<Asked<Answer>, 'answer' | 'fault'> {
  readonly of: string
}

export function useAsked<Answer>(path: string): Asked<Answer> {
  const [{ of, ...asked }, setAsked] = useState<Held<Answer>>({
    answer: undefined,
    fault: undefined,
    of: path,
  })
  const [count, setCount] = useState(0)
  useEffect(() => {
    let isWanted = true
    ask<Answer>(path).then(
      (answer) => isWanted && setAsked({ answer, fault: undefined, of: path }),
      (error: Error) => isWanted && setAsked({ answer: undefined, fault: error.message, of: path }),
    )
    return () => {
      isWanted = false
    }
  }, [path, count])
  return { ...asked, isLate: of !== path, again: () => setCount((before) => before + 1) }
}
