import { useEffect } from 'preact/hooks'

/** What a key does, and whether it does so again while it is held down. */
export interface Key {
  readonly act: () => void
  readonly repeats?: boolean
}

/** Keys that do something wherever the person is, unless they write. */
export function useKeys(keys: { readonly [key: string]: Key }): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const key = keys[event.key]
      if (key === undefined || isWriting(event.target)) return
      if (event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      if (!event.repeat || key.repeats === true) key.act()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}

function isWriting(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return target.type !== 'checkbox'
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
}
