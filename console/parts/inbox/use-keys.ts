import { useLayoutEffect } from 'preact/hooks'

/** Keys that do something wherever the person is, unless they write. One that is held down does it once. */
export function useKeys(keys: { readonly [key: string]: () => void }): void {
  // Before anything is painted: a key is for what the person sees, and not for what was there before.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const act = keys[event.key]
      if (act === undefined || isWritten(event.target) || event.ctrlKey || event.metaKey || event.altKey)
        return
      event.preventDefault()
      if (!event.repeat) act()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}

function isWritten(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement && target.type !== 'checkbox'
}
