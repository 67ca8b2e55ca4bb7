import { isInside } from '../../kit/match/is-inside.ts'
import type { Layer } from '../layers/layer.ts'
import type { HiddenPlaces, HiddenRequest } from '../visible/hidden-places.ts'
import type { Isolation } from './isolation.ts'

/**
 * Finds what a command must not see: below its places and, if it sees copies of them, in these too. What lies in a copy may be gone from its place by
 * now.
 */
export async function findHidden(
  request: Pick<HiddenRequest, 'globs' | 'places' | 'signals'>,
  { isolation, layer }: { isolation: Pick<Isolation, 'hidden'>; layer: Layer | undefined },
): Promise<HiddenPlaces> {
  const files = new Set<string>()
  const folders = new Set<string>()
  for (const [root, copy] of layer?.copies ?? []) {
    const globs = request.globs.map((glob) =>
      isInside(glob, root) ? `${copy}${glob.slice(root.length)}` : glob,
    )
    const found = await isolation.hidden({ ...request, globs, places: [copy] })
    const toPlaces = (paths: readonly string[]) =>
      paths.filter((path) => isInside(path, copy)).map((path) => `${root}${path.slice(copy.length)}`)
    for (const path of toPlaces(found.files)) files.add(path)
    for (const path of toPlaces(found.folders)) folders.add(path)
  }
  const live = await isolation.hidden(request)
  if (files.size + folders.size === 0) return live
  return {
    files: [...new Set([...live.files, ...files])],
    folders: [...new Set([...live.folders, ...folders])],
  }
}
