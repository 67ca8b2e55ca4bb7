import type { Issue } from '../../contract/base/json.ts'

const maxDeliverables = 100

/** Every issue of a list of what a session is to deliver: each a path below `deliverables/` that cannot mean another place. */
export function checkDeliverables(given: readonly string[] | undefined): Issue[] {
  if (given === undefined) return []
  const refuse = (pointer: string, message: string): Issue[] => [
    { pointer, code: 'invalid_deliverable', message },
  ]
  if (!Array.isArray(given)) return refuse('/deliverables', 'Give a list of paths.')
  if (given.length > maxDeliverables) return refuse('/deliverables', `Name ${maxDeliverables} at most.`)
  return given.flatMap((path: unknown, index) => {
    const pointer = `/deliverables/${index}`
    if (!isDeliverable(path))
      return refuse(
        pointer,
        `"${String(path).slice(0, 80)}" is not a path below "deliverables/": write it from there on, with "/", without "." and "..".`,
      )
    return given.indexOf(path) === index ? [] : refuse(pointer, `"${path}" is there already.`)
  })
}

function isDeliverable(path: unknown): path is string {
  if (typeof path !== 'string' || path.length > 1_000 || /[\0\\]/.test(path)) return false
  const [folder, ...names] = path.split('/')
  return folder === 'deliverables' && names.length > 0 && names.every((name) => !/^\.{0,2}$/.test(name))
}
