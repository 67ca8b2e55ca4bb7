/** Whether an absolute path is the root or lies below it, at a segment boundary. */
export function isInside(path: string, root: string): boolean {
  if (root === '/') return path.startsWith('/')
  return path === root || (path.startsWith(root) && path[root.length] === '/')
}
