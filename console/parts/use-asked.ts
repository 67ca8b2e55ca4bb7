import { useEffect, useState } from 'preact/hooks'
import { ask } from '../api.ts'

/** What the API answers to this path: undefined until it has, and the message of what it refused. */
export interface Asked<Answer> {
  readonly answer: Answer | undefined
  readonly fault: string | undefined
  /** Asks again. */
  readonly again: () => void
}

export function useAsked<Answer>(path: string): Asked<Answer> {
  const [asked, setAsked] = useState<Omit<Asked<Answer>, 'again'>>({ answer: undefined, fault: undefined })
  const [count, setCount] = useState(0)
  useEffect(() => {
    let isWanted = true
    ask<Answer>(path).then(
      (answer) => isWanted && setAsked({ answer, fault: undefined }),
      (error: Error) => isWanted && setAsked({ answer: undefined, fault: error.message }),
    )
    return () => {
      isWanted = false
    }
  }, [path, count])
  return { ...asked, again: () => setCount((before) => before + 1) }
}
