import { batch, signal } from '@preact/signals'

/** The path of the page that is shown. */
export const path = signal(location.pathname)
/** What of the page is shown, as its address says it. */
export const query = signal(location.search)

const follow = (): void =>
  batch(() => {
    path.value = location.pathname
    query.value = location.search
  })
addEventListener('popstate', follow)

/** Goes to a page without loading it anew. The keyboard goes on at its beginning. */
export function go(to: string): void {
  if (to === path.value + query.value) return
  history.pushState(null, '', to)
  follow()
  scrollTo(0, 0)
  document.getElementById('main')?.focus({ preventScroll: true })
}

/** Keeps in the address what of the page is shown; what is undefined says nothing. */
export function keepQuery(shown: object): void {
  const said = Object.entries(shown).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const next = new URLSearchParams(said).toString()
  history.replaceState(null, '', `${path.value}${next === '' ? '' : `?${next}`}`)
  follow()
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
