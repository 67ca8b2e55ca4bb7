import { childrenOf, read, type Place } from './places.ts'

/** The places that these segments name, `*` standing for every member or item. None if nothing is there. */
export function findPointed(root: Place, segments: readonly string[]): Place[] {
  let places = [root]
  for (const segment of segments) {
    places = places
      .flatMap((place) => childrenOf(place))
      .filter(({ key }) => segment === '*' || key === segment)
  }
  return places.filter((place) => read(place) !== undefined)
}

/** Whether a pointer leads to, or into, what these segments name. */
export function isBelow(pointer: readonly string[], segments: readonly string[]): boolean {
  return (
    pointer.length >= segments.length &&
    segments.every((segment, index) => segment === '*' || segment === pointer[index])
  )
}
