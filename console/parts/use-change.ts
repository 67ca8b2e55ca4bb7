import { useRef, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { messageOf } from '../../src/kit/text/message-of.ts'

/** A change that a page makes: whether one is under way, and what the API said against the last one. */
export interface Change {
  readonly isBusy: boolean
  readonly fault: string | undefined
  /** Asks the API, one change at a time; undefined if it refused, or one is under way. */
  readonly make: <Answer>(path: string, body: object) => Promise<Answer | undefined>
}

export function useChange(): Change {
  const [state, setState] = useState<Omit<Change, 'make'>>({ isBusy: false, fault: undefined })
  const isBusy = useRef(false)
  const finish = (fault: string | undefined): void => {
    isBusy.current = false
    setState({ isBusy: false, fault })
  }
  return {
    ...state,
    async make<Answer>(path: string, body: object) {
      if (isBusy.current) return undefined
      isBusy.current = true
      setState({ isBusy: true, fault: undefined })
      try {
        const answer = await ask<Answer>(path, body)
        finish(undefined)
        return answer
      } catch (error) {
        finish(messageOf(error))
        return undefined
      }
    },
  }
}
