import { dirname, sep } from 'node:path'

/** Whether an absolute path is the root or lies below it, at a segment boundary: `/workspace-evil` is not inside `/workspace`. */
export function isInside(path: string, root: string): boolean {
  if (!path.startsWith(root)) return false
  return (
    path.length === root.length || path[root.length] === sep || (root.endsWith(sep) && dirname(root) === root)
  )
}
