import { relative } from 'node:path'

/** A path as a model may give it again: relative to the project, with `/`, where it lies inside, else absolute. */
export function showPath(project: string, path: string): string {
  if (path === project) return '.'
  const inside = relative(project, path)
  return /^\.\.(?:[/\\]|$)/.test(inside) ? path : inside.replaceAll('\\', '/')
}
