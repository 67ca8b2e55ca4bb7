/** A file of this package, such as "package.json". The bundle lies as deep in the package as this folder does. */
export function ownFile(path: string): URL {
  return new URL(`../../${path}`, import.meta.url)
}
