import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

/** So many rows are there above and below those on the screen. */
const around = 20

/** So many screens before the end is asked for more: as far as a fast hand scrolls while a page is loaded. */
const near = 12

/** Which rows of a long list are made: those on the screen, and some around. */
export interface RowWindow {
  readonly first: number
  /** Behind the last. */
  readonly end: number
}

/**
 * Follows the scrolling of the page over the element with this ref, whose rows are all of one height. Calls `onEnd` when the last rows come near. Of a short
 * list all rows are made.
 */
export function useWindow<Of extends HTMLElement>(
  count: number,
  rowHeight: number,
  onEnd: (() => void) | undefined,
) {
  const ref = useRef<Of>(null)
  const top = useSignal(0)
  const screen = Math.ceil(innerHeight / rowHeight)
  const first = Math.max(0, Math.min(count - screen, Math.floor(top.value / rowHeight)) - around)
  const end = Math.min(count, first + screen + 2 * around)
  useEffect(() => {
    const follow = (): void => {
      const above = -(ref.current?.getBoundingClientRect().top ?? 0)
      // Rows are made anew when half of those around are used up, not with each pixel.
      if (Math.abs(above - top.value) > (around / 2) * rowHeight || above <= 0) top.value = Math.max(0, above)
    }
    addEventListener('scroll', follow, { passive: true })
    return () => removeEventListener('scroll', follow)
  }, [rowHeight])
  const isNear = end + near * screen >= count && top.value > 0
  useEffect(() => {
    if (isNear) onEnd?.()
  }, [isNear, count])
  return { ref, window: { first, end } satisfies RowWindow }
}
