import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { messageOf } from '../../src/kit/text/message-of.ts'

/** A change that a page makes: whether one is under way, and what the API said against the last one. */
export interface Change {
  readonly isBusy: boolean
  readonly fault: string | undefined
  /** Asks the API; undefined if it refused. */
  readonly make: <Answer>(path: string, body: object) => Promise<Answer | undefined>
}

export function useChange(): Change {
  const [state, setState] = useState<Omit<Change, 'make'>>({ isBusy: false, fault: undefined })
  return {
    ...state,
    async make<Answer>(path: string, body: object) {
      setState({ isBusy: true, fault: undefined })
      try {
        const answer = await ask<Answer>(path, body)
        setState({ isBusy: false, fault: undefined })
        return answer
      } catch (error) {
        setState({ isBusy: false, fault: messageOf(error) })
        return undefined
      }
    },
  }
}
