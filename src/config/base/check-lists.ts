import type { Issue } from '../../contract/base/json.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'

/** An issue for each item of a list in which something finds a flaw. An absent list has none. */
export function checkEach(
  items: readonly string[] | undefined,
  pointer: string,
  about: { code: string; find(item: string): string | undefined },
): Issue[] {
  return (items ?? []).flatMap((item, index) => {
    const message = about.find(item)
    return message === undefined ? [] : [{ pointer: pointerTo(pointer, index), code: about.code, message }]
  })
}

/** An issue for each id that an earlier entry of the list has. Without an id of its own, an entry goes by its default. */
export function checkIds(
  entries: readonly { id?: string }[],
  pointer: string,
  defaultId: (index: number) => string = () => '',
): Issue[] {
  const seen = new Map<string, number>()
  return entries.flatMap((entry, index) => {
    const id = entry.id ?? defaultId(index)
    const first = id === '' ? undefined : seen.get(id)
    if (first === undefined) {
      seen.set(id, index)
      return []
    }
    const message = `The id "${id}" is the one of ${pointerTo(pointer, first)} already. Give each its own, so that one can be told from the other.`
    return [{ pointer: pointerTo(pointer, index), code: 'duplicate_id', message }]
  })
}
