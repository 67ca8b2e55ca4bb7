import { refusal } from './refusals.ts'

/** What names depend on, and which of them got a dependency that they did not have. */
export interface Graph {
  dependsOn: (name: string) => readonly string[]
  changed: ReadonlySet<string>
  /** Whether it is new, so that only those that changed depend on it. */
  isNew: (name: string) => boolean
}

/** Throws `dependency_cycle`, naming the circle, if one leads through what changed. */
export function checkCycles({ dependsOn, changed, isNew }: Graph, what: 'step' | 'task'): void {
  // A circle goes through something that changed. If all that changed is new, nothing older leads back to it.
  const isPassed = [...changed].every(isNew) ? (name: string) => !changed.has(name) : () => false
  const done = new Set<string>()
  for (const start of changed) {
    const path: string[] = []
    const onPath = new Set<string>()
    const rest: { name: string; left: string[] }[] = []
    const enter = (name: string): void => {
      if (onPath.has(name)) throw circle([...path.slice(path.indexOf(name)), name], what)
      if (done.has(name) || isPassed(name)) return
      path.push(name)
      onPath.add(name)
      rest.push({ name, left: [...dependsOn(name)] })
    }
    enter(start)
    for (let top = rest.at(-1); top !== undefined; top = rest.at(-1)) {
      const next = top.left.pop()
      if (next !== undefined) {
        enter(next)
        continue
      }
      rest.pop()
      path.pop()
      onPath.delete(top.name)
      done.add(top.name)
    }
  }
}

function circle(path: readonly string[], what: string): Error {
  const names = path.length > 9 ? [...path.slice(0, 4), '…', ...path.slice(-4)] : path
  return refusal(
    'dependency_cycle',
    `Each ${what} would wait for the next, in a circle: ${names.join(' → ')}. Leave out one of these dependencies. Nothing was changed.`,
  )
}
