import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rounds } from '../support/rounds.ts'
import { imageOf, openProject } from '../support/undo.ts'

const names = ['a', 'b', 'd', 'd/a', 'd/b', 'd/e', 'd/e/a', 'f/g', 'f/g/a', 'link']
const path = fc.constantFrom(...names)
const content = fc.constantFrom('', 'one\n', 'one\ntwo\n', 'é\u0000', 'x'.repeat(3_000))

/** What a model does next; much of it fails, as things are. */
const step = fc.oneof(
  fc.record({ tool: fc.constant('code.write_file'), path, content, overwrite: fc.constant(true) }),
  fc.record({
    tool: fc.constant('code.edit_file'),
    path,
    edits: fc.constant([{ old: 'one', new: 'three' }]),
  }),
  fc.record({ tool: fc.constant('code.move_path'), from: path, to: path, overwrite: fc.boolean() }),
  fc.record({ tool: fc.constant('code.copy_path'), from: path, to: path, overwrite: fc.boolean() }),
  fc.record({ tool: fc.constant('code.delete_path'), path, recursive: fc.boolean() }),
)

const runs = rounds({ usual: 30, long: 1_000 })

test(`${runs} random histories of edits, moves, copies and deletions are taken back step by step, byte for byte`, async () => {
  const { project, runtime } = await openProject({}, { limits: { repeatsPerSession: 1_000 } })
  let count = 0
  let undone = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), fc.boolean(), async (steps, atOnce) => {
      const top = `history-${++count}`
      const folder = join(project, top)
      makeStart(folder)
      const session = runtime.session()
      const images = [imageOf(folder)]
      for (const { tool, ...input } of steps) {
        await session.call(tool, within(top, input))
        const image = imageOf(folder)
        if (JSON.stringify(image) !== JSON.stringify(images.at(-1))) images.push(image)
      }
      const changes = images.length - 1
      // Calls that come out even have nothing to take back as one step.
      if (atOnce && JSON.stringify(images.at(-1)) !== JSON.stringify(images[0])) {
        const all = await session.call('code.undo', { count: changes })
        expect(all.error).toBeUndefined()
      } else
        for (const image of images.slice(0, -1).toReversed()) {
          const result = await session.call('code.undo')
          expect(result.error).toBeUndefined()
          expect(imageOf(folder)).toEqual(image)
        }
      expect(imageOf(folder)).toEqual(images[0])
      expect((await session.call('code.undo')).error?.reason).toBe('nothing_to_undo')
      undone += changes
      await session.close()
    }),
    { numRuns: runs },
  )
  expect(undone).toBeGreaterThan(runs)
})

function makeStart(folder: string): void {
  mkdirSync(join(folder, 'd/e'), { recursive: true, mode: 0o755 })
  writeFileSync(join(folder, 'a'), 'one\n')
  writeFileSync(join(folder, 'd/a'), Buffer.from([0, 1, 254, 255]))
  writeFileSync(join(folder, 'd/b'), 'one\ntwo\n')
  chmodSync(join(folder, 'd/b'), 0o754)
  symlinkSync('d/a', join(folder, 'link'))
}

function within(top: string, input: object): object {
  const isPath = (field: string) => ['path', 'from', 'to'].includes(field)
  return Object.fromEntries(
    Object.entries(input).map(([field, value]) => [field, isPath(field) ? `${top}/${value}` : value]),
  )
}
