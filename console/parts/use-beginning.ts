import { useEffect, useRef } from 'preact/hooks'
import { beginning } from '../events.ts'

/** Calls back when the server begins to tell all that happens: what was read before may lack something that was never told. */
export function useBeginning(onBegin: () => void): void {
  const since = useRef(beginning.value)
  useEffect(() => {
    if (since.current !== beginning.value) onBegin()
    since.current = beginning.value
  }, [beginning.value])
}
