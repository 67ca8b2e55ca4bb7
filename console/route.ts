import { signal } from '@preact/signals'

/** The path of the page that is shown. */
export const path = signal(location.pathname)

addEventListener('popstate', () => (path.value = location.pathname))

/** Goes to a page without loading it anew. */
export function go(to: string): void {
  if (to === path.value) return
  history.pushState(null, '', to)
  path.value = to
  scrollTo(0, 0)
}

/** Lets links inside of the console change the page only. */
export function followLinks(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a[href^="/"]') : null
  // A download stays on its page.
  if (link?.hasAttribute('download')) return
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
  if (link === null || !isPlain || event.defaultPrevented) return
  event.preventDefault()
  go(link.getAttribute('href') ?? '/')
}
