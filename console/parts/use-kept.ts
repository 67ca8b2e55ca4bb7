import { useLayoutEffect, useRef } from 'preact/hooks'

/** For an input that keeps what a person writes, however often the page around it is drawn anew, until this value becomes another one. */
export function useKept(value: string) {
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    if (input.current !== null) input.current.value = value
  }, [value])
  return input
}
