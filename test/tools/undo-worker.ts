import { join } from 'node:path'
import { codeTools, createRuntime } from 'handrail'

/** A process that changes files through tools and takes changes back, one call after the other, until it is killed. It prints a letter for each call. */
const [project = '', home = ''] = process.argv.slice(2)
const runtime = await createRuntime({
  project,
  home: join(home, '..'),
  tools: [codeTools()],
  sandbox: 'host',
  store: { path: join(home, 'store.db') },
  undo: { dir: join(home, 'history') },
  policy: { rules: [{ effect: 'allow', tools: ['code.*'], resources: ['handrail:file:/**'] }] },
})
const session = runtime.session()
const steps = [
  ['code.write_file', { path: 'a.txt', content: 'new\n'.repeat(20_000), overwrite: true }],
  ['code.write_file', { path: 'x/y/b.txt', content: 'b' }],
  ['code.move_path', { from: 'd', to: 'e/d' }],
  ['code.copy_path', { from: 'e', to: 'f' }],
  ['code.undo', {}],
  ['code.delete_path', { path: 'e', recursive: true }],
  ['code.undo', { count: 3 }],
  ['code.write_file', { path: 'd/1.txt', content: 'other', overwrite: true }],
  ['code.delete_path', { path: 'd', recursive: true }],
  ['code.undo', { count: 2 }],
] as const
for (let count = 0; ; count++) {
  const [tool, input] = steps[count % steps.length] ?? steps[0]
  const { error } = await session.call(tool, input)
  if (error !== undefined && count < steps.length) throw new Error(`${tool}: ${error.message}`)
  process.stdout.write('.')
}
